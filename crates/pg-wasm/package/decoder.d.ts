import type { decodeRedirect } from "./index.js";

/**
 * A decoder over a compiled `pg_wasm.wasm`, for hosts that load WebAssembly in their own way.
 *
 * @param module A `WebAssembly.Module`. Only TypeScript's types of browsers have that name, and a server may lack them.
 */
export function decoder(module: object): { decodeRedirect: typeof decodeRedirect };
