// A program of the package's user, written into a folder where the package and every bundler is installed, and run
// elsewhere: what a bundle forgot is not there.
import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";

import { file, vector } from "../package.js";

const { apiKey, redirect } = vector("JSON");

/** What every program below has to say. */
export const EXPECTED = "411111******1111 unreadable";

/** Where the bundlers are installed. */
export const place = process.env.PG_WASM_BUNDLERS ?? new URL("../../../../target/bundlers", import.meta.url).pathname;

const installed = createRequire(join(place, "package.json"));

/** A bundler, as its users load it. */
export const bundler = (name) => import(pathToFileURL(installed.resolve(name)));

// Below the bundlers, so that programs find them; of this process alone, since test files run side by side.
const home = mkdtempSync(join(place, "tried-"));
cpSync(file("."), join(home, "node_modules", "pg-wasm"), { recursive: true });
process.on("exit", () => rmSync(home, { recursive: true }));

/** The function that each program exports or calls. */
export const says = (decodeRedirect) => `const said = (url) => ${decodeRedirect}(url, { apiKey: ${JSON.stringify(apiKey)} });
const answer = () => said(${JSON.stringify(redirect)}).ok.cardNumber + " " + said("?").error.kind;`;

/** The program in each of its forms, by the name under which it imports the package. */
export const programs = {
  module: (name) => `import { decodeRedirect } from "${name}";\n${says("decodeRedirect")}\nconsole.log(answer());\n`,
  commonjs: (name) => `import("${name}").then(({ decodeRedirect }) => {\n${says("decodeRedirect")}\nconsole.log(answer());\n});\n`,
  required: (name) => `const { decodeRedirect } = require("${name}");\n${says("decodeRedirect")}\nconsole.log(answer());\n`,
};

/** Writes a program beside the installed package. */
export function write(name, text) {
  const folder = mkdtempSync(join(home, "program-"));
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

/** Copies what a bundler has written to where nothing is installed, and gives the folder to `use`. */
export async function elsewhere(bundle, use) {
  const folder = mkdtempSync(join(tmpdir(), "pg-wasm-"));
  try {
    cpSync(bundle, folder, { recursive: true });
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs a program, and gives what it says. */
export async function run(command, given, folder = home) {
  // No colours, no cache and no question after a newer version, whatever the host's environment says.
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: join(home, "deno") };
  const { stdout } = await promisify(execFile)(command, given, { cwd: folder, env });
  return stdout.trim();
}

export const node = (program, folder) => run(process.execPath, [program], folder);

/** Runs a script with the web's interfaces and nothing else: no `process`, no `require`, no module. */
export async function onTheWeb(script) {
  const lines = [];
  const web = { WebAssembly, TextEncoder, TextDecoder, URL, URLSearchParams, atob, Uint8Array };
  const context = createContext({ ...web, console: { log: (line) => lines.push(line) } });
  await runInContext(readFileSync(script, "utf8"), context);
  return lines.join("\n");
}

/** A program that comes inside a package for this machine, or nothing where that is not to be had. */
export const binary = (...candidates) => candidates.map((candidate) => join(place, "node_modules", candidate)).find(existsSync);

/** Why a row is left out, if it is; on CI nothing may be. */
export const lacking = (found, why) => (found || process.env.CI === "true" ? false : why);

/** A folder to bundle into. */
export const output = () => mkdtempSync(join(home, "bundle-"));
