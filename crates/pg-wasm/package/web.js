// The decoder for hosts with the interfaces of the web. The compiled module is in the folder of this file and is loaded
// in the same way.
import { decoder } from "./decoder.js";

const compiled = await fetch(new URL("./pg_wasm.wasm", import.meta.url));

export const { decodeRedirect } = decoder(await WebAssembly.compile(await compiled.arrayBuffer()));
