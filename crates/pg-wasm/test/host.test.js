// The package as hosts load it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { compiled, decoder, file, vector } from "./package.js";

const { apiKey, redirect } = vector("JSON");

test("by its name, with nothing else installed", () => {
  const folder = mkdtempSync(join(tmpdir(), "pg-wasm-"));
  try {
    cpSync(fileURLToPath(file(".")), join(folder, "node_modules", "pg-wasm"), { recursive: true });
    const program = `import { decodeRedirect } from "pg-wasm";
      import { decoder } from "pg-wasm/decoder";
      const { ok } = decodeRedirect(${JSON.stringify(redirect)}, { apiKey: ${JSON.stringify(apiKey)} });
      console.log(ok.cardNumber, typeof decoder);`;
    writeFileSync(join(folder, "program.mjs"), program);
    const said = execFileSync(process.execPath, [join(folder, "program.mjs")], { encoding: "utf8" });
    assert.equal(said, "411111******1111 function\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("by the web's interfaces, which load what lies beside it and nothing else", async () => {
  const asked = [];
  const { fetch } = globalThis;
  globalThis.fetch = async (url) => {
    asked.push(String(url));
    return new Response(readFileSync(url));
  };
  try {
    const { decodeRedirect } = await import(file("web.js"));
    assert.equal(decodeRedirect(redirect, { apiKey }).ok.cardNumber, "411111******1111");
  } finally {
    globalThis.fetch = fetch;
  }
  assert.deepEqual(asked, [file("pg_wasm.wasm").href]);
});

test("every file that the manifest names is there, and no dependency", () => {
  const { version, exports, dependencies, devDependencies, peerDependencies } = JSON.parse(readFileSync(file("package.json")));
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.notEqual(version, "0.0.0");
  assert.deepEqual([dependencies, devDependencies, peerDependencies], [undefined, undefined, undefined]);
  const named = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [entry] : Object.values(entry)));
  for (const name of named) assert.ok(existsSync(file(name)), name);
});

test("with a module that the host has compiled", () => {
  assert.ok(decoder(compiled).decodeRedirect(redirect, { apiKey }).ok);
});
