// A shop's front-end tier: a card page, a review page with the data of the redirect, and the payment.
//
//   customer's browser ── card ──▶ payment service ── redirect with encrypted data ──▶ this server ── review page
//
// The API key decrypts that data. The key stays here: no page, script or cookie ever contains it.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

import { decodeRedirect } from "pg-wasm";

import { Gateway } from "./gateway.mjs";
import { cardPage, closedPage, message, orderPage, reviewPage } from "./pages.mjs";

function environment(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

const account = {
  baseUrl: environment("PG_BASE_URL"),
  apiKey: environment("PG_API_KEY"),
  apiPassword: environment("PG_API_PASSWORD"),
  shaKey: environment("PG_SHA_KEY"),
};
/** The encoding in which the service writes the data of the redirect. The decoder reads both encodings. */
const encoding = process.env.PG_ENCODING ?? "json";

/** The key that decodes a redirect. It is the account's API key, so it stays in this process. */
const key = { apiKey: account.apiKey };

const gateway = new Gateway(account);

/** The current order of each customer, by the secret in their cookie. A real shop keeps them in a database. */
const orders = new Map();

/** A redirect has up to 64 KiB of data, encrypted, in Base64 and percent-encoded. */
const REDIRECT_BYTES = 128 * 1024;

const routes = {
  "GET /": () => see("/card"),

  async "GET /card"(request, url) {
    let [cookie, order] = orderOf(request);
    if (order?.state === "open") return see("/order");
    if (gateway.isStopped) return closed();
    // A customer who buys again after a paid order gets a new order.
    if (!order || order.state === "paid") order = newOrder();
    cookie ??= randomBytes(16).toString("hex");
    orders.set(cookie, order);
    // The service sends the browser back here when a field is invalid.
    const redirect = url.searchParams.has("data") ? decodeRedirect(url, key) : {};
    const { errors, data } = order.forms.has(redirect.formId) ? redirect : {};
    const [formId, { sessionKey }] = await newForm(order);
    const hidden = { sessionKey, formId, nextPageUrl: `${origin}/review`, currentPageUrl: `${origin}/card` };
    const action = `${account.baseUrl}/v3/session/postform/${encoding}`;
    return { body: cardPage({ action, hidden, data, errors }), cookie };
  },

  "GET /review"(request, url) {
    const [, order] = orderOf(request);
    const { ok, formId } = decodeRedirect(url, key);
    const form = order?.forms.get(formId);
    if (!ok || !form) return see("/card");
    if (form.isPaid || !isPayable(order)) return see("/order");
    const card = JSON.stringify(ok);
    form.card ??= card;
    if (form.card === card) return { body: reviewPage({ order, formId, data: ok }) };
    // The session has the card that was posted last, and this server cannot tell which one that is.
    order.forms.delete(formId);
    return replaced();
  },

  // The amount and the session come from the order that this server keeps. The address only names the form whose review
  // page was shown: nothing is sent for a card that this server has not seen come back.
  async "POST /pay"(request, url) {
    const [, order] = orderOf(request);
    if (request.headers.origin !== origin) return see("/card");
    const form = order?.forms.get(url.searchParams.get("formId"));
    if (order && (form?.isPaid || !isPayable(order))) return see("/order");
    if (!form?.card) return outOfDate();
    await pay(order, form);
    return see("/order");
  },

  // The result of a payment has an address of its own, so that a reload pays nothing.
  "GET /order"(request) {
    const [, order] = orderOf(request);
    return order && order.state !== "new" ? { body: orderPage(order, gateway.isStopped) } : see("/card");
  },

  "GET /error"(request, url) {
    const [, order] = orderOf(request);
    const { error, formId } = decodeRedirect(url, key);
    const text = order?.forms.has(formId) ? error?.errorMessage : undefined;
    return { body: message("Your card could not be accepted", text ?? "Please start again.") };
  },
};

const closed = () => ({ status: 503, body: closedPage() });

const replaced = () => ({
  status: 409,
  body: message("Another card was entered", "Nothing was charged. Please enter your card again."),
});

const outOfDate = () => ({
  status: 409,
  body: message("This page is out of date", "Nothing was charged just now. Please enter your card."),
});

const newOrder = () => ({ state: "new", item: "Tea", pence: 499, forms: new Map() });

/** Whether nothing was charged for the order, and nothing will be unless the customer pays. */
const isPayable = ({ state }) => state === "new" || state === "not paid";

/**
 * Opens a session, and names its form. Redirects and the review page repeat the name, which tells whose card they show.
 * Every form has its own session, so no form replaces the card of another one.
 */
async function newForm(order) {
  const form = [randomBytes(8).toString("hex"), { sessionKey: await gateway.initiate(`${origin}/error`) }];
  order.forms.set(...form);
  return form;
}

function orderOf(request) {
  const [, cookie] = /(?:^|; )order=([0-9a-f]{32})(?:;|$)/.exec(request.headers.cookie ?? "") ?? [];
  return orders.has(cookie) ? [cookie, orders.get(cookie)] : [];
}

/** Pays, and looks the payment up until its outcome is known. A form pays once: a second click pays nothing. */
async function pay(order, form) {
  form.isPaid = true;
  // Each attempt has a reference of its own, and begins only after the previous attempt has certainly failed.
  order.reference = `order-${randomBytes(12).toString("hex")}`;
  order.sessionKey = form.sessionKey;
  order.state = "open";
  settle(order, await gateway.pay(order));
  if (order.state === "open") lookUp(order);
}

function settle(order, outcome) {
  Object.assign(order, { again: undefined, unlessFound: undefined }, outcome);
}

/** The longest pause between two lookups, in milliseconds. It is reached after 17 minutes. */
const LONGEST_PAUSE = 600_000;

async function lookUp(order) {
  for (let pause = 0; order.state === "open"; pause = Math.min(2 * pause || 1_000, LONGEST_PAUSE)) {
    // After refused credentials, a lockout or a limit, every request is refused for a while.
    await wait(Math.max(pause, order.again ?? 0));
    try {
      settle(order, (await gateway.find(order)) ?? (await notFound(order)));
    } catch (error) {
      console.error(`${order.reference}: ${error.message}`);
    }
    if (order.state !== "open" || pause < LONGEST_PAUSE) continue;
    order.isLate = true;
    console.error(`${order.reference}: still open; ask the operator of the payment service whether it was charged`);
  }
}

/**
 * Nothing found proves nothing: the payment may still arrive. Only what refused it may say more. A request whose fate is
 * unknown is sent again: the service accepts its reference once (spec 2 §4.3), and its session ends after 30 minutes.
 */
async function notFound(order) {
  if (order.unlessFound) return order.unlessFound;
  return order.again === undefined ? { state: "open" } : gateway.pay(order, { again: true });
}

const see = (location) => ({ status: 303, location });

async function answer(request) {
  try {
    // Under another name for this host, the browser would block the redirect after the card form, and send no cookie.
    if (request.headers.host !== new URL(origin).host) return see(`${origin}/`);
    const url = new URL(request.url, origin);
    const method = request.method === "HEAD" ? "GET" : request.method;
    const route = routes[`${method} ${url.pathname}`];
    return route ? await route(request, url) : { status: 404, body: message("Not found", "There is no such page.") };
  } catch (error) {
    console.error(error.message);
    if (gateway.isStopped) return closed();
    return { status: 500, body: message("Something went wrong", "Please try again.") };
  }
}

const server = createServer({ maxHeaderSize: REDIRECT_BYTES }, async (request, response) => {
  const { status = 200, body = "", location, cookie } = await answer(request);
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; form-action 'self' ${new URL(account.baseUrl).origin}; base-uri 'none'; frame-ancestors 'none'`,
    // The address of the review page contains the encrypted data, so it goes to no other site and into no cache.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    ...(location && { Location: location }),
    // A real shop uses TLS and adds `Secure`.
    ...(cookie && { "Set-Cookie": `order=${cookie}; HttpOnly; SameSite=Lax; Path=/` }),
  });
  response.end(body);
});

await new Promise((resolve) => server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
console.log(origin);
