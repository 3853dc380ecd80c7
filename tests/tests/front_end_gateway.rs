//! What the gateway of `docs/examples/front-end` says about a payment after each error code, compared with the charge
//! machine, and what its shop shows and sends after refused credentials.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use pg_model::{Remedy, dialect::RefusalScope};
use pg_tests::package;

/// Answers each payment with the error code in its `itemName0`, and each lookup with the payment of its reference.
const SCRIPT: &str = r#"
import { createServer } from "node:http";
const { Gateway } = await import(process.argv[1]);
const codes = process.argv[2].split(" ");
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const form = new URLSearchParams(body);
  const reply = request.url.includes("lookup")
    ? { transactions: { 0: { transactionType: "Auth", transactionStatusCode: 600, transactionKey: "key" } } }
    : { errorCode: form.get("itemName0"), errorMessage: "No" };
  response.writeHead(reply.errorCode ? 400 : 200, { Connection: "close" }).end(JSON.stringify(reply));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
console.error = () => {};
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const open = () => new Gateway({ baseUrl, apiKey: "a", apiPassword: "b", shaKey: "c" });
for (const code of codes) {
  const order = { item: code, pence: 499, reference: "order-1" };
  for (const again of [false, true]) {
    const { state, unlessFound } = await open().pay("session", order, { again });
    console.log([code, again, state, unlessFound?.state ?? "-"].join("|"));
  }
}
console.log(["found", (await open().find("order-1")).state].join("|"));
server.close();
"#;

// spec: 2 §7, A141: A refusal says "not paid" only if it holds for every copy of the payment.
#[test]
fn the_front_end_says_not_paid_only_after_a_refusal_that_holds_for_every_copy() {
    let Some(node) = package::node() else { return };
    let gateway = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/front-end/gateway.mjs");
    let codes: Vec<String> = (100..1000).map(|code| code.to_string()).collect();
    let ran = Command::new(node)
        .args(["--input-type=module", "--eval", SCRIPT])
        .args([gateway.to_str().unwrap(), &codes.join(" ")])
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stdout).unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (mut said, mut found) = (BTreeMap::new(), String::new());
    for line in told.lines() {
        match line.split('|').collect::<Vec<_>>()[..] {
            [code, again, state, unless] => drop(said.insert((code, again == "true"), (state, unless))),
            [_, state] => found = state.to_owned(),
            _ => panic!("{line}"),
        }
    }
    assert_eq!(found, "paid");
    let dialect = pg_sandbox::dialect();
    for code in &codes {
        let meaning = dialect.error_meaning(&code.as_str().into(), 400);
        let first = match (meaning.remedy, meaning.scope) {
            // The credentials may have been replaced after an earlier copy was paid.
            (Remedy::FixCredentials, _) => ("open", "-"),
            (_, RefusalScope::Always) => ("not paid", "-"),
            (_, RefusalScope::FromNowOn) => ("open", "not paid"),
            _ => ("open", "-"),
        };
        // Of a payment that was sent before, no refusal proves anything without a lookup.
        let again = match meaning.scope {
            RefusalScope::Always | RefusalScope::FromNowOn => ("open", "not paid"),
            _ => ("open", "-"),
        };
        for (is_again, expected) in [(false, first), (true, again)] {
            assert_eq!(said[&(code.as_str(), is_again)], expected, "{code}, again: {is_again}");
        }
    }
}

/// Plays a customer of the shop, with a service that charges the first copy of a payment and shows the refusal of the
/// second one. The shop's clock stands still until it is advanced.
const SHOP: &str = r#"
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

const [code, paid] = process.argv.slice(1);
let now = 1_000_000;
let waits = [];
Date.now = () => now;
timers.setTimeout = (milliseconds) => new Promise((resolve) => waits.push({ at: now + milliseconds, resolve }));
syncBuiltinESMExports();
const advance = (milliseconds) => {
  now += milliseconds;
  const due = waits.filter(({ at }) => at <= now);
  waits = waits.filter(({ at }) => at > now);
  for (const { resolve } of due) resolve();
};

const asked = [];
let isRefusing = true;
const service = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const form = new URLSearchParams(body);
  const method = request.url.split("/").slice(2, 4).join("/");
  asked.push(`${method} ${form.get("uniqueMerchantReference") ?? ""}`.trim());
  const approved = { transactionType: "Auth", transactionStatusCode: 600, transactionKey: "key" };
  let reply = { "session/initiate": { sessionKey: "session" }, "transaction/authSessionKey": approved }[method];
  reply ??= { transactions: paid === "paid" ? { 0: approved } : {} };
  if (isRefusing && asked.length > 1) reply = { errorCode: code, errorMessage: "No", traceCode: "123456789" };
  response.writeHead(reply.errorCode ? 401 : 200, { Connection: "close" }).end(JSON.stringify(reply));
});
await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
Object.assign(process.env, { PG_BASE_URL: `http://127.0.0.1:${service.address().port}`, PORT: "0" });
Object.assign(process.env, { PG_API_KEY: "a", PG_API_PASSWORD: "b", PG_SHA_KEY: "c" });
console.error = () => {};
const log = console.log;
const origin = await new Promise((resolve) => {
  console.log = resolve;
  import("./server.mjs");
});
console.log = log;

let cookie;
const visit = async (path, options = {}) => {
  const headers = { Connection: "close", Origin: origin, ...(cookie && { Cookie: cookie }) };
  const reply = await fetch(origin + path, { headers, redirect: "manual", ...options });
  const page = await reply.text();
  cookie ??= reply.headers.get("set-cookie")?.split(";")[0];
  const shown = page.match(/<h1>(.*)<\/h1>/)?.[1] ?? reply.headers.get("location");
  return `${reply.status} ${shown}${/href|<form|<button/.test(page) ? ", pay" : ""}`;
};
const show = async (what, ...visited) => log(`${what}: ${await visit(...visited)}`);
const count = () => log(`requests: ${asked.length}`);

await show("card", "/card");
await show("pay", "/pay", { method: "POST" });
await show("order", "/order");
await show("card again", "/card");
await show("pay again", "/pay", { method: "POST" });
// Another customer, whose card is entered already.
const first = cookie;
cookie = undefined;
await show("stranger", "/card");
cookie = first;
count();
// Corrected too late for the first lookup.
advance(599_999);
count();
// A mistake of the shop ends this loop too.
const until = async (isDone) => {
  for (let visits = 0; visits < 1_000 && !isDone(await visit("/order")); visits++);
};
advance(1);
await until(() => asked.length > 2 && waits.length > 0);
count();
isRefusing = false;
advance(600_000);
await until((page) => page.includes("Thank you"));
await show("order", "/order");
await show("card", "/card");
const references = asked.map((one) => one.split(" ")[1]).filter(Boolean);
log(`asked: ${asked.map((one) => one.split(" ")[0]).join(" ")}, ${new Set(references).size} reference`);
process.exit();
"#;

/// The shop reads only these two members of a decoded redirect.
const DECODER: &str = "export const decodeRedirect = () => ({ ok: {}, formId: undefined });";

// spec: 2 §7, A141: A payment whose credentials are refused is open, and nothing is sent for a while.
#[test]
fn after_refused_credentials_the_shop_sends_nothing_and_looks_up_later_what_may_be_paid() {
    let Some(node) = package::node() else { return };
    let folder = tempfile::tempdir().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/front-end");
    for file in ["gateway.mjs", "pages.mjs", "server.mjs"] {
        fs::copy(example.join(file), folder.path().join(file)).unwrap();
    }
    let decoder = folder.path().join("node_modules/pg-wasm");
    fs::create_dir_all(&decoder).unwrap();
    fs::write(decoder.join("index.mjs"), DECODER).unwrap();
    fs::write(decoder.join("package.json"), r#"{"exports": "./index.mjs"}"#).unwrap();
    let (closed, card) = ("We cannot take payments at the moment", "Your card, pay");
    for code in ["102", "105", "123"] {
        for paid in ["paid", "unpaid"] {
            let ran = Command::new(&node)
                .args(["--input-type=module", "--eval", SHOP, code, paid])
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert!(ran.status.success(), "{code} {paid}: {}", String::from_utf8_lossy(&ran.stderr));
            let last = if paid == "paid" { "" } else { " transaction/authSessionKey" };
            let expected = format!(
                "card: 200 {card}\npay: 303 /order\norder: 200 {closed}\ncard again: 303 /order\npay again: 303 /order\n\
                 stranger: 503 {closed}\nrequests: 2\nrequests: 2\nrequests: 3\norder: 200 Thank you, pay\n\
                 card: 200 {card}\nasked: session/initiate transaction/authSessionKey transaction/lookup \
                 transaction/lookup{last} session/initiate, 1 reference\n"
            );
            assert_eq!(String::from_utf8_lossy(&ran.stdout), expected, "{code} {paid}");
        }
    }
}
