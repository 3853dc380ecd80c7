// Whatever is wrong with a redirect, one and the same error comes out.
import assert from "node:assert/strict";
import { createCipheriv } from "node:crypto";
import { test } from "node:test";

import { address, decodeRedirect, unreadable, vector } from "./package.js";

const { apiKey, iv, ciphertextHex, plaintext } = vector("JSON");
const ciphertext = Buffer.from(ciphertextHex, "hex");

const decoded = (data, options) => decodeRedirect(address(data, iv), { apiKey, ...options });

const encrypted = (text) => {
  const cipher = createCipheriv("aes-256-cbc", apiKey, iv);
  return Buffer.concat([cipher.update(text), cipher.final()]).toString("base64");
};

test("one flipped bit, wherever it is", () => {
  for (let bit = 0; bit < 8 * ciphertext.length; bit++) {
    const flipped = Buffer.from(ciphertext);
    flipped[bit >> 3] ^= 1 << (bit & 7);
    assert.deepEqual(decoded(flipped.toString("base64")), unreadable, `bit ${bit}`);
  }
});

test("cut short, wherever it is", () => {
  const data = ciphertext.toString("base64");
  for (let length = 0; length < ciphertext.length; length++) {
    assert.deepEqual(decoded(ciphertext.subarray(0, length).toString("base64")), unreadable, `${length} bytes`);
    assert.deepEqual(decoded(data.slice(0, length)), unreadable, `${length} characters`);
  }
});

test("as much as a megabyte and more", () => {
  for (const length of [1_000_000, 1 << 20, (1 << 20) + 4, 5 << 20]) {
    assert.deepEqual(decoded("A".repeat(length)), unreadable, `${length} characters`);
    assert.deepEqual(decodeRedirect("é".repeat(length), { apiKey }), unreadable, `${length} characters`);
  }
  // The largest that is read, and then the usual one, with what the large one has left of the memory.
  const long = "x".repeat(700_000);
  assert.equal(decoded(encrypted(JSON.stringify({ cardholderName: long }))).ok.cardholderName, long);
  assert.equal(decoded(encrypted(plaintext)).ok.cardNumber, "411111******1111");
});

test("another key, another iv", () => {
  for (let at = 0; at < 32; at++) {
    const other = Uint8Array.from(Buffer.from(apiKey), (byte, place) => (place === at ? byte ^ 1 : byte));
    assert.deepEqual(decoded(ciphertext.toString("base64"), { apiKey: other }), unreadable);
  }
  for (const other of ["", "A".repeat(16), "é".repeat(16), iv.slice(1), `${iv}0`, iv.repeat(2), iv.repeat(100_000)]) {
    const redirect = address(ciphertext.toString("base64"), other);
    assert.deepEqual(decodeRedirect(redirect, { apiKey }), unreadable, other.slice(0, 40));
  }
});

test("no redirect at all", () => {
  for (const url of ["", "?", "#", "data", "https://shop.example/", "?data=&iv=", "?data=A", "?iv=A", "%"]) {
    assert.deepEqual(decodeRedirect(url, { apiKey }), unreadable, url);
  }
});

test("no record in it", () => {
  for (const text of ["", "text", "[]", "7", "null", "{", "{}{}", "<html/>", "<serviceResponse>", "<!DOCTYPE a><serviceResponse/>"]) {
    assert.deepEqual(decoded(encrypted(text)), unreadable, text);
  }
});

test("however deep it is nested", () => {
  const nest = (depth, open, close, inside) => open.repeat(depth) + inside + close.repeat(depth);
  for (const depth of [1, 30, 100, 126, 127, 128, 1_000, 100_000]) {
    for (const text of [
      nest(depth, '{"a":', "}", "1"),
      `{"errors":${nest(depth, "[", "]", "")}}`,
      `<serviceResponse>${nest(depth, "<a>", "</a>", "1")}</serviceResponse>`,
    ]) {
      const said = decoded(encrypted(text));
      assert.ok(said.ok || said.errors || said.error?.kind === "unreadable", `${depth}: ${text.slice(0, 40)}`);
      if (depth > 128) assert.deepEqual(said, unreadable);
    }
  }
  assert.equal(decoded(encrypted(plaintext)).ok.cardNumber, "411111******1111");
});

test("what is forged keeps its promised shape", () => {
  const forged = { cardNumber: { toString: "x" }, cardCV2: "123", collectA: [1], other: "none", __proto__x: 1 };
  const { ok } = decoded(encrypted(JSON.stringify(forged).replace("__proto__x", "__proto__")));
  assert.equal(ok.cardNumber, "");
  assert.equal(ok.cardCV2, "");
  assert.equal(ok.collectA, undefined);
  assert.deepEqual(Object.keys(ok.extra), ["cardNumber", "collectA", "other", "__proto__"]);
  assert.equal(Object.getPrototypeOf(ok.extra), Object.prototype);
  assert.equal(decoded(encrypted('{"cardNumber":"4111111111111111"}')).ok.cardNumber, "411111******1111");
  // Errors of another shape are errors.
  const said = decoded(encrypted('{"errors":"none"}'));
  assert.deepEqual([said.ok, said.errors], [undefined, {}]);
});

test("each value of a repeated input is kept", () => {
  const inputs = (text) => {
    const { collectA, collectB, extra } = decoded(encrypted(text)).ok;
    return [collectA, collectB, extra];
  };
  const xml = "<collectA>gift</collectA><collectA>insured</collectA><collectB>1</collectB><collectA/><note>a</note><note>b</note>";
  assert.deepEqual(inputs(`<serviceResponse>${xml}</serviceResponse>`), ["gift,insured,", "1", { note: ["a", "b"] }]);
  assert.deepEqual(inputs('{"collectA":"gift","collectA":"insured"}'), ["gift,insured", undefined, {}]);
  assert.deepEqual(inputs('{"collectA":["gift","insured"]}'), [undefined, undefined, { collectA: ["gift", "insured"] }]);
  const { ok } = decoded(encrypted('{"collect":"1","collectproto__":"2"}'));
  assert.deepEqual([ok.collect, ok.collectproto__, ok.extra], ["1", "2", {}]);
});

test("the error of the form is the service's, and another kind", () => {
  const said = decoded(encrypted('{"errorCode":136,"traceCode":"12345678","errorMessage":"Session expired"}'));
  const error = { kind: "service", errorCode: "136", traceCode: "12345678", errorMessage: "Session expired" };
  assert.deepEqual(said, { error, formId: "checkout" });
});

