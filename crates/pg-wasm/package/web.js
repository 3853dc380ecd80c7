// The decoder for hosts with the web's interfaces. The compiled module lies beside this file and is loaded as this file was.
import { decoder } from "./decoder.js";

const compiled = await fetch(new URL("./pg_wasm.wasm", import.meta.url));

export const { decodeRedirect } = decoder(await WebAssembly.compile(await compiled.arrayBuffer()));
