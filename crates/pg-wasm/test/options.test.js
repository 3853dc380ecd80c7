// Every choice, and what is said to a program that chooses wrongly.
import assert from "node:assert/strict";
import { test } from "node:test";

import { address, decodeRedirect, unreadable, vector } from "./package.js";

const { apiKey, keyHex, data, iv, ivHex, ciphertextHex, redirect } = vector("JSON");
const name = "Zoë Müller";

const readable = (url, options) => decodeRedirect(url, { apiKey, ...options }).ok?.cardholderName === name;

test("the key in three forms, as text or as bytes", () => {
  assert.ok(readable(redirect, { keyDerivation: "verbatim" }));
  assert.ok(readable(redirect, { apiKey: Buffer.from(apiKey) }));
  assert.ok(readable(redirect, { apiKey: keyHex, keyDerivation: "hex" }));
  assert.ok(readable(redirect, { apiKey: new TextEncoder().encode(keyHex.toUpperCase()), keyDerivation: "hex" }));
  assert.ok(!readable(redirect, { keyDerivation: "sha256" }));
  const hashed = vector("SHA-256 of the key");
  assert.ok(readable(hashed.redirect, { apiKey: hashed.apiKey, keyDerivation: "sha256" }));
});

test("the iv in two forms", () => {
  const spelt = { text: address(data, iv), hex: address(data, ivHex) };
  for (const [form, url] of Object.entries(spelt)) {
    assert.ok(readable(url, {}));
    assert.ok(readable(url, { ivFormat: "detect" }));
    for (const ivFormat of ["text", "hex"]) assert.equal(readable(url, { ivFormat }), ivFormat === form);
  }
});

test("the data in three forms", () => {
  const bytes = Buffer.from(ciphertextHex, "hex");
  const spelt = { base64: bytes.toString("base64"), base64url: bytes.toString("base64url"), hex: ciphertextHex };
  for (const [form, data] of Object.entries(spelt)) {
    const url = address(data, iv);
    assert.ok(readable(url, {}));
    assert.ok(readable(url, { textEncoding: "detect" }));
    for (const textEncoding of Object.keys(spelt)) {
      assert.equal(readable(url, { textEncoding }), textEncoding === form, `${form} as ${textEncoding}`);
    }
  }
});

test("the padding in three forms", () => {
  const zero = vector("zero padding").redirect;
  assert.ok(readable(redirect, { padding: "pkcs7" }));
  assert.ok(readable(zero, { padding: "zero" }));
  assert.deepEqual(decodeRedirect(zero, { apiKey }), unreadable);
  // Its zeros belong to the text then, and that is no JSON.
  assert.deepEqual(decodeRedirect(zero, { apiKey, padding: "none" }), unreadable);
});

test("a program's mistakes are told, whatever the address is", () => {
  const mistakes = [
    [undefined, /options: an object with apiKey/],
    [null, /options: an object with apiKey/],
    [{}, /apiKey: a string or Uint8Array/],
    [{ apiKey: 7 }, /apiKey: a string or Uint8Array/],
    [{ apiKey: "" }, /apiKey: the key derivation "verbatim" needs 32 bytes/],
    [{ apiKey: `${apiKey}\n` }, /needs 32 bytes/],
    [{ apiKey: "é".repeat(32) }, /needs 32 bytes/],
    [{ apiKey, keyDerivation: "hex" }, /"hex" needs 64 hexadecimal digits/],
    [{ apiKey: "g".repeat(64), keyDerivation: "hex" }, /"hex" needs 64 hexadecimal digits/],
    [{ apiKey: new Uint8Array(32).fill(255), keyDerivation: "sha256" }, /"sha256" needs text/],
    [{ apiKey: "", keyDerivation: "sha256" }, /"sha256" needs text that is not empty/],
    [{ apiKey, keyDerivation: "md5" }, /keyDerivation: one of verbatim, sha256, hex/],
    [{ apiKey, ivFormat: "base64" }, /ivFormat: one of detect, text, hex/],
    [{ apiKey, textEncoding: "" }, /textEncoding: one of detect, base64, base64url, hex/],
    [{ apiKey, padding: 0 }, /padding: one of pkcs7, zero, none/],
    [{ apiKey, keyDerivaton: "hex" }, /there is no keyDerivaton/],
    [{ apiKey, toString: "hex" }, /there is no toString/],
  ];
  for (const [options, message] of mistakes) {
    for (const url of [redirect, address("AAAA", iv)]) {
      assert.throws(() => decodeRedirect(url, options), { name: "TypeError", message });
    }
  }
});

test("what is no URL is the program's mistake, and told as one", () => {
  const request = { url: redirect, toString: () => redirect };
  for (const url of [undefined, null, 7, true, Symbol("url"), {}, [], [redirect], request, () => redirect, Buffer.from(redirect)]) {
    const message = /^url: a string, URL or URLSearchParams is needed$/;
    assert.throws(() => decodeRedirect(url, { apiKey }), { name: "TypeError", message }, typeof url);
  }
  class Address extends URL {}
  for (const url of [redirect, new URL(redirect), new URL(redirect).searchParams, new Address(redirect)]) {
    assert.ok(readable(url, {}), typeof url);
  }
});
