// The decoder for Node, and for hosts that understand Node's modules.
import { readFileSync } from "node:fs";

import { decoder } from "./decoder.js";

const bytes = readFileSync(new URL("./pg_wasm.wasm", import.meta.url));

export const { decodeRedirect } = decoder(new WebAssembly.Module(bytes));
