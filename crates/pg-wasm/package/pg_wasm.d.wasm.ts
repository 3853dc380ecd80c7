/** The compiled module, where a host or a bundler gives `.wasm` files as modules; for `decoder` of `pg-wasm/decoder`. */
declare const module: WebAssembly.Module;
export default module;
