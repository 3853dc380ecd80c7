// Charges one order, once, whatever happens. Node 18 or later, no package.
//
// Input: the account in the environment, one JSON line on standard input. Output: one JSON line with the claim.
// The rules that keep the money safe are marked with numbers:
//   1. one uniqueMerchantReference for an order, kept before anything is sent;
//   2. every attempt carries it: the service accepts it once;
//   3. what is not a clear answer is unknown, and an unknown payment is looked up before anything else;
//   4. an empty lookup proves nothing: a request may still be on its way;
//   5. refused credentials and lockouts end it, because more refusals lock the address out for longer;
//   6. a reply or a row of a lookup with another reference, type, currency or amount is not this order's: a lookup follows such
//      a reply, and such a row, or several payments under the reference, are unknown;
//   7. a request may arrive twice: a refusal of one copy, also of its credentials, does not prove that nothing was charged.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import http from "node:http";
import https from "node:https";
import { join } from "node:path";

const env = process.env;
const TIMEOUT = 1000 * Number(env.PAY_TIMEOUT ?? 3); // for one request and its whole reply
const PATIENCE = 1000 * Number(env.PAY_PATIENCE ?? 8); // for all of them
const APPROVED = "600";
const DECLINED = ["901", "902", "903", "907"]; // what your operator answers to a decline; these are the sandbox's
const DENIED = "106"; // no permission, now
const STOP = ["102", "105", "123", DENIED, "121", "122"]; // refused credentials, and lockouts of a minute and of five
const FOLLOW_UPS = ["Capture", "CancelPreAuth", "Refund"]; // of a payment that has a row of its own
const PROTECTED = /^(https:\/\/|http:\/\/(127\.[0-9.]+|localhost|\[::1\])(:[0-9]+)?(\/|$))/; // by TLS, or on this machine

class Unclear extends Error {} // no answer, or none that can be read: the request may have been executed
class Refused extends Error {} // the service refused, with this code

/** One signed request. Resolves with the reply, rejects with Refused or Unclear. */
function call(method, parameters) {
  const form = { apiKey: env.PG_API_KEY, apiPassword: env.PG_API_PASSWORD };
  for (const [name, value] of Object.entries(parameters)) form[name] = String(value);
  const names = Object.keys(form).filter((name) => form[name] !== "");
  names.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  const text = names.map((name) => `${name}=${form[name]}${env.PG_SHA_KEY}`).join("");
  form.shaSignature = createHash("sha512").update(text).digest("hex");
  const url = new URL(`${env.PG_BASE_URL}/v3/${method}/json`);
  const ca = env.SSL_CERT_FILE ? readFileSync(env.SSL_CERT_FILE) : undefined;
  const options = { method: "POST", headers: { "content-type": "application/x-www-form-urlencoded" }, ca, agent: false };
  options.signal = AbortSignal.timeout(TIMEOUT); // also if the reply arrives byte by byte
  return new Promise((resolve, reject) => {
    const unclear = () => reject(new Unclear()); // the text of an error may hold the request
    const request = (url.protocol === "https:" ? https : http).request(url, options, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", unclear);
      response.on("aborted", unclear);
      response.on("end", () => {
        if (!response.complete) return unclear();
        try {
          const reply = parsed(Buffer.concat(parts).toString("utf8"));
          if (!isRecord(reply)) return unclear();
          const code = shown(reply, "errorCode");
          const status = response.statusCode;
          if (STOP.includes(code)) return reject(new Refused(code));
          if (code !== "" || status < 200 || status > 299) return unclear();
          resolve(reply);
        } catch {
          unclear();
        }
      });
    });
    request.on("error", unclear);
    request.end(new URLSearchParams(form).toString());
  });
}

/** A reply whose numbers are texts, as they are written: 998.00 is not 998. */
function parsed(text) {
  return JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, string) => string ?? `"${all}"`));
}

/** Whether it is a JSON object. */
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The text of a field; empty when the field is missing or null. */
function shown(record, name) {
  const value = record[name] ?? "";
  return typeof value === "object" ? "no text" : String(value);
}

/** What a payment record says; undefined when it says nothing that is documented. */
function outcome(payment) {
  const code = shown(payment, "transactionStatusCode");
  const transactionKey = shown(payment, "transactionKey");
  if (code === APPROVED) return { claim: "paid", transactionKey };
  if (DECLINED.includes(code)) return { claim: "declined", transactionKey };
  return code === "" ? undefined : { claim: "unknown" };
}

/** The fields in which a record names something else than the payment that was sent (6). Missing ones do not count. */
function differing(record, form) {
  const { uniqueMerchantReference, currency, itemPrice0 } = form;
  const sent = { uniqueMerchantReference, transactionType: "Auth", currency, transactionValue: String(itemPrice0) };
  return Object.keys(sent).filter((name) => !["", sent[name]].includes(shown(record, name)));
}

/** What the reply to the payment says; undefined when it is the reply to something else (6). */
const answer = (reply, form) => (differing(reply, form).length === 0 ? outcome(reply) : undefined);

/** The payment with this form's reference; undefined when none is shown, which proves nothing (4). */
async function lookUp(form) {
  const reply = await call("transaction/lookup", { uniqueMerchantReference: form.uniqueMerchantReference });
  let found = reply.transactions;
  while (found?.transaction !== undefined) found = found.transaction;
  if (found?.transactionStatusCode !== undefined) found = [found];
  const ours = Object.values(found ?? []).filter((one) => isRecord(one) && !differing(one, form).includes("uniqueMerchantReference"));
  const payments = ours.filter((one) => !FOLLOW_UPS.includes(shown(one, "transactionType")));
  if (payments.length === 1 && differing(payments[0], form).length === 0) return outcome(payments[0]);
  return ours.length > 0 ? { claim: "unknown" } : undefined; // (6)
}

function payment(job, reference) {
  const form = { uniqueMerchantReference: reference, currency: job.currency };
  form.itemName0 = `Order ${job.order}`;
  form.itemPrice0 = job.amount;
  if (job.sessionKey) return ["transaction/authSessionKey", { ...form, sessionKey: job.sessionKey }];
  if (job.cardKey) return ["transaction/authCardKey", { ...form, cardKey: job.cardKey }];
  const { number, expiryMonth, expiryYear, cv2 } = job.card;
  const card = { cardNumber: number, cardExpiryMonth: expiryMonth, cardExpiryYear: String(expiryYear).slice(-2), cardCV2: cv2 ?? "" };
  return ["transaction/auth", { ...form, ...card }];
}

/** Keeps the reference before anything is sent (1). Says whether the order was begun before. */
function begin(order) {
  try {
    // An order such as 2026/17 is no file name, and a name has at most 255 bytes.
    const encoded = encodeURIComponent(order);
    const name = encoded.length <= 200 ? encoded : createHash("sha256").update(order).digest("hex");
    const file = openSync(join(env.PG_REHEARSE_DIR ?? ".", `${name}.reference`), "wx");
    writeSync(file, order);
    fsyncSync(file);
    closeSync(file);
    return false;
  } catch (error) {
    if (error.code === "EEXIST") return true;
    throw error;
  }
}

async function charge(job) {
  const reference = job.order; // the same for every attempt, and for two workers with one order (1, 2)
  const [method, form] = payment(job, reference);
  let sent = begin(job.order) || (job.attempt ?? 1) > 1;
  let denied = false;
  const end = Date.now() + PATIENCE;
  for (let pause = 300; ; pause *= 2) {
    try {
      const known = sent ? await lookUp(form) : undefined; // (3)
      if (known) return known;
      if (denied) return { claim: "unknown", error: DENIED };
      sent = true;
      const told = answer(await call(method, form), form); // again under the same reference (2)
      if (told) return told;
    } catch (error) {
      if (error instanceof Refused && error.message === DENIED && !denied) {
        denied = true; // one lookup, and no second payment
        continue;
      }
      if (error instanceof Refused) return { claim: "unknown", error: error.message }; // (5, 7)
      if (!(error instanceof Unclear)) throw error;
    }
    if (Date.now() + pause > end) return { claim: "unknown" };
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

const job = JSON.parse(readFileSync(0, "utf8").split("\n")[0]);
if (job.job !== "charge") throw new Error("this adapter charges only");
if (!PROTECTED.test(env.PG_BASE_URL)) throw new Error("PG_BASE_URL has to begin with https://, except on this machine");
console.log(JSON.stringify(await charge(job)));
