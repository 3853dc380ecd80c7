// The decoder with its compiled module inside: no file beside it, so that it survives every bundler, and nothing to await.
import { decoder } from "./decoder.js";

// `cargo xtask wasm` puts the bytes of `pg_wasm.wasm` here.
const base64 = "PG_WASM_BASE64";

const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export const { decodeRedirect } = decoder(new WebAssembly.Module(bytes));
