// The decoder for workers that take WebAssembly as a module and compile none while they run.
import module from "./pg_wasm.wasm";

import { decoder } from "./decoder.js";

export const { decodeRedirect } = decoder(module);
