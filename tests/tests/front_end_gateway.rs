//! What the gateway of `docs/examples/front-end` says about a payment after each error code, compared with the charge machine.

use std::{collections::BTreeMap, path::Path, process::Command};

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
const gateway = new Gateway({ baseUrl, apiKey: "a", apiPassword: "b", shaKey: "c" });
for (const code of codes) {
  const order = { item: code, pence: 499, reference: "order-1" };
  for (const again of [false, true]) {
    const { state, unlessFound } = await gateway.pay("session", order, { again });
    console.log([code, again, state, unlessFound?.state ?? "-"].join("|"));
  }
}
console.log(["found", (await gateway.find("order-1")).state].join("|"));
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
            (Remedy::FixCredentials, _) | (_, RefusalScope::Always) => ("not paid", "-"),
            (_, RefusalScope::FromNowOn) => ("open", "not paid"),
            _ => ("open", "-"),
        };
        // Of a payment that was sent before, wrong credentials prove nothing, and anything else needs a lookup.
        let again = match meaning.scope {
            RefusalScope::Always | RefusalScope::FromNowOn => ("open", "not paid"),
            _ => ("open", "-"),
        };
        for (is_again, expected) in [(false, first), (true, again)] {
            assert_eq!(said[&(code.as_str(), is_again)], expected, "{code}, again: {is_again}");
        }
    }
}
