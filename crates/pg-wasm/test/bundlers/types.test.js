// A program of the package's user, judged by TypeScript in every way in which it looks for a package's types.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { place, run, write } from "./project.js";

const usage = readFileSync(new URL("../usage.ts", import.meta.url), "utf8");

/** Compiles a program, beside the types of its host. */
async function compile(program, host, options) {
  const folder = dirname(write("program.ts", program));
  writeFileSync(join(folder, "host.d.ts"), host);
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    target: "es2022",
    types: [],
    ...options,
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts", "host.d.ts"] }));
  const compiler = join(place, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [compiler, "--project", "."], folder).catch((error) => {
    throw new Error(error.stdout);
  });
}

/** What a server's types have in common with a browser's: `@types/node` lacks `WebAssembly`. */
const server = "declare class URL {}\ndeclare class URLSearchParams {}\n";
const onServer = `import { decoder } from "pg-wasm/decoder";
import compiled from "pg-wasm/pg_wasm.wasm";
export const name: string | undefined = decoder(compiled).decodeRedirect("", { apiKey: "key" }).ok?.cardholderName;
// @ts-expect-error a module is an object
decoder("pg_wasm.wasm");
`;

for (const [module, moduleResolution] of [["esnext", "bundler"], ["node16", "node16"], ["nodenext", "nodenext"]]) {
  test(`types, module resolution ${moduleResolution}`, () =>
    compile(usage, "", { lib: ["es2022", "dom"], module, moduleResolution }));

  test(`types without those of browsers, module resolution ${moduleResolution}`, () =>
    compile(onServer, server, { lib: ["es2022"], module, moduleResolution }));
}
