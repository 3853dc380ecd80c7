/** The compiled module, a `WebAssembly.Module`, if a host or a bundler loads `.wasm` files as modules; for `decoder` of `pg-wasm/decoder`. */
declare const module: object;
export default module;
