// The vectors that the Rust crate is tested with, made by openssl.
import assert from "node:assert/strict";
import { test } from "node:test";

import { address, cases, decodeRedirect, options, unreadable, vector } from "./package.js";

/** What a decoder that knows nothing of this project makes of a plaintext; nothing if it is no record. */
function record(plaintext) {
  if (plaintext.startsWith("<serviceResponse>") || plaintext.startsWith("<?xml")) {
    const texts = [...plaintext.matchAll(/<(\w+)>([^<]*)<\/\1>/g)];
    return Object.fromEntries(texts.map(([, name, text]) => [name, text.replaceAll("&amp;", "&")]));
  }
  return plaintext.startsWith("{") ? JSON.parse(plaintext) : undefined;
}

const nothing = { cardholderName: "", cardNumber: "", cardExpiryMonth: "", cardExpiryYear: "", cardCV2: "", extra: {} };

for (const vector of cases("good")) {
  test(vector.name, () => {
    const decoded = decodeRedirect(vector.redirect, options(vector));
    const said = record(vector.plaintext);
    if (said === undefined) return assert.deepEqual(decoded, unreadable);
    const { errors, ...fields } = said;
    assert.equal(decoded.formId, "checkout");
    assert.deepEqual(errors ? decoded.data : decoded.ok, { ...nothing, ...fields });
    for (const [name, error] of Object.entries(errors ?? {})) {
      assert.deepEqual(decoded.errors[name], { ...error, extra: {} });
    }
    // The query alone, a URL, and the parameters spelt anew are as good.
    assert.deepEqual(decodeRedirect(new URL(vector.redirect), options(vector)), decoded);
    assert.deepEqual(decodeRedirect(vector.redirect.split("?")[1], options(vector)), decoded);
    assert.deepEqual(decodeRedirect(`${address(vector.data, vector.iv)}#card`, options(vector)), decoded);
  });
}

for (const vector of cases("bad")) {
  test(`not: ${vector.name}`, () => {
    assert.deepEqual(decodeRedirect(vector.redirect, options(vector)), unreadable);
    assert.deepEqual(decodeRedirect(address(vector.data, vector.iv), options(vector)), unreadable);
  });
}

test("a bit flipped in the iv is flipped in the text: the data proves nothing", () => {
  const paid = cases("altered").map((vector) => decodeRedirect(vector.redirect, options(vector)).ok.extra.paid);
  assert.deepEqual(paid, ["0", "1"]);
});

test("the last of two equal names counts", () => {
  const { redirect, apiKey } = vector("JSON");
  const twice = redirect.replace("?", "?data=AAAA&iv=BBBB&formId=other&");
  assert.deepEqual(decodeRedirect(twice, { apiKey }), decodeRedirect(redirect, { apiKey }));
});
