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
    order.session ??= newSession(order);
    const { sessionKey, formId } = await order.session;
    // The service sends the browser back here when a field is invalid.
    const { errors, data } = url.searchParams.has("data") ? decodeRedirect(url, key) : {};
    const hidden = { sessionKey, formId, nextPageUrl: `${origin}/review`, currentPageUrl: `${origin}/card` };
    const action = `${account.baseUrl}/v3/session/postform/${encoding}`;
    return { body: cardPage({ action, hidden, data, errors }), cookie };
  },

  async "GET /review"(request, url) {
    const [, order] = orderOf(request);
    const { ok, formId } = decodeRedirect(url, key);
    return ok && formId === (await order?.session)?.formId ? { body: reviewPage({ order, data: ok }) } : see("/card");
  },

  // The amount and the card come from the order that this server keeps. Neither was in the address.
  async "POST /pay"(request) {
    const [, order] = orderOf(request);
    if (!order?.session || request.headers.origin !== origin) return see("/card");
    if (order.state === "new" || order.state === "not paid") await pay(order);
    return see("/order");
  },

  // The result of a payment has an address of its own, so that a reload pays nothing.
  "GET /order"(request) {
    const [, order] = orderOf(request);
    return order && order.state !== "new" ? { body: orderPage(order, gateway.isStopped) } : see("/card");
  },

  async "GET /error"(request, url) {
    const [, order] = orderOf(request);
    const { error, formId } = decodeRedirect(url, key);
    // The next form has a new session. An old address that is opened again changes nothing.
    if (error?.kind === "service" && formId === (await order?.session)?.formId) delete order.session;
    const text = error?.kind === "service" ? error.errorMessage : "Please start again.";
    return { body: message("Your card could not be accepted", text) };
  },
};

const closed = () => ({ status: 503, body: closedPage() });

const newOrder = () => ({ state: "new", item: "Tea", pence: 499 });

/** Opens a session and names its form. Redirects repeat the name, which tells whose card they show. */
async function newSession(order) {
  try {
    return { sessionKey: await gateway.initiate(`${origin}/error`), formId: randomBytes(8).toString("hex") };
  } catch (error) {
    delete order.session;
    throw error;
  }
}

function orderOf(request) {
  const [, cookie] = /(?:^|; )order=([0-9a-f]{32})(?:;|$)/.exec(request.headers.cookie ?? "") ?? [];
  return orders.has(cookie) ? [cookie, orders.get(cookie)] : [];
}

/** Pays, and looks the payment up until its outcome is known. A second click finds the order open, and pays nothing. */
async function pay(order) {
  // Each attempt has a reference of its own, and begins only after the previous attempt has certainly failed.
  order.reference = `order-${randomBytes(12).toString("hex")}`;
  order.state = "open";
  const { sessionKey } = await order.session;
  settle(order, await gateway.pay(sessionKey, order));
  if (order.state === "open") lookUp(order);
}

function settle(order, { expired, ...outcome }) {
  Object.assign(order, { again: undefined, unlessFound: undefined }, outcome);
  if (expired) delete order.session;
}

async function lookUp(order) {
  for (let pause = 0; order.state === "open"; pause = Math.min(2 * pause || 1_000, 600_000)) {
    // After refused credentials, a lockout or a limit, every request is refused for a while.
    await wait(Math.max(pause, order.again ?? 0));
    try {
      settle(order, (await gateway.find(order.reference)) ?? (await notFound(order)));
    } catch (error) {
      console.error(`${order.reference}: ${error.message}`);
    }
  }
}

/** Nothing found proves nothing: the payment may still arrive. Only what refused it may say more. */
async function notFound(order) {
  if (order.unlessFound) return order.unlessFound;
  if (!order.again) return { state: "open" };
  const { sessionKey } = await order.session;
  return gateway.pay(sessionKey, order, { again: true });
}

const see = (location) => ({ status: 303, location });

async function answer(request) {
  try {
    const url = new URL(request.url, origin);
    const route = routes[`${request.method} ${url.pathname}`];
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
