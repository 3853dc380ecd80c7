// What the compiled module imports, and what its memory holds once a call is over.
import assert from "node:assert/strict";
import { test } from "node:test";

import { address, compiled, decoder, unreadable, vector } from "./package.js";

/** A decoder, and the memories of its instances. */
function watched() {
  const memories = [];
  const { Instance } = WebAssembly;
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      memories.push(this.exports.memory);
    }
  };
  const { decodeRedirect } = decoder(compiled);
  const { ok } = decodeRedirect(vector("JSON").redirect, { apiKey: vector("JSON").apiKey });
  WebAssembly.Instance = Instance;
  assert.ok(ok);
  assert.equal(memories.length, 1);
  return { decodeRedirect, memory: memories[0] };
}

/** What an instance holds that has not been told anything, such as the digits. */
const untold = Buffer.from(new WebAssembly.Instance(compiled).exports.memory.buffer);

/** Any eight bytes of a secret are a trace. */
function traces(memory, secret) {
  const held = Buffer.from(memory.buffer);
  const bytes = Buffer.from(secret);
  const pieces = Array.from({ length: bytes.length - 7 }, (_, at) => bytes.subarray(at, at + 8));
  return pieces.filter((piece) => held.includes(piece) && !untold.includes(piece));
}

test("it imports nothing", () => {
  assert.deepEqual(WebAssembly.Module.imports(compiled), []);
});

test("neither key nor data nor plaintext stays, however a call ends", () => {
  const { decodeRedirect, memory } = watched();
  const names = ["XML", "JSON", "JSON with validation errors", "a long text", "SHA-256 of the key", "hexadecimal key"];
  for (const { apiKey, derivation, keyHex, plaintext, ciphertextHex, redirect, data } of names.map(vector)) {
    decodeRedirect(redirect, { apiKey, keyDerivation: derivation });
    assert.throws(() => decodeRedirect(redirect, { apiKey: `${apiKey}0`, keyDerivation: "hex" }), TypeError);
    decodeRedirect(redirect, { apiKey: apiKey.replace(/./, "z"), keyDerivation: "sha256" });
    const secrets = { apiKey, plaintext, data, key: Buffer.from(keyHex, "hex"), ciphertext: Buffer.from(ciphertextHex, "hex") };
    for (const [what, secret] of Object.entries(secrets)) assert.deepEqual(traces(memory, secret), [], what);
  }
});

test("the trace of a secret would be found", () => {
  const { memory } = watched();
  const room = new Uint8Array(memory.buffer);
  room.set(Buffer.from("cardholderName: Zoë"), room.length - 100);
  assert.equal(traces(memory, "Zoë Müller").length, 0);
  assert.notEqual(traces(memory, "rName: Zoë M").length, 0);
});

test("a hundred calls leave no more than one", () => {
  const { decodeRedirect, memory } = watched();
  const { apiKey, redirect } = vector("JSON");
  const before = Buffer.from(memory.buffer);
  for (let call = 0; call < 100; call++) decodeRedirect(redirect, { apiKey });
  const after = Buffer.from(memory.buffer);
  assert.equal(after.length, before.length, "the memory does not grow from call to call");
  // Whatever differs is the allocator's bookkeeping: small numbers.
  const differing = after.filter((byte, at) => byte !== before[at]).length;
  assert.ok(differing < 64, `${differing} bytes differ`);
});

test("after a trap everything goes, and the next call works", () => {
  const memories = [];
  const { Instance } = WebAssembly;
  let traps = 1;
  // Traps once, as an instance does that runs out of memory, with the input still in it.
  WebAssembly.Instance = function (module) {
    const { exports } = new Instance(module);
    memories.push(exports.memory);
    const decode_input = (...given) => (traps-- > 0 ? exports.decode_input.call(null, 0, -1, 0, 0, 0, 0, 0) / exports.no() : exports.decode_input(...given));
    return { exports: { ...exports, decode_input } };
  };
  try {
    const { apiKey, redirect, data, iv } = vector("JSON");
    const { decodeRedirect } = decoder(compiled);
    assert.deepEqual(decodeRedirect(redirect, { apiKey }), unreadable);
    assert.ok(new Uint8Array(memories[0].buffer).every((byte) => byte === 0));
    assert.equal(decodeRedirect(address(data, iv), { apiKey }).ok.cardNumber, "411111******1111");
    assert.equal(memories.length, 2);
  } finally {
    WebAssembly.Instance = Instance;
  }
});
