// A careful shop: return page, callback, hosted checkout, 3-D Secure, captures, refunds and stored cards. Node, no package.
// FAULT names one mistake that it makes, for the proof that the drills find it; see faulty.rs.
import { createDecipheriv, createHash } from "node:crypto";
import { existsSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import http from "node:http";

const env = process.env;
const FAULT = env.FAULT ?? "";
const MOST = 64 * 1024;

function exchange(path, form) {
  const url = new URL(path);
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(2000); // for the whole reply
    const options = { method: "POST", agent: false, signal, headers: { "content-type": "application/x-www-form-urlencoded" } };
    const request = http.request(url, options, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("aborted", () => reject(new Error("aborted")));
      response.on("end", () => resolve({ status: response.statusCode, location: response.headers.location, text: Buffer.concat(parts).toString("utf8") }));
    });
    request.on("error", reject);
    request.end(new URLSearchParams(form).toString());
  });
}

const send = async (path, form) => (await exchange(path, form)).text;

async function call(method, parameters) {
  const form = { apiKey: env.PG_API_KEY, apiPassword: env.PG_API_PASSWORD, ...parameters };
  const names = Object.keys(form).filter((name) => form[name] !== "");
  names.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1));
  form.shaSignature = createHash("sha512").update(names.map((n) => `${n}=${form[n]}${env.PG_SHA_KEY}`).join("")).digest("hex");
  const { status, text, location } = await exchange(`${env.PG_BASE_URL}/v3/${method}/json`, form);
  if (FAULT === "later-redirects-followed" && status === 307 && /capture|refund/.test(method)) await exchange(location, form);
  if (status > 500) throw Object.assign(new Error(`HTTP ${status}`), { isOfGateway: true });
  return parsed(text);
}

/** A reply whose numbers are texts, as they are written: 998.00 is not 998. */
function parsed(text) {
  return JSON.parse(text.replace(/("(?:[^"\\]|\\.)*")|-?\d[\d.eE+-]*/g, (all, string) => string ?? `"${all}"`));
}

async function enterprise(method, parameters) {
  const account = { api_key: env.PG_ENTERPRISE_API_KEY, api_password: env.PG_ENTERPRISE_API_PASSWORD, version: "5" };
  const xml = await send(`${env.PG_ENTERPRISE_BASE_URL}/${method}`, { ...account, ...parameters });
  return (name) => xml.match(new RegExp(`<${name}>([^<]*)</${name}>`))?.[1] ?? "";
}

const isTimeout = (error) => ["AbortError", "TimeoutError"].includes(error.name);
const escape = (text) => String(text ?? "").replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
const page = (status, text) => ({ status, type: "text/html; charset=utf-8", body: `<!DOCTYPE html><title>Shop</title>${text}` });
const json = (value, status = 200) => ({ status, type: "application/json", body: JSON.stringify(value) });
const unread = () => page(400, "<p>This page could not be read. Please go back and try again.</p>");

/** What the card form sent back; it is shown and proves nothing. */
function returned(query) {
  const data = (query.get("data") ?? "").replaceAll(FAULT === "plus-lost" ? "\0" : " ", "+");
  if (FAULT === "plus-lost" && data.includes(" ")) return unread();
  const iv = query.get("iv") ?? "";
  if (data.length > 20000 || iv.length !== 16) return unread();
  let plain;
  try {
    const decipher = createDecipheriv("aes-256-cbc", env.PG_API_KEY, iv);
    plain = Buffer.concat([decipher.update(data, "base64"), decipher.final()]);
  } catch (error) {
    if (["oracle", "return-redirects-oracle"].includes(FAULT)) return page(500, "<p>Something went wrong.</p>");
    if (FAULT === "stack-trace") return page(400, `<pre>${escape(error.stack)}\nbad decrypt</pre>`);
    return unread();
  }
  if (FAULT === "timing-oracle") for (const end = Date.now() + 15; Date.now() < end; );
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(plain);
    const card = readCard(text);
    if (["redirect-trusted", "return-redirects-trusted"].includes(FAULT)) return page(200, `<h1>Payment successful</h1><p>${escape(card.cardNumber)}</p>`);
    if (FAULT === "forgery-trusted" && card.status === "accepted") return page(200, "<h1>Order confirmed</h1>");
    const name = FAULT === "markup" ? card.cardholderName : escape(card.cardholderName);
    const key = FAULT === "key-in-page" ? `<script>var key = "${env.PG_API_KEY}"</script>` : "";
    return page(200, `<h1>Please confirm</h1><p>${name}, card ${escape(card.cardNumber)}</p>${key}`);
  } catch (error) {
    if (FAULT === "format-oracle" && error instanceof SyntaxError) return page(422, "<p>The data is malformed.</p>");
    return unread();
  }
}

function readCard(text) {
  const card = JSON.parse(text);
  if (typeof card !== "object" || card === null || Array.isArray(card)) throw new TypeError("no object");
  return card;
}

const digitsOf = (currency) => ({ JPY: 0, BHD: 3 })[currency] ?? 2;

/** An amount in the units of its currency. */
function decimal(amount, currency) {
  const digits = FAULT === "two-decimals-in-checkout" || (FAULT === "dinars-with-two-decimals" && currency === "BHD") ? 2 : digitsOf(currency);
  if (FAULT === "link-amount-truncated") amount = truncated(amount);
  if (FAULT === "link-dinars-rounded" && currency === "BHD") return (amount / 1000).toFixed(2);
  return (amount / 10 ** digits).toFixed(digits);
}

/** Mistakes with amounts: 1012 becomes 1011, and 104859, which is written 1,048.59, becomes 100. */
const truncated = (amount) => Math.trunc((amount / 100) * 100);
const truncated32 = (amount) => Math.trunc(Math.fround(Math.fround(amount / 100) * 100)); // 105 becomes 104
const grouped = (amount) => Math.round(100 * parseFloat((amount / 100).toLocaleString("en-GB", { minimumFractionDigits: 2 })));

/** The smallest units of an amount with the separators of its currency: 1,048.00, 1.048,00 and 1048.00 are the same. */
function minor(value, currency) {
  if (FAULT === "value-as-text") return value;
  const digits = digitsOf(currency);
  const decimals = digits === 0 ? "" : `[.,]\\d{${digits}}`;
  const isRead = new RegExp(`^(\\d+|\\d{1,3}(,\\d{3})+|\\d{1,3}(\\.\\d{3})+)${decimals}$`).test(value);
  return isRead ? value.replace(/[.,]/g, "") : undefined;
}

/** The smallest units of the value of a lookup. */
function valueOf(found, currency) {
  const pounds = currency === "GBP" ? parseFloat(found("value").replaceAll(",", "")) : NaN;
  if (FAULT === "value-truncated" && pounds) return String(Math.trunc(pounds * 100));
  if (FAULT === "value-truncated-32" && pounds) return String(truncated32(pounds * 100));
  return minor(found("value"), currency);
}

const orders = new Map(); // by name: price, currency, and the tokens of its links. With ORDERS another program keeps them there

function orderOf(name) {
  const file = `${env.ORDERS}/${name}`;
  if (!env.ORDERS || !/^[\w-]+$/.test(name ?? "") || !existsSync(file)) return orders.get(name);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** A payment of the hosted checkout counts when the service says so, by the link of the order, with its price. */
async function paid(order, key) {
  if (!/^[0-9A-Za-z]{32}$/.test(key ?? "")) return "not-charged";
  if (FAULT === "key-trusted") return "paid";
  try {
    const found = await enterprise("transaction_lookup", { trans_key: key });
    if (FAULT === "lookup-down-is-paid" && found("status") === "") return "paid";
    if (found("errorcode") !== "") return "not-charged";
    if (found("status") === "") return "unanswered";
    const { price, currency, tokens } = order;
    const right = {
      value: valueOf(found, currency) === minor(price, currency),
      currency: found("currency") === currency,
      token: tokens.includes(found("token")),
    };
    const ignored = { "amount-ignored": ["value", "currency", "token"], "currency-ignored": ["currency", "token"], "order-ignored": ["token"], "checkout-reserves": ["value"] };
    const isRight = Object.keys(right).every((name) => ignored[FAULT]?.includes(name) || right[name]);
    return found("status") === "Success" && isRight ? "paid" : "unknown";
  } catch (error) {
    if (FAULT === "keys-on-error-page") trouble = `${error.message}: api_password=${env.PG_ENTERPRISE_API_PASSWORD}`;
    if (FAULT === "lookup-timeout-is-paid" && isTimeout(error)) return "paid";
    if (FAULT === "lookup-without-reply-is-paid") return "paid";
    return "unanswered";
  }
}

let trouble = ""; // the last failed lookup
let working = 0; // callbacks that are being worked on
const shown = new Set(); // keys that the success page has settled
const charged = new Set(); // keys that a callback has charged again
const settled = new Set(); // orders that a callback or the success page has settled
const invoices = new Map(); // orders by the invoices that name them to the service

/** What the service says about a payment; nothing if it cannot be asked. */
const lookedUp = (key) => enterprise("transaction_lookup", { trans_key: key }).catch(() => () => "");

/** Settles an order with any successful payment, after the reply. */
function settleLater(name, key) {
  setTimeout(async () => (await lookedUp(key))("status") === "Success" && settled.add(name), 300);
  return page(200, "<h1>We are checking your payment. Please reload this page.</h1>");
}

/** The order whose link was paid with a key, if it was paid with its price. */
async function orderOfKey(key) {
  const token = /^[0-9A-Za-z]{32}$/.test(key ?? "") ? (await lookedUp(key))("token") : "";
  const [name, order] = [...orders].find(([, order]) => order.tokens.includes(token)) ?? [];
  return name && (await paid(order, key)) === "paid" ? name : undefined;
}

async function callback(body, type) {
  working += 1;
  return hint(body, type).finally(() => (working -= 1));
}

async function hint(body, type) {
  let form;
  try {
    form = type.includes("json") ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body));
  } catch {
    return json({ claim: "unknown" }, 400);
  }
  if (FAULT === "callback-trusted") return json({ claim: form.status === "1" ? "paid" : "unknown" });
  if (FAULT === "callback-inside" && !form.trans_key) return json({ error: `Traceback (most recent call last): ${env.PG_SHA_KEY}` }, 400);
  if (form.batchKey) {
    const batch = await call("token/retrieveAccountUpdater", { batchKey: String(form.batchKey) }).catch(() => ({}));
    return json({ claim: "unknown", updated: (batch.cardKeyDetails ?? []).length });
  }
  if (FAULT === "callback-ignored") return page(200, "");
  if (!form.trans_key) return json({ claim: "unknown" }, 400);
  if (FAULT === "late-callback-refused" && shown.has(form.trans_key)) return json({ claim: "unknown" }, 409);
  if (FAULT === "order-by-token") {
    const name = await orderOfKey(form.trans_key);
    if (name) settled.add(name);
    return json(name ? { claim: "paid", order: name } : { claim: "unknown" });
  }
  const name = FAULT === "own-reference" ? invoices.get(form.trans_reference) : form.trans_reference;
  const order = orderOf(name);
  if (!order) return json({ claim: "unknown" }, form.trans_reference ? 404 : 200);
  if (FAULT === "callback-settles-later") return settleLater(name, form.trans_key);
  if (FAULT === "callback-checked-late") {
    setTimeout(async () => (await paid(order, form.trans_key)) === "paid" && settled.add(name), 2000);
    return page(200, "");
  }
  if (FAULT.startsWith("callback-trusted-")) {
    const found = await lookedUp(form.trans_key);
    const failed = found("status") === "" && (FAULT === "callback-trusted-on-error" || found("errorcode") === "");
    if (failed || (await paid(order, form.trans_key)) === "paid") settled.add(name);
    return page(200, "");
  }
  if (FAULT === "page-by-key-callback-trusted") {
    settled.add(name);
    return page(200, "");
  }
  if (["callback-settles", "page-by-key-callback-settles"].includes(FAULT)) {
    if ((await lookedUp(form.trans_key))("status") === "Success") settled.add(name);
    return page(200, "");
  }
  if (FAULT === "callback-compares-itself") {
    const found = await lookedUp(form.trans_key);
    const told = { status: "Success", token: form.tokenid, value: form.trans_value, currency: form.currency };
    if (Object.entries(told).some(([name, value]) => found(name) !== value)) return page(400, "");
    settled.add(name);
    return page(200, "");
  }
  if (FAULT === "callback-compares-price") {
    if ((await lookedUp(form.trans_key))("value") !== order.price) return page(400, "");
    settled.add(name);
    return page(200, "");
  }
  const claim = await paid(order, form.trans_key);
  if (claim === "unanswered") return FAULT === "callback-forgotten" ? page(200, "") : json({ claim: "unknown" }, 503); // sent again
  if (FAULT === "callback-forgotten") {
    if (claim === "paid") settled.add(name);
    return page(200, "");
  }
  if (FAULT === "callback-never-marks") return page(200, "");
  if (FAULT === "callback-charges" && claim === "paid" && !charged.has(form.trans_key)) {
    charged.add(form.trans_key);
    await enterprise("repeat", { prev_trans_key: form.trans_key, trans_type: "Auth", trans_value: order.price });
  }
  if (FAULT === "second-callback-refunds" && claim === "paid") {
    if (settled.has(name)) await enterprise("refund", { prev_trans_key: form.trans_key, trans_value: order.price });
    settled.add(name);
  }
  return json(claim === "paid" ? { claim, transactionKey: form.trans_key } : { claim });
}

async function success(query) {
  trouble = "";
  if (FAULT === "order-locked" && working > 0) return page(500, "<h1>The order is locked</h1>");
  if (FAULT === "pounds-only-charges-again" && shown.has(query.get("trans_key"))) {
    await enterprise("repeat", { prev_trans_key: query.get("trans_key"), trans_type: "Auth", trans_value: "9.98" });
  }
  shown.add(query.get("trans_key"));
  if (FAULT === "success-never-asks") return json({ claim: "unknown" });
  if (FAULT === "success-in-german") return page(200, "<h1>Vielen Dank, die Bestellung ist bezahlt</h1>");
  if (FAULT === "success-in-few-words") return page(200, "<h1>Paid</h1><p>Your order ships today.</p>");
  if (FAULT === "status-in-address-trusted" && query.get("status") === "1") return page(200, "<h1>Thank you for your order</h1>");
  if (FAULT === "success-trusted") return page(200, "<h1>Thank you for your order</h1>");
  if (FAULT === "order-by-token") {
    const name = await orderOfKey(query.get("trans_key"));
    if (name) settled.add(name);
    return page(200, name ? `<h1>Thank you</h1><p>Order ${name} is paid.</p>` : "<h1>We found no payment</h1>");
  }
  const order = orderOf(query.get("order"));
  if (!order) return page(404, "<h1>We do not know this order</h1>");
  // Its queue comes to some orders in time, by chance.
  const isInTime = FAULT !== "queue-by-chance" || /-(other|1000-GBP)$/.test(query.get("order"));
  if (!isInTime) return page(200, "<h1>We are checking your payment</h1>");
  if (FAULT.startsWith("success-settles-later") && query.get("trans_key") && !settled.has(query.get("order"))) {
    return settleLater(query.get("order"), query.get("trans_key"));
  }
  if (["success-redirects", "redirects-trusted"].includes(FAULT)) {
    const key = query.get("trans_key");
    const right = FAULT === "redirects-trusted" ? key : (await paid(order, key)) === "paid";
    if (right) settled.add(query.get("order"));
    return { ...page(303, ""), location: `/thanks?order=${query.get("order")}` };
  }
  const isByKey = FAULT.startsWith("page-by-key") || (FAULT === "success-settles-later-by-key" && !query.get("trans_key"));
  const claim = settled.has(query.get("order")) && !isByKey ? "paid" : await paid(order, query.get("trans_key"));
  if (claim === "paid") settled.add(query.get("order"));
  if (FAULT === "success-undecided") return json({ claim: "unknown" });
  if (FAULT === "paid-customer-denied") return page(200, "<h1>We have no payment for this order</h1>");
  const words = { paid: "<h1>Thank you for your order</h1>", unanswered: "<h1>We are checking your payment</h1>", unknown: "<h1>We are checking your payment</h1>" };
  if (FAULT === "unpaid-customer-thanked" && claim !== "paid") return page(200, "<h1>Thank you! We have received your order and will ship it today.</h1>");
  return page(200, (words[claim] ?? "<h1>This order is not paid yet</h1>") + trouble);
}

const links = new Map();

/** Withdraws the last link of an order. False if something may have been paid by a link of it. */
async function withdrawn(name) {
  if (FAULT === "two-links") return orders.delete(name);
  if (settled.has(name) && FAULT !== "link-after-payment") return false;
  const tokens = orders.get(name)?.tokens ?? [];
  if (tokens.length === 0) return true;
  await enterprise("canceltoken", { tokenid: tokens.at(-1) }); // refused if it has expired
  if (FAULT === "link-after-payment") return true;
  const listed = await call("transaction/lookup", { merchantReference: name });
  return Object.keys(listed.transactions).length === 0;
}

const turns = new Map(); // by order: the end of the last request for its link

/** Two clicks at once are served one after the other. */
function checkout(job) {
  const before = FAULT === "links-at-once" ? undefined : turns.get(job.order);
  const made = Promise.resolve(before).then(() => linked(job));
  turns.set(job.order, made.catch(() => {}));
  return made;
}

const charges = new Set(); // orders whose card was charged, or may have been

/** Charges by session, under the reference that a payment with 3-D Secure has too. */
async function charge(job) {
  const isOpen = FAULT !== "charge-beside-3ds" && starts.has(job.order);
  const isLinked = FAULT !== "charge-beside-link" && links.has(job.order) && !(await withdrawn(job.order).catch(() => false));
  if (isOpen || isLinked) return json({ claim: "unknown" });
  const order = FAULT === "charge-beside-3ds" ? { ...job, order: `${job.order}-card` } : job;
  const form = { itemName0: "Order", itemPrice0: String(job.amount), currency: job.currency, uniqueMerchantReference: order.order };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const known = charges.has(job.order) ? await lookUp(order) : undefined;
      charges.add(job.order);
      const found = known ?? answered(order, await call("transaction/authSessionKey", { ...form, sessionKey: job.sessionKey }));
      if (found?.claim === "paid") settled.add(job.order);
      if (found) return json(found);
    } catch {
      // Unclear: the next round looks it up first.
    }
  }
  return json({ claim: "unknown" });
}

async function linked(job) {
  if (charges.has(job.order) && FAULT !== "charge-beside-link") return json({ claim: settled.has(job.order) ? "paid" : "unknown" });
  if (FAULT === "small-orders-only" && job.amount > 50000) return page(422, "<h1>This is too much</h1>");
  if (FAULT.startsWith("pounds-only") && job.currency !== "GBP") return page(422, "<h1>We sell in pounds only</h1>");
  if (FAULT === "link-kept" && links.has(job.order)) return json({ claim: "unknown", url: links.get(job.order) });
  if (FAULT !== "link-kept" && links.has(job.order) && !(await withdrawn(job.order).catch(() => false))) {
    return json({ claim: "unknown", url: links.get(job.order) });
  }
  const currency = FAULT === "checkout-in-euro" ? "EUR" : job.currency;
  const price = decimal(job.amount, currency);
  const made = await enterprise("gettoken", {
    "item_name[0]": "Order", "item_price[0]": price, currency, success_url: job.successUrl,
    cancel_url: job.successUrl, auto_redirect: "1", trans_reference: FAULT === "own-reference" ? `inv-${invoices.size}` : job.order, ...(FAULT === "token-many-uses" ? {} : { token_uses: "1" }),
    ...(FAULT === "checkout-reserves" ? { trans_type: "PreAuth" } : {}),
    ...(FAULT === "checkout-with-3ds" ? { "3D_secure": "1" } : {}),
    ...(FAULT === "token-start" ? { token_start: String(Math.floor(Date.now() / 1000)) } : {}),
    ...(FAULT === "link-of-a-day" ? { token_expiry: String(Math.floor(Date.now() / 1000) + 86400) } : {}),
  });
  invoices.set(`inv-${invoices.size}`, job.order);
  links.set(job.order, made("redemption_url"));
  // A customer may still pay by an earlier link on a page that is open.
  const tokens = [...(orders.get(job.order)?.tokens ?? []), made("tokenid")];
  orders.set(job.order, { price, currency, tokens });
  return json({ claim: "unknown", url: made("redemption_url") });
}

/** What a transaction record says. */
function outcome(reply) {
  if (reply.transactionStatusCode === "600") return { claim: "paid", transactionKey: reply.transactionKey };
  if (["901", "902", "903", "907"].includes(reply.transactionStatusCode)) return { claim: "declined" };
  return undefined;
}

/** Whether a transaction is that of the order. A field that it lacks proves nothing. */
function isOf(job, found, type = "Auth", reference = job.order) {
  const order = { uniqueMerchantReference: reference, transactionType: type, currency: job.currency, transactionValue: job.amount };
  return Object.entries(order).every(([name, value]) => ["", String(value)].includes(String(found[name] ?? "")));
}

/** The reply to the payment of the order; undefined if it shows something else. */
const answered = (job, reply) => (isOf(job, reply) ? outcome(reply) : undefined);

const CHECKS = ["3DSecureCheck", "3DSAuthenticatedOnly"]; // of the customer, under the same reference
const FOLLOW_UPS = ["Capture", "CancelPreAuth", "Refund"]; // of a payment that is listed too

/** The payment of the order, if the service has one; unknown if it has another one under the reference, or several. */
async function lookUp(job) {
  const reply = await call("transaction/lookup", { uniqueMerchantReference: job.order });
  const list = reply.transactions?.transaction ?? reply.transactions;
  if (typeof list !== "object" || list === null) throw new Error("the lookup has no list");
  const found = Object.values(list);
  const payments = found.filter((one) => ![...CHECKS, ...FOLLOW_UPS].includes(one.transactionType));
  if (payments.length === 0) return undefined;
  return (payments.length === 1 && isOf(job, payments[0]) && outcome(payments[0])) || { claim: "unknown" };
}

/** Whether only the operator knows what a reply means, or more requests would lock the address out for longer. */
const isUnread = (reply) => reply.transactionStatusCode === "640" || ["936", "121"].includes(reply.errorCode);

const authentications = new Map(); // orders by their authenticationKeys
const references = new Map(); // of authentications, by their keys, for a shop that begins one more for an order that is started again
const starts = new Map(); // the last answer to the start of an order
const shipped = new Set(); // orders that are paid in the books of the shop

/** Whether each start of an order begins an authentication, with a reference of its own. */
const beginsEach = ["3ds-each-start-pays", "3ds-each-start-paid-once", "3ds-last-start-counts"].includes(FAULT);

async function threeDSecure(job) {
  if (job.step === "start") {
    if (charges.has(job.order) && FAULT !== "charge-beside-3ds") return json({ claim: settled.has(job.order) ? "paid" : "unknown" });
    if (FAULT === "3ds-start-kept" && starts.has(job.order)) return json(starts.get(job.order));
    if (FAULT === "pounds-only" && job.currency !== "GBP") return json({ claim: "not-charged" });
    const prices = { "3ds-amount-truncated": truncated(job.amount), "3ds-amount-grouped": grouped(job.amount), "3ds-yen-with-decimals": job.currency === "JPY" ? job.amount * 100 : job.amount };
    const currency = FAULT === "3ds-in-pounds" ? "GBP" : job.currency;
    const reference = beginsEach ? `${job.order}-${references.size}` : job.order;
    const order = { itemName0: "Order", itemPrice0: String(prices[FAULT] ?? job.amount), currency, uniqueMerchantReference: reference };
    const form = { ...order, sessionKey: job.sessionKey, returnUrl: job.returnUrl };
    const begun = await call("transaction/initiate3DSecureSessionKey", form).catch(() => ({}));
    const { authenticationKey, authenticationUrl } = begun;
    if (FAULT === "3ds-initiation-unread") authenticationKey.toLowerCase(); // throws if there is none
    if (FAULT === "3ds-608-pays" && !authenticationKey) {
      await call("transaction/authSessionKey", { ...order, uniqueMerchantReference: `${job.order}-plain`, sessionKey: job.sessionKey }).catch(() => ({}));
    }
    if (FAULT === "3ds-not-awaited") {
      const early = { ...order, uniqueMerchantReference: `${job.order}-early`, sessionKey: job.sessionKey };
      await call("transaction/authSessionKey", early).catch(() => ({}));
    }
    authentications.set(authenticationKey, job.order);
    references.set(authenticationKey, reference);
    starts.set(job.order, authenticationKey ? { claim: "unknown", authenticationKey, authenticationUrl } : { claim: "unknown" });
    return json(starts.get(job.order));
  }
  // Neither getAuthenticationStatus nor auth3DSecure names the order.
  const isOfOther = (authentications.get(job.authenticationKey) ?? job.order) !== job.order;
  if (isOfOther && FAULT !== "3ds-of-any-order" && FAULT !== "3ds-of-the-key") return json({ claim: "unknown" });
  if (FAULT === "3ds-of-any-order" && shipped.has(job.order)) return json({ claim: "paid" });
  if (FAULT === "3ds-each-start-paid-once" && shipped.has(job.order)) return json({ claim: "paid" });
  if (FAULT === "3ds-last-start-counts" && starts.get(job.order).authenticationKey !== job.authenticationKey) return json({ claim: "not-charged" });
  const name = job.order;
  if (beginsEach) job = { ...job, order: references.get(job.authenticationKey) };
  const status = () => call("transaction/getAuthenticationStatus", { authenticationKey: job.authenticationKey });
  if (FAULT === "3ds-status-ignored") {
    const known = () => lookUp(job).catch(() => undefined);
    const pay = () => call("transaction/auth3DSecure", { authenticationKey: job.authenticationKey }).catch(() => ({}));
    return json((await known()) ?? answered(job, await pay()) ?? (await known()) ?? { claim: "unknown" });
  }
  if (FAULT === "3ds-status-is-lookup") {
    if ((await status().catch(() => ({}))).liabilityShift !== "Y") return json({ claim: "not-charged" });
    const paid = await call("transaction/auth3DSecure", { authenticationKey: job.authenticationKey }).catch(() => status());
    return json(answered(job, paid) ?? { claim: "unknown" });
  }
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const asked = call("transaction/getAuthenticationStatus", { authenticationKey: job.authenticationKey });
      const status = await (FAULT === "3ds-status-fails-open" ? asked.catch(() => ({ liabilityShift: "Y" })) : asked);
      if (FAULT === "3ds-not-n" ? status.liabilityShift === "N" : status.liabilityShift !== "Y") {
        return json((await lookUp(job)) ?? { claim: "not-charged" });
      }
      // An earlier visit or round may have paid, and nothing says that an authentication pays only once.
      const known = FAULT === "3ds-resent" ? undefined : await lookUp(job);
      const once = () => call("transaction/auth3DSecure", { authenticationKey: job.authenticationKey });
      const again = (error) => (FAULT === "3ds-timeout-resent" && isTimeout(error) ? once() : Promise.reject(error));
      const pay = () => once().catch(again);
      if (FAULT === "3ds-empty-lookup-believed" && !known && attempt > 0) return json({ claim: "not-charged" });
      const reply = known ?? (await pay());
      if (FAULT === "3ds-http-200-is-paid" && !known && !reply.errorCode) return json({ claim: "paid" });
      if (FAULT === "3ds-unread-is-unknown" && !known && isUnread(reply)) return json({ claim: "unknown" });
      if (FAULT === "3ds-119-is-decline" && reply.errorCode === "119") return json({ claim: "declined" });
      const found = known ?? answered(job, reply) ?? (await lookUp(job));
      if (found?.claim === "paid") shipped.add(name);
      if (found) return json(found);
    } catch {
      // Unclear: the next round looks it up first.
    }
  }
  return json({ claim: "unknown" });
}

const begun = new Set(); // orders of captures and refunds, for a shop that sends no reference. A command keeps them in files
const begunFile = (order) => `${env.PG_REHEARSE_DIR}/begun-${order}`;

/** False if an order was begun before, also by another worker. */
function begins(order) {
  if (!env.SHOP_PORT) {
    try {
      return writeFileSync(begunFile(order), "", { flag: "wx" }) === undefined;
    } catch {
      return false;
    }
  }
  return !begun.has(order) && Boolean(begun.add(order));
}

const forget = (order) => (env.SHOP_PORT ? begun.delete(order) : unlinkSync(begunFile(order)));

/** A capture or refund without a reference: an order that was begun is not sent again. */
async function laterByState(job, method) {
  if (!begins(job.order)) return json({ claim: "unknown" });
  const made = await call(method, { transactionKey: job.transactionKey, transactionValue: String(job.amount) }).catch(() => ({}));
  const type = method === "transaction/refund" ? "Refund" : "Capture";
  const claim = (isOf(job, made, type, "") && outcome(made)) || { claim: "unknown" };
  if (FAULT === "unknown-later-begun-again" && claim.claim === "unknown") forget(job.order);
  return json(claim);
}

// The error codes that count as not done.
const BELIEVED = { "later-limit-is-not-done": "936", "later-lockout-is-not-done": "121", "119-is-not-done": "119", "500-is-not-done": "108", "used-reference-is-not-done": "950" };

/** Sent once. A reference of their own protects them from an order that arrives twice, and from repeats. */
async function later(job, method, attempt = 0) {
  if (["later-by-state", "unknown-later-begun-again"].includes(FAULT)) return laterByState(job, method);
  const repeats = ["refund-retried", "retried-under-reference", "later-refused-connection-is-not-done"].includes(FAULT);
  const isNewEach = ["refund-retried", "retried-after-timeout", "retried-after-gateway-error"].includes(FAULT);
  if (job.attempt > 1 && !repeats) return json({ claim: FAULT === "begun-later-is-done" ? "paid" : "unknown" });
  if (FAULT === "later-asked-first" && ["Refunded", "Cancelled", "Voided"].includes((await lookedUp(job.transactionKey))("status"))) {
    return json({ claim: "not-charged" });
  }
  const unit = FAULT === "later-in-two-decimals" ? 10 ** (2 - digitsOf(job.currency)) : 1;
  const isRounded = FAULT === "later-dinars-rounded" && job.currency === "BHD";
  const mistaken = { "amount-truncated": truncated(job.amount), "later-amount-truncated-32": truncated32(job.amount), "later-amount-grouped": grouped(job.amount) };
  const whole = isRounded ? Math.trunc(job.amount / 10) * 10 : (mistaken[FAULT] ?? Math.trunc(job.amount * unit));
  const amount = FAULT === "amounts-in-pounds" ? (job.amount / 100).toFixed(2) : String(whole);
  const start = isNewEach ? `-${job.attempt ?? 1}-${attempt}` : "";
  const named = FAULT === "refund-of-payment" ? `refund-${job.transactionKey}` : `${job.order}-later${start}`;
  const reference = FAULT === "later-without-reference" ? {} : { uniqueMerchantReference: named };
  try {
    const reply = await call(method, { transactionKey: job.transactionKey, transactionValue: amount, ...reference });
    if (FAULT === "amounts-in-pounds" && reply.errorCode) return json({ claim: "not-charged" });
    if (FAULT === "refund-of-payment" && reply.errorCode === "950") return json({ claim: "paid" });
    if (FAULT === "any-answer-is-done" || (FAULT === "http-200-is-done" && !reply.errorCode)) return json({ claim: "paid" });
    if (reply.errorCode && reply.errorCode === BELIEVED[FAULT]) return json({ claim: "not-charged" });
    if (FAULT === "later-unknown-status-is-done" && reply.transactionStatusCode === "640") return json({ claim: "paid" });
    if (FAULT === "error-is-done" && reply.errorCode) return json({ claim: "paid" });
    const type = method === "transaction/refund" ? "Refund" : "Capture";
    const isRight = isOf({ ...job, amount }, reply, type, reference.uniqueMerchantReference ?? "");
    return json(((isRight || FAULT === "later-reply-not-compared") && outcome(reply)) || { claim: "unknown" });
  } catch (error) {
    if (FAULT === "failure-is-done") return json({ claim: "paid" });
    if (FAULT === "later-refused-connection-is-not-done" && error.code === "ECONNREFUSED") return json({ claim: "not-charged" });
    if (FAULT === "later-empty-lookup-believed" || FAULT === "later-failed-lookup-believed") {
      const found = await call("transaction/lookup", reference).catch(() => ({}));
      const isEmpty = found.transactions && Object.keys(found.transactions).length === 0;
      if (FAULT === "later-empty-lookup-believed" ? isEmpty : !found.transactions) return json({ claim: "not-charged" });
    }
    const isMeant = { "retried-after-timeout": isTimeout(error), "retried-after-gateway-error": error.isOfGateway };
    const repeatsThis = repeats || isMeant[FAULT];
    if (repeatsThis && attempt < 2) return later(job, method, attempt + 1);
    if (FAULT === "capture-falls-back-to-repeat") {
      await enterprise("repeat", { prev_trans_key: job.transactionKey, trans_type: "Auth", trans_value: (job.amount / 100).toFixed(2) });
    }
    return json({ claim: "unknown" });
  }
}

// By order: the batch key, or "doubtful" while it is not known. A command keeps them for its next start.
const kept = env.SHOP_PORT ? undefined : `${env.PG_REHEARSE_DIR}/batches.json`;
const batches = new Map(kept && existsSync(kept) ? JSON.parse(readFileSync(kept, "utf8")) : []);
const keep = (order, batch) => {
  batches.set(order, batch);
  if (!kept) return;
  writeFileSync(`${kept}.new`, JSON.stringify([...batches])); // a drill may kill this program here
  renameSync(`${kept}.new`, kept);
};

/** Refreshes stored cards. A submission is never repeated after an unclear reply: the service cannot be asked for it. */
async function updateCards(job) {
  const keys = FAULT === "updater-duplicates" ? job.cardKeys : [...new Set(job.cardKeys)];
  const form = { accountUpdaterKey: env.PG_ACCOUNT_UPDATER_KEY, cardKey: keys.join(",") };
  for (let attempt = 0; !batches.has(job.order) || (FAULT === "updater-resubmits" && batches.get(job.order) === "doubtful" && attempt < 2); attempt++) {
    keep(job.order, "doubtful");
    try {
      const made = await call("token/requestAccountUpdater", form);
      if (made.batchKey) keep(job.order, made.batchKey);
      else if (made.errorCode || made.result === "ERROR") return json({ claim: "not-charged" });
    } catch {
      if (FAULT === "updater-doubt-is-refusal") return json({ claim: "not-charged" });
    }
  }
  const batchKey = batches.get(job.order);
  for (let attempt = 0; attempt < 20 && batchKey !== "doubtful"; attempt++) {
    const batch = await call("token/retrieveAccountUpdater", { batchKey }).catch(() => ({}));
    if (batch.cardKeyDetails) return json({ claim: "paid", cards: refreshed(batch.cardKeyDetails, keys) });
    if (FAULT === "updater-pending-is-end") return json({ claim: "paid", cards: [] });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const cards = job.cardKeys.map((cardKey) => ({ cardKey, state: "unknown" }));
  return json({ claim: "unknown", ...(FAULT === "updater-tells-doubt" ? { cards } : {}) });
}

/** The same with a batch for each card, which the service allows. */
async function updateEach(job) {
  const told = [];
  for (const cardKey of new Set(job.cardKeys)) {
    told.push(JSON.parse((await updateCards({ order: `${job.order}-${cardKey}`, cardKeys: [cardKey] })).body));
  }
  const claims = new Set(told.map((one) => one.claim));
  return json({ claim: claims.size === 1 ? told[0].claim : "unknown", cards: told.flatMap((one) => one.cards ?? []) });
}

/** One result for each card, whatever the reply repeats. */
function refreshed(entries, keys) {
  const byPosition = FAULT === "updater-by-position";
  const cards = entries.slice(0, byPosition ? keys.length : undefined).map(({ oldCardKey: old, response, cardKey }, place) => {
    const oldCardKey = byPosition ? keys[place] : old;
    const state = { 700: "updated", 702: "updated", 707: "updated", 712: "updated", 701: "closed", 706: "unchanged" }[response] ?? "unknown";
    if (FAULT === "updater-closed-kept" && !cardKey) return { cardKey: oldCardKey, state: "unchanged" };
    return { cardKey: oldCardKey, state, ...(cardKey ? { newCardKey: cardKey } : {}) };
  });
  return FAULT === "updater-doubles" ? cards : [...new Map(cards.map((card) => [card.cardKey, card])).values()];
}

const reviews = []; // what the return page has read, for the page to which it redirects

async function answer(request, body, url) {
  if (url.pathname === "/return" && FAULT.startsWith("return-redirects")) {
    reviews.push(returned(url.searchParams));
    return { ...page(303, ""), location: FAULT.endsWith("elsewhere") ? "https://front.example/review" : "./review", cookie: `review=${reviews.length - 1}; Path=/` };
  }
  if (url.pathname === "/return" && FAULT === "return-unread") return page(200, "<div id=app></div><script src=app.js></script>");
  if (url.pathname === "/return") return returned(url.searchParams);
  if (url.pathname === "/review" && FAULT === "return-redirects-refused") return page(401, "<p>Please log in.</p>");
  if (url.pathname === "/review") return reviews[/review=(\d+)/.exec(request.headers.cookie)?.[1]] ?? unread();
  if (url.pathname === "/callback" && FAULT === "callback-not-found") return page(404, "<p>Not found</p>");
  if (url.pathname === "/callback") return callback(body, request.headers["content-type"] ?? "");
  if (url.pathname === "/success") return success(url.searchParams);
  if (url.pathname === "/thanks") return page(200, settled.has(url.searchParams.get("order")) ? "<h1>Thank you for your order</h1>" : "<h1>Your order waits</h1>");
  if (request.method !== "POST") return page(200, "<h1>Shop</h1>");
  const job = JSON.parse(body);
  if (url.pathname === "/checkout") return checkout(job);
  if (url.pathname === "/three-d-secure") return threeDSecure(job);
  if (url.pathname === "/charge") return charge(job);
  if (url.pathname === "/update-cards") return FAULT === "updater-batches" ? updateEach(job) : updateCards(job);
  if (url.pathname === "/capture") return later(job, "transaction/capturepreauth");
  return later(job, "transaction/refund");
}

let turn = Promise.resolve(); // the end of the request before

const server = http.createServer((request, response) => {
  const before = FAULT === "one-at-a-time" ? turn : undefined;
  turn = new Promise((resolve) => response.on("close", resolve));
  const parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size <= MOST || FAULT === "no-limit") parts.push(part);
    else {
      response.writeHead(413, { connection: "close" }).end();
      request.destroy();
    }
  });
  request.on("end", async () => {
    await before;
    const url = new URL(request.url, "http://shop");
    const made = await answer(request, Buffer.concat(parts).toString("utf8"), url).catch(() => page(400, "<p>No.</p>"));
    const location = made.location ? { location: made.location, ...(made.cookie ? { "set-cookie": made.cookie } : {}) } : {};
    response.writeHead(made.status, { "content-type": made.type, "cache-control": "no-store", ...location }).end(made.body);
  });
  request.on("error", () => {});
});

/** Does one job as a command, which a drill can kill. */
async function command() {
  const job = JSON.parse(readFileSync(0, "utf8"));
  const path = job.job.replaceAll("_", "-");
  console.log((await answer({ method: "POST", headers: {} }, JSON.stringify(job), new URL(`http://shop/${path}`))).body);
}

if (env.SHOP_PORT) server.listen(Number(env.SHOP_PORT), "127.0.0.1");
else await command();
