/** The compiled module, if a host or a bundler loads `.wasm` files as modules; for `decoder` of `pg-wasm/decoder`. */
declare const module: WebAssembly.Module;
export default module;
