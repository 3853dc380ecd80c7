// A program of the package's user, judged by TypeScript in every way in which it looks for a package's types.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { place, run, write } from "./project.js";

const usage = readFileSync(new URL("../usage.ts", import.meta.url), "utf8");

for (const [module, moduleResolution] of [["esnext", "bundler"], ["node16", "node16"], ["nodenext", "nodenext"]]) {
  test(`types, module resolution ${moduleResolution}`, async () => {
    const folder = dirname(write("usage.ts", usage));
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      target: "es2022",
      lib: ["es2022", "dom"],
      module,
      moduleResolution,
      types: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["usage.ts"] }));
    const compiler = join(place, "node_modules/typescript/bin/tsc");
    await run(process.execPath, [compiler, "--project", "."], folder).catch((error) => {
      throw new Error(error.stdout);
    });
  });
}
