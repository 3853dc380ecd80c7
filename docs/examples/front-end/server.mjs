// A shop's front-end tier: a card page, a review page made from what the redirect says, and the payment.
//
//   customer's browser ── card ──▶ payment service ── redirect with encrypted data ──▶ this server ── review page
//
// The API key decrypts that data. It stays here: no page, no script and no cookie ever holds it.
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";

import { decodeRedirect } from "pg-wasm";

import { Gateway, Refused } from "./gateway.mjs";
import { cardPage, message, reviewPage } from "./pages.mjs";

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
/** How the service writes the redirect's data; the decoder takes either. */
const encoding = process.env.PG_ENCODING ?? "json";

/** What decodes a redirect. It is the account's API key: it stays in this process. */
const key = { apiKey: account.apiKey };

const gateway = new Gateway(account);

/** Orders by the secret that their customer's cookie holds. A real shop keeps them in a database. */
const orders = new Map();

const routes = {
  "GET /": () => see("/card"),

  async "GET /card"(request, url) {
    const order = orderOf(request) ?? (await newOrder());
    // The service sends the browser back here when a field is invalid.
    const { errors, data } = url.searchParams.has("data") ? decodeRedirect(url, key) : {};
    const hidden = {
      sessionKey: order.sessionKey,
      formId: "card",
      nextPageUrl: `${origin}/review`,
      currentPageUrl: `${origin}/card`,
    };
    const action = `${account.baseUrl}/v3/session/postform/${encoding}`;
    return { body: cardPage({ action, hidden, data, errors }), cookie: order.cookie };
  },

  "GET /review"(request, url) {
    const order = orderOf(request);
    const { ok } = decodeRedirect(url, key);
    return order && ok ? { body: reviewPage({ order, data: ok }) } : see("/card");
  },

  // What is paid, and with which card, comes from the order that this server keeps. Nothing of it was in the address.
  async "POST /pay"(request) {
    const order = orderOf(request);
    if (!order || request.headers.origin !== origin) return see("/card");
    order.outcome ??= pay(order);
    return { body: await order.outcome };
  },

  "GET /error"(request, url) {
    const { error } = decodeRedirect(url, key);
    const text = error?.kind === "service" ? error.errorMessage : "Please start again.";
    return { body: message("Your card could not be taken", text) };
  },
};

const account0 = () => ({ apiKey: account.apiKey });

async function newOrder() {
  const cookie = randomBytes(16).toString("hex");
  const sessionKey = await gateway.initiate(`${origin}/error`);
  const order = { cookie, sessionKey, reference: `order-${cookie}`, item: "Tea", pence: 499 };
  orders.set(cookie, order);
  return order;
}

function orderOf(request) {
  const [, cookie] = /(?:^|; )order=([0-9a-f]{32})(?:;|$)/.exec(request.headers.cookie ?? "") ?? [];
  return orders.get(cookie);
}

async function pay(order) {
  try {
    const paid = await gateway.pay(order.sessionKey, order);
    const status = Number(paid.transactionStatusCode);
    if (status === 600) return message("Thank you", `Paid, transaction ${paid.transactionKey}.`);
    return message("Not paid", `The bank said: ${paid.transactionStatus}`);
  } catch (error) {
    console.error(`${order.reference}: ${error.message}`);
    if (error instanceof Refused) return message("Not paid", "Please start again.");
    // The request may have arrived. Paying again now may charge twice: look `uniqueMerchantReference` up first.
    return message("We do not know yet", "Please do not pay again. We are asking whether it went through.");
  }
}

const see = (location) => ({ status: 303, location });

async function answer(request) {
  try {
    const url = new URL(request.url, origin);
    const route = routes[`${request.method} ${url.pathname}`];
    return route ? await route(request, url) : { status: 404, body: message("Not found", "There is no such page.") };
  } catch (error) {
    console.error(error.message);
    return { status: 500, body: message("Something went wrong", "Please try again.") };
  }
}

const server = createServer(async (request, response) => {
  const { status = 200, body = "", location, cookie } = await answer(request);
  response.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; form-action 'self' ${new URL(account.baseUrl).origin}; base-uri 'none'; frame-ancestors 'none'`,
    // The address of the review page holds the encrypted data: it goes to no other site and into no cache.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    ...(location && { Location: location }),
    // A real shop speaks TLS and adds `Secure`.
    ...(cookie && { "Set-Cookie": `order=${cookie}; HttpOnly; SameSite=Lax; Path=/` }),
  });
  response.end(body);
});

await new Promise((resolve) => server.listen(Number(process.env.PORT ?? 8000), "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${server.address().port}`;
console.log(origin);
