// The built package, and the vectors that the Rust crate is tested with.
import { existsSync, readFileSync } from "node:fs";

const place = process.env.PG_WASM_PACKAGE ?? new URL("../../../target/pg-wasm", import.meta.url).pathname;

/** A file of the package. */
export const file = (name) => new URL(name, `file://${place}/`);

if (!existsSync(file("pg_wasm.wasm"))) throw new Error(`no package in ${place}: run \`cargo xtask wasm\``);

export const compiled = new WebAssembly.Module(readFileSync(file("pg_wasm.wasm")));

export const { decodeRedirect } = await import(file("node.js"));
export const { decoder } = await import(file("decoder.js"));

const vectors = JSON.parse(readFileSync(new URL("../../../tests/vectors/session.json", import.meta.url), "utf8"));

/** The vectors under a key; never none, so that a renamed key cannot empty a test. */
export function cases(key) {
  const cases = vectors[key];
  if (!cases?.length) throw new Error(`no vectors under ${key}`);
  return cases;
}

export const vector = (name) => cases("good").find((vector) => vector.name === name);

export const options = ({ apiKey, derivation, padding }) => ({ apiKey, keyDerivation: derivation, padding });

export const address = (data, iv) => `https://shop.example/card?${new URLSearchParams({ formId: "checkout", data, iv })}`;

export const unreadable = { error: { kind: "unreadable", message: "the redirect cannot be read" } };
