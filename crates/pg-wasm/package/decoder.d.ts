import type { decodeRedirect } from "./index.js";

/** A decoder over a compiled `pg_wasm.wasm`, for hosts that load WebAssembly in a way of their own. */
export function decoder(module: WebAssembly.Module): { decodeRedirect: typeof decodeRedirect };
