// The decoder that contains its compiled module: it needs no other file, so that every bundler keeps it, and no await.
import { decoder } from "./decoder.js";

// `cargo xtask wasm` puts the bytes of `pg_wasm.wasm` here.
const base64 = "PG_WASM_BASE64";

const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

export const { decodeRedirect } = decoder(new WebAssembly.Module(bytes));
