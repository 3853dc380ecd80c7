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

test("by its names, with nothing else installed", () => {
  const folder = mkdtempSync(join(tmpdir(), "pg-wasm-"));
  try {
    cpSync(fileURLToPath(file(".")), join(folder, "node_modules", "pg-wasm"), { recursive: true });
    for (const name of ["pg-wasm", "pg-wasm/inline", "pg-wasm/node"]) {
      const program = `import { decodeRedirect } from "${name}";
        import { decoder } from "pg-wasm/decoder";
        const { ok } = decodeRedirect(${JSON.stringify(redirect)}, { apiKey: ${JSON.stringify(apiKey)} });
        console.log(ok.cardNumber, typeof decoder);`;
      writeFileSync(join(folder, "program.mjs"), program);
      const said = execFileSync(process.execPath, [join(folder, "program.mjs")], { encoding: "utf8" });
      assert.equal(said, "411111******1111 function\n", name);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("with the module inside, byte for byte, and nothing beside it", () => {
  const [, base64] = /const base64 = "([^"]*)"/.exec(readFileSync(file("inline.js"), "utf8"));
  assert.ok(Buffer.from(base64, "base64").equals(readFileSync(file("pg_wasm.wasm"))));
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

test("every file that the manifest names is there, with its types, and no dependency", () => {
  const manifest = JSON.parse(readFileSync(file("package.json")));
  const { version, exports, dependencies, devDependencies, peerDependencies } = manifest;
  assert.match(version, /^\d+\.\d+\.\d+$/);
  assert.notEqual(version, "0.0.0");
  assert.deepEqual([dependencies, devDependencies, peerDependencies], [undefined, undefined, undefined]);
  for (const [entry, conditions] of Object.entries(exports)) {
    if (entry === "./package.json") continue;
    // The first condition that holds counts, so types come first.
    assert.equal(Object.keys(conditions)[0], "types", entry);
    for (const name of Object.values(conditions)) assert.ok(existsSync(file(name)), name);
  }
  assert.ok(existsSync(file(manifest.main)) && existsSync(file(manifest.types)));
  assert.equal(manifest.sideEffects, false);
  assert.ok(manifest.license && manifest.engines.node && manifest.keywords.length);
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) assert.ok(existsSync(file(name)), name);
});

test("with a module that the host has compiled", () => {
  assert.ok(decoder(compiled).decodeRedirect(redirect, { apiKey }).ok);
});
