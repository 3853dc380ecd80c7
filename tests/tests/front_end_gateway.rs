//! What the gateway of `docs/examples/front-end` says about a payment after each error code, compared with the charge
//! machine, and what its shop shows and sends after refused credentials.

use std::{collections::BTreeMap, fs, path::Path, process::Command};

use pg_model::{Remedy, dialect::RefusalScope};
use pg_tests::package;
use tempfile::TempDir;

/// Answers each payment with the status and error code in its `itemName0`, and each lookup with the payment of its reference.
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
    : { errorCode: form.get("itemName0").split(" ")[1], errorMessage: "No" };
  response.writeHead(reply.errorCode ? Number(form.get("itemName0").split(" ")[0]) : 200, { Connection: "close" }).end(JSON.stringify(reply));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
console.error = () => {};
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const open = () => new Gateway({ baseUrl, apiKey: "a", apiPassword: "b", shaKey: "c" });
for (const status of [400, 500]) {
  for (const code of codes) {
    const order = { item: `${status} ${code}`, pence: 499, reference: "order-1", sessionKey: "session" };
    for (const again of [false, true]) {
      const said = await open().pay(order, { again });
      console.log([status, code, again, said.state, said.unlessFound?.state ?? "-", said.again ?? "-"].join("|"));
    }
  }
}
console.log(["found", (await open().find({ pence: 499, reference: "order-1" })).state].join("|"));
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
            [status, code, again, state, unless, pause] => {
                said.insert((status, code, again == "true"), (state, unless, pause));
            }
            [_, state] => found = state.to_owned(),
            _ => panic!("{line}"),
        }
    }
    assert_eq!(found, "paid");
    let dialect = pg_sandbox::dialect();
    for code in &codes {
        let meaning = dialect.error_meaning(3, &code.as_str().into(), 400);
        // The reason may change, but a payment that was refused for it has used up its reference.
        let is_spent = ["111", "956"].contains(&code.as_str());
        let open = meaning.leaves_it_open || meaning.says_it_was_done;
        assert!(!is_spent || (meaning.known && meaning.spends_reference && !open), "{code}");
        // This code is about a transaction that a request names, and no payment of the shop names one.
        let is_about_another = *code == "943";
        let no_later_copy = meaning.scope == RefusalScope::FromNowOn || is_spent;
        let first = match (meaning.remedy, meaning.scope) {
            // The credentials may have been replaced after an earlier copy was paid.
            (Remedy::FixCredentials, _) => ("open", "-"),
            _ if is_about_another => ("open", "-"),
            (_, RefusalScope::Always) => ("not paid", "-"),
            _ if no_later_copy => ("open", "not paid"),
            _ => ("open", "-"),
        };
        // Of a payment that was sent before, no refusal proves anything without a lookup.
        let is_settled = !is_about_another && (no_later_copy || meaning.scope == RefusalScope::Always);
        let again = ("open", if is_settled { "not paid" } else { "-" });
        // A request that the service did not examine is sent again after a pause, and no other one that it refused.
        let unseen = [Remedy::FixCredentials, Remedy::WaitOneMinute, Remedy::WaitFiveMinutes].contains(&meaning.remedy);
        for (is_again, (state, unless)) in [(false, first), (true, again)] {
            let (said_state, said_unless, pause) = said[&("400", code.as_str(), is_again)];
            assert_eq!((said_state, said_unless), (state, unless), "{code}, again: {is_again}");
            assert_eq!(pause != "-", unseen, "{code}, again: {is_again}");
            // A failure of the service says nothing, so the payment is sent again; but not if the bank was asked.
            let (state, unless, pause) = said[&("500", code.as_str(), is_again)];
            assert_eq!((state, unless, pause != "-"), ("open", "-", code != "119"), "{code}, again: {is_again}");
        }
    }
}

/// Answers the payment and the lookup with these bodies.
const SHOWN: &str = r#"
import { createServer } from "node:http";
const { Gateway } = await import(process.argv[1]);
const row = { transactionStatusCode: "600", transactionStatus: "Approved", transactionType: "Auth", transactionKey: "key" };
const ours = { ...row, uniqueMerchantReference: "order-1", currency: "GBP", transactionValue: "499" };
const declined = { ...ours, transactionStatusCode: "901" };
let body;
const server = createServer((request, response) => {
  request.resume().on("end", () => response.writeHead(200, { Connection: "close" }).end(body));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
console.error = () => {};
const baseUrl = `http://127.0.0.1:${server.address().port}`;
const gateway = new Gateway({ baseUrl, apiKey: "a", apiPassword: "b", shaKey: "c" });
const order = { item: "Tea", pence: 499, reference: "order-1", sessionKey: "session" };
const pay = async (reply) => {
  body = typeof reply === "string" ? reply : JSON.stringify(reply);
  return (await gateway.pay(order)).state;
};
const find = (...rows) => findIn(JSON.stringify({ transactions: { ...rows } }));
const findIn = async (reply) => {
  body = reply;
  return (await gateway.find(order).catch(() => ({ state: "unreadable" })))?.state ?? "nothing";
};
const others = {
  reference: { uniqueMerchantReference: "order-2" },
  type: { transactionType: "PreAuth" },
  currency: { currency: "EUR" },
  amount: { transactionValue: "4990" },
  decimals: { transactionValue: "499.00" },
};
console.log("ours", await pay(ours), await find(ours), await find(declined));
console.log("bare", await pay(row), await find(row), await find({ ...row, currency: "", transactionValue: null }));
for (const [what, other] of Object.entries(others)) {
  const isPaid = [await pay({ ...ours, ...other }), await find({ ...ours, ...other })];
  console.log(what, ...isPaid, await pay({ ...declined, ...other }), await find({ ...declined, ...other }));
}
const number = (text) => JSON.stringify(ours).replace('"499"', text);
console.log("numbers", await pay(number("499")), await pay(number("499.00")));
console.log("several", await find(declined, { ...ours, ...others.amount }), await find(declined, ours), await find(ours, ours));
const refund = { ...row, transactionType: "Refund" };
console.log("rest", await find(ours, refund), await find(refund), await find({ ...declined, ...others.reference }, ours));
console.log("none", await find(), await findIn('{"transactions":[]}'));
const said = [];
for (const reply of ["{}", '{"transactions":null}', '{"transactions":""}', '{"transactions":[null]}']) said.push(await findIn(reply));
console.log("no list", ...said);
server.close();
"#;

// spec: 2 §4.3, §4.4: Only one payment with the order's reference, type, currency and amount settles the order.
#[test]
fn the_front_end_settles_an_order_only_by_one_payment_that_names_nothing_else() {
    let Some(node) = package::node() else { return };
    let gateway = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/front-end/gateway.mjs");
    let ran =
        Command::new(node).args(["--input-type=module", "--eval", SHOWN, gateway.to_str().unwrap()]).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let expected = "ours paid paid not paid\nbare paid paid paid\nreference open unreadable open unreadable\n\
                    type open open open open\ncurrency open open open open\namount open open open open\n\
                    decimals open open open open\nnumbers paid open\nseveral open open open\nrest paid open paid\nnone nothing nothing\n\
                    no list unreadable unreadable unreadable unreadable\n";
    assert_eq!(String::from_utf8_lossy(&ran.stdout), expected);
}

/// Starts the shop with a service that answers as `replyTo` says, or not at all, and visits it as a customer. The shop's
/// clock stands still until it is advanced.
const SHOP: &str = r#"
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

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
const approved = { transactionType: "Auth", transactionStatusCode: 600, transactionKey: "key" };
const refused = (errorCode) => ({ errorCode, errorMessage: "No", traceCode: "123456789" });
const service = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const form = new URLSearchParams(body);
  const method = request.url.split("/").slice(2, 4).join("/");
  asked.push(`${method} ${form.get("uniqueMerchantReference") ?? ""}`.trim());
  const reply = replyTo(method);
  if (!reply) return request.socket.destroy();
  response.writeHead(reply.errorCode ? 401 : 200, { Connection: "close" }).end(JSON.stringify(reply));
});
await new Promise((resolve) => service.listen(0, "127.0.0.1", resolve));
Object.assign(process.env, { PG_BASE_URL: `http://127.0.0.1:${service.address().port}`, PORT: "0" });
Object.assign(process.env, { PG_API_KEY: "a", PG_API_PASSWORD: "b", PG_SHA_KEY: "c" });
const errors = [];
console.error = (line) => errors.push(line);
const log = console.log;
const origin = await new Promise((resolve) => {
  console.log = resolve;
  import("./server.mjs");
});
console.log = log;

let cookie;
let formId;
let html;
const visit = async (path, options = {}) => {
  const headers = { Connection: "close", Origin: origin, ...(cookie && { Cookie: cookie }) };
  const reply = await fetch(origin + path, { headers, redirect: "manual", ...options });
  html = await reply.text();
  cookie ??= reply.headers.get("set-cookie")?.split(";")[0];
  formId = html.match(/name="formId" value="([^"]*)"/)?.[1] ?? formId;
  const shown = html.match(/<h1>(.*)<\/h1>/)?.[1] ?? reply.headers.get("location");
  return `${reply.status} ${shown}${/href|<form|<button/.test(html) ? ", pay" : ""}`;
};
const show = async (what, ...visited) => log(`${what}: ${await visit(...visited)}`);
const pay = { method: "POST" };
// A mistake of the shop ends this loop too.
const until = async (isDone) => {
  for (let visits = 0; visits < 1_000 && !isDone(await visit("/order")); visits++);
};
const list = () => {
  const references = asked.map((one) => one.split(" ")[1]).filter(Boolean);
  return `${asked.map((one) => one.split(" ")[0]).join(" ")}, ${new Set(references).size} reference`;
};
"#;

/// The service charges the first copy of a payment, and shows the refusal of the second one.
const REFUSED_CREDENTIALS: &str = r#"
const [code, paid] = process.argv.slice(1);
let isRefusing = true;
function replyTo(method) {
  if (isRefusing && asked.length > 1) return refused(code);
  const found = { transactions: paid === "paid" ? { 0: approved } : {} };
  return { "session/initiate": { sessionKey: "session" }, "transaction/authSessionKey": approved }[method] ?? found;
}
const count = () => log(`requests: ${asked.length}`);

await show("card", "/card");
await show("review", `/review?formId=${formId}`);
await show("pay", `/pay?formId=${formId}`, pay);
await show("order", "/order");
await show("card again", "/card");
await show("pay again", `/pay?formId=${formId}`, pay);
// Another customer, whose card is entered already.
const first = cookie;
cookie = undefined;
await show("stranger", "/card");
cookie = first;
const lookedUp = (before) => until(() => asked.length > before && waits.length > 0);
if (code === "123") {
  // One invalid signature may be that of a damaged request. Another request, a second later, finds out.
  advance(1_000);
  await lookedUp(2);
}
const before = asked.length;
count();
// Corrected too late for this lookup.
advance(599_999);
count();
advance(1);
await lookedUp(before);
count();
isRefusing = false;
advance(600_000);
await until((page) => page.includes("Thank you"));
await show("order", "/order");
await show("card", "/card");
log(`asked: ${list()}`);
process.exit();
"#;

/// The payment arrives damaged, and nothing else does.
const DAMAGED: &str = r#"
let isDamaged = true;
function replyTo(method) {
  if (method === "session/initiate") return { sessionKey: "session" };
  if (method === "transaction/lookup") return { transactions: {} };
  const reply = isDamaged ? refused("123") : approved;
  isDamaged = false;
  return reply;
}

await visit("/card");
await visit(`/review?formId=${formId}`);
await visit(`/pay?formId=${formId}`, pay);
await show("order", "/order");
advance(1_000);
await until((page) => waits.length > 0 || page.includes("Thank you"));
await show("order", "/order");
await show("card", "/card");
log(`asked: ${list()}`);
process.exit();
"#;

/// The first payment gets no reply, or this error. Then the lookups and the second payment are answered as listed, and after
/// that every lookup finds nothing.
const NO_REPLY: &str = r#"
const [first, found, second] = process.argv.slice(1);
const payments = [first === "none" ? undefined : refused(first), second === "600" ? approved : refused(second)];
function replyTo(method) {
  if (method === "session/initiate") return { sessionKey: "session" };
  if (method === "transaction/lookup") return { transactions: found === "found" ? { 0: approved } : {} };
  return payments.shift();
}

await visit("/card");
await visit(`/review?formId=${formId}`);
await visit(`/pay?formId=${formId}`, pay);
let steps = 0;
for (; steps < 15 && !/Thank you|Not paid/.test(await visit("/order")); steps++) {
  await until((page) => waits.length > 0 || /Thank you|Not paid/.test(page));
  advance(600_000);
}
await show("order", "/order");
const isLate = /ask us about order-[0-9a-f]{24}/.test(html);
const isTold = errors.some((line) => /^order-[0-9a-f]{24}: still open; ask the operator/.test(line));
log(`late: ${isLate}, told: ${isTold}`);
log(`asked: ${list().replace(/( transaction\/lookup){3,}/, " lookups")}`);
process.exit();
"#;

/// The shop reads only these two members of a decoded redirect.
const DECODER: &str = "export const decodeRedirect = (url) => ({ ok: {}, formId: url.searchParams.get('formId') });";

/// A folder with the shop and this decoder.
fn shop() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/examples/front-end");
    for file in ["gateway.mjs", "pages.mjs", "server.mjs"] {
        fs::copy(example.join(file), folder.path().join(file)).expect("a copy");
    }
    let decoder = folder.path().join("node_modules/pg-wasm");
    fs::create_dir_all(&decoder).expect("a folder");
    fs::write(decoder.join("index.mjs"), DECODER).expect("a file");
    fs::write(decoder.join("package.json"), r#"{"exports": "./index.mjs"}"#).expect("a file");
    folder
}

/// What this script about the shop prints.
fn play(node: &Path, folder: &TempDir, script: &str, arguments: &[&str]) -> String {
    let ran = Command::new(node)
        .args(["--input-type=module", "--eval", &format!("{SHOP}{script}")])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .expect("node runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

// spec: 2 §7, A141: A payment whose credentials are refused is open, and nothing is sent for a while.
#[test]
fn after_refused_credentials_the_shop_sends_nothing_and_looks_up_later_what_may_be_paid() {
    let Some(node) = package::node() else { return };
    let folder = shop();
    let (closed, card) = ("We cannot take payments at the moment", "Your card, pay");
    for code in ["102", "105", "123"] {
        for paid in ["paid", "unpaid"] {
            let last = if paid == "paid" { "" } else { " transaction/authSessionKey" };
            // After the first invalid signature one more request is sent.
            let (sent, more) = if code == "123" { (3, " transaction/lookup") } else { (2, "") };
            let then = sent + 1;
            let expected = format!(
                "card: 200 {card}\nreview: 200 Review your order, pay\npay: 303 /order\norder: 200 {closed}\ncard again: 303 /order\npay again: 303 /order\n\
                 stranger: 503 {closed}\nrequests: {sent}\nrequests: {sent}\nrequests: {then}\norder: 200 Thank you, pay\n\
                 card: 200 {card}\nasked: session/initiate transaction/authSessionKey{more} transaction/lookup \
                 transaction/lookup{last} session/initiate, 1 reference\n"
            );
            assert_eq!(play(&node, &folder, REFUSED_CREDENTIALS, &[code, paid]), expected, "{code} {paid}");
        }
    }
}

/// An invalid signature may be that of one damaged request, which the documents do not say.
#[test]
fn one_request_that_arrives_damaged_does_not_stop_the_shop() {
    let Some(node) = package::node() else { return };
    let expected = "order: 200 We cannot take payments at the moment\norder: 200 Thank you, pay\ncard: 200 Your card, pay\n\
                    asked: session/initiate transaction/authSessionKey transaction/lookup transaction/authSessionKey \
                    session/initiate, 1 reference\n";
    assert_eq!(play(&node, &shop(), DAMAGED, &[]), expected);
}

// spec: 2 §4.3, A92, A140: A payment without a reply is sent again under its reference, until that may be used up.
#[test]
fn a_payment_without_a_reply_is_sent_again_until_its_reference_may_be_used_up() {
    let Some(node) = package::node() else { return };
    let folder = shop();
    let (sent, look, lookups) = ("transaction/authSessionKey", "transaction/lookup", "lookups");
    let open = "200 We do not know yet";
    for (first, found, second, order, late, asked) in [
        // It never arrived.
        ("none", "nothing", "600", "200 Thank you, pay", false, format!("{sent} {look} {sent}")),
        ("none", "found", "600", "200 Thank you, pay", false, format!("{sent} {look}")),
        // Its session has expired, so no copy can arrive any more.
        ("none", "nothing", "136", "200 Not paid, pay", false, format!("{sent} {look} {sent} {look}")),
        // A copy of it arrived, and no lookup ever shows it.
        ("none", "nothing", "950", open, true, format!("{sent} {look} {sent} {lookups}")),
        ("950", "nothing", "600", open, true, format!("{sent} {lookups}")),
        ("119", "nothing", "600", open, true, format!("{sent} {lookups}")),
        ("956", "nothing", "600", "200 Not paid, pay", false, format!("{sent} {look}")),
    ] {
        let expected =
            format!("order: {order}\nlate: {late}, told: {late}\nasked: session/initiate {asked}, 1 reference\n");
        assert_eq!(play(&node, &folder, NO_REPLY, &[first, found, second]), expected, "{first} {found} {second}");
    }
}

/// Its policy allows the redirect after the card form to its own address only, and the cookie belongs to that one.
#[test]
fn under_another_name_for_this_machine_the_shop_leads_to_its_own_address() {
    let Some(node) = package::node() else { return };
    let script = r#"
const { request } = await import("node:http");
const asks = (method) => new Promise((resolve) => request(origin + "/card", { method, headers: { Host: "localhost" } }, resolve).end());
for (const method of ["GET", "POST"]) {
  const { statusCode, headers } = await asks(method);
  log(statusCode, headers.location === `${origin}/`, headers["set-cookie"], asked.length);
}
process.exit();
"#;
    let printed = play(&node, &shop(), &format!("const replyTo = () => ({{}});{script}"), &[]);
    assert_eq!(printed, "303 true undefined 0\n303 true undefined 0\n");
}

/// Such as fields that are hidden in the form.
#[test]
fn the_card_page_says_the_errors_of_fields_without_an_input_too() {
    let Some(node) = package::node() else { return };
    let folder = shop();
    let script = r#"
const { cardPage } = await import("./pages.mjs");
const said = { "<b>": { errorMessage: "Too long" }, cardCV2: { errorMessage: "Wrong" } };
log(cardPage({ action: "", hidden: {}, errors: said }));
process.exit();
"#;
    let page = play(&node, &folder, &format!("const replyTo = () => ({{}});{script}"), &[]);
    for said in
        ["<p>&lt;b&gt;: Too long</p>", r#"<em id="cardCV2-error">Wrong</em>"#, "<title>Error: Your card</title>"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
}
