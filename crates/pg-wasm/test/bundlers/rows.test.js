// Every row of the table of bundlers and hosts in docs/guide/front-end.md.
import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, test } from "node:test";

import { file } from "../package.js";
import { EXPECTED, binary, bundler, elsewhere, lacking, node, onTheWeb, output, place, programs, run, says, write } from "./project.js";

const tried = [];

/** One row: `shows` gives what the program said. */
function row(name, shows, skip = false) {
  tried.push(name);
  test(name, { skip }, async () => assert.equal(await shows(), EXPECTED));
}

row("Node, ES module", () => node(write("program.mjs", programs.module("pg-wasm"))));

row("Node, CommonJS with `import()`", () => node(write("program.cjs", programs.commonjs("pg-wasm"))));

// Node 20.19, 22.12 and later.
const requires = lacking(process.features.require_module, "this Node cannot require an ES module");
row("Node, CommonJS with `require`", () => node(write("program.cjs", programs.required("pg-wasm"))), requires);

const bun = binary("@oven/bun-linux-x64/bin/bun", "@oven/bun-linux-aarch64/bin/bun", "@oven/bun-darwin-aarch64/bin/bun");
const noBun = lacking(bun, "no bun for this machine");
row("Bun", () => run(bun, [write("program.mjs", programs.module("pg-wasm"))]), noBun);

row("Bun, bundled", async () => {
  const bundle = output();
  await run(bun, ["build", write("program.mjs", programs.module("pg-wasm")), "--target=bun", `--outfile=${join(bundle, "out.mjs")}`]);
  return elsewhere(bundle, (folder) => run(bun, ["out.mjs"], folder));
}, noBun);

const deno = binary("@deno/linux-x64-glibc/deno", "@deno/linux-arm64-glibc/deno", "@deno/darwin-arm64/deno");
row("Deno", () => {
  const program = write("program.mjs", programs.module("pg-wasm"));
  return run(deno, ["run", "--no-config", "--node-modules-dir=manual", "--cached-only", program], dirname(program));
}, lacking(deno, "no deno for this machine"));

async function esbuild(text, options) {
  const bundle = output();
  const { build } = await bundler("esbuild");
  await build({ entryPoints: [write("program.mjs", text)], bundle: true, outfile: join(bundle, "out.js"), logLevel: "error", ...options });
  return bundle;
}

const runOut = (bundle, type = "module") => {
  writeFileSync(join(bundle, "package.json"), JSON.stringify({ type }));
  return elsewhere(bundle, (folder) => node(join(folder, "out.js"), folder));
};

row("esbuild for Node, ES module", async () => {
  return runOut(await esbuild(programs.module("pg-wasm"), { platform: "node", format: "esm" }));
});

row("esbuild for Node, CommonJS", async () => {
  return runOut(await esbuild(programs.module("pg-wasm"), { platform: "node", format: "cjs" }), "commonjs");
});

row("esbuild for hosts with the web APIs", async () => {
  const bundle = await esbuild(programs.module("pg-wasm"), { platform: "browser", format: "iife" });
  return onTheWeb(join(bundle, "out.js"));
});

async function vite(ssr) {
  const { build } = await bundler("vite");
  const program = write("program.mjs", programs.module("pg-wasm"));
  const outDir = output();
  const entry = { rollupOptions: { output: { entryFileNames: "out.js" } }, outDir, emptyOutDir: true };
  await build({ root: dirname(program), configFile: false, logLevel: "error", build: { ...entry, ssr: program }, ssr });
  return outDir;
}

row("vite, SSR, package bundled", async () => runOut(await vite({ noExternal: true })));

row("vite, SSR, package installed", async () => {
  const bundle = await vite({});
  assert.match(readFileSync(join(bundle, "out.js"), "utf8"), /from ["']pg-wasm["']/);
  cpSync(file("."), join(bundle, "node_modules", "pg-wasm"), { recursive: true });
  return runOut(bundle);
});

async function webpack(text, options) {
  const { default: start } = await bundler("webpack");
  const path = output();
  const given = { mode: "production", entry: write("program.mjs", text), output: { path, filename: "out.js" }, ...options };
  const stats = await new Promise((done, failed) => start(given, (error, stats) => (error ? failed(error) : done(stats))));
  assert.deepEqual(stats.compilation.errors.map(String), []);
  return path;
}

row("webpack for Node", async () => {
  return runOut(await webpack(programs.module("pg-wasm"), { target: "node" }), "commonjs");
});

row("webpack for Node, module as a file: `pg-wasm/node`", async () => {
  const bundle = await webpack(programs.module("pg-wasm/node"), { target: "node" });
  assert.doesNotMatch(readFileSync(join(bundle, "out.js"), "utf8"), /AGFzbQ/);
  return runOut(bundle, "commonjs");
});

row("webpack for workers", async () => {
  return onTheWeb(join(await webpack(programs.module("pg-wasm"), { target: "webworker" }), "out.js"));
});

row("rollup", async () => {
  const [{ rollup }, { nodeResolve }] = [await bundler("rollup"), await bundler("@rollup/plugin-node-resolve")];
  const bundle = await rollup({ input: write("program.mjs", programs.module("pg-wasm")), plugins: [nodeResolve()] });
  const dir = output();
  await bundle.write({ file: join(dir, "out.js"), format: "es" });
  return runOut(dir);
});

const workerd = binary(
  "@cloudflare/workerd-linux-64/bin/workerd",
  "@cloudflare/workerd-linux-arm64/bin/workerd",
  "@cloudflare/workerd-darwin-arm64/bin/workerd",
);
const noWorkerd = lacking(workerd, "no workerd for this machine");

async function inWorkerd(text) {
  const bundle = await esbuild(text, { format: "esm", conditions: ["workerd"], external: ["*.wasm"] });
  cpSync(file("pg_wasm.wasm"), join(bundle, "pg_wasm.wasm"));
  cpSync(new URL("workerd.capnp", import.meta.url), join(bundle, "workerd.capnp"));
  await run(workerd, ["test", "workerd.capnp"], bundle);
  // It says nothing unless the test fails.
  return EXPECTED;
}

const worker = (imports) => `${imports}
${says("decodeRedirect")}
export default { test() { if (answer() !== ${JSON.stringify(EXPECTED)}) throw new Error(answer()); } };`;

row("workerd, bundled with esbuild", () => inWorkerd(worker('import { decodeRedirect } from "pg-wasm";')), noWorkerd);

row("workerd, with its own module", () => {
  const imports = 'import { decoder } from "pg-wasm/decoder";\nimport module from "./pg_wasm.wasm";\nconst { decodeRedirect } = decoder(module);';
  return inWorkerd(worker(imports));
}, noWorkerd);

test("workerd would tell", { skip: noWorkerd }, async () => {
  const text = worker('import { decodeRedirect as correct } from "pg-wasm";\nconst decodeRedirect = () => ({ ...correct("", { apiKey: "" }) });');
  await assert.rejects(inWorkerd(text));
});

test("the page has these rows, with these versions, and no others", () => {
  const page = readFileSync(new URL("../../../../docs/guide/front-end.md", import.meta.url), "utf8");
  const [, table] = /<!-- rows -->\n([^]*?)<!-- end of rows -->/.exec(page);
  const rows = table.trim().split("\n").slice(2).map((line) => line.split(" | ").map((cell) => cell.replace(/^\| | \|$/g, "")));
  assert.deepEqual(rows.map(([name]) => name), tried);
  const { dependencies } = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  for (const [name, version] of rows) {
    const bundler = name.split(/,? /)[0].toLowerCase();
    if (bundler !== "node") assert.equal(version, dependencies[bundler], name);
  }
});

// esbuild keeps a process of its own, which would keep this one.
after(async () => (await bundler("esbuild")).stop?.());
