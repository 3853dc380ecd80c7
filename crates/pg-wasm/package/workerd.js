// The decoder for workers that import WebAssembly as a module and compile none at run time.
import module from "./pg_wasm.wasm";

import { decoder } from "./decoder.js";

export const { decodeRedirect } = decoder(module);
