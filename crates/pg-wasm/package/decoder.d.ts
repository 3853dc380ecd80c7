import type { decodeRedirect } from "./index.js";

/** A decoder over a compiled `pg_wasm.wasm`, for hosts that load WebAssembly in their own way. */
export function decoder(module: WebAssembly.Module): { decodeRedirect: typeof decodeRedirect };
