//! The program in README.md and the refund in docs/guide/first-payment.md: their text and their behaviour.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::TcpListener;

use bytes::Bytes;
use http::Request;
use pg_hyper::{Client, DurableFile, Transport as _};
use pg_model::{Auth, CardDetails, Encoding, Outcome, TransactionKey};
use pg_tests::{
    clocks, ledger,
    shop::{Shop, account_at, order},
};

use program::pay;
use refund::refund;

#[allow(dead_code, unreachable_pub, reason = "an example of its own")]
#[path = "../examples/first_payment.rs"]
mod program;
#[allow(unreachable_pub, reason = "shown in a guide")]
mod refund;

/// The card of the program, which is approved.
const CARD: &str = "4000000000001000";

#[test]
fn the_readme_shows_the_program_that_is_tested() {
    let page = include_str!("../../README.md");
    let shown = page.split("```rust,no_run\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let program = include_str!("../examples/first_payment.rs");
    assert!(shown.starts_with("use std::") && program.ends_with(&format!("\n\n{shown}")), "they differ");
    assert!(page.find("client.charge(payment)").unwrap() < page.find("client.call(").unwrap(), "the safe way first");
}

#[test]
fn the_guide_shows_the_refund_that_is_tested() {
    let page = include_str!("../../docs/guide/first-payment.md");
    let shown = page.split("```rust,no_run\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    assert!(include_str!("first_payment/refund.rs").ends_with(&format!("\n\n{shown}")), "they differ");
}

#[tokio::test]
async fn the_program_pays_once_however_often_it_runs_and_stores_before_it_sends() {
    let shop = Shop::open(Encoding::Json).await;
    let folder = tempfile::tempdir().unwrap();
    let file = DurableFile::new(folder.path().join("order-7.json"));
    let base = shop.server.base_url();

    // Kills the program while it waits for the reply, which is delayed by an hour.
    shop.control("faults", r#"{"method": "transaction/auth", "kind": "delay", "delaySeconds": 3600}"#).await;
    let running = tokio::spawn({
        let (base, file) = (base.clone(), file.clone());
        async move { pay(&base, CARD, file).await.map_err(|error| error.to_string()) }
    });
    while ledger::under(&shop.client, "order-7").await.is_empty() {
        assert!(!running.is_finished());
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert!(file.saved().unwrap().unwrap().text().contains("order-7"), "what the next run goes on from");

    for _ in 0..2 {
        pay(&base, CARD, file.clone()).await.unwrap();
        assert_eq!(file.saved().unwrap(), None);
        let [paid] = &ledger::under(&shop.client, "order-7").await[..] else { panic!("not one payment") };
        assert_eq!(paid.transaction_status_code, "600");
    }
}

#[tokio::test]
async fn after_an_unknown_outcome_the_program_looks_up_and_does_not_pay_again() {
    let shop = Shop::open(Encoding::Json).await;
    let folder = tempfile::tempdir().unwrap();
    let file = DurableFile::new(folder.path().join("order-7.json"));
    // Another payment has this reference, so that the outcome is unknown at once.
    let other = Auth::new(CardDetails::new(CARD, "12", "49"), order("order-7", 1));
    assert!(shop.client.call(&other).await.unwrap().is_approved());
    for run in 1..=2 {
        pay(&shop.server.base_url(), CARD, file.clone()).await.unwrap();
        assert!(file.saved().unwrap().is_some(), "run {run} keeps the state");
    }
    let request = Request::get(format!("{}/_sandbox/requests", shop.server.base_url())).body(Bytes::new()).unwrap();
    let journal = shop.client.transport().send(request).await.unwrap();
    let journal = String::from_utf8_lossy(journal.body()).into_owned();
    assert_eq!(
        journal.matches(r#""transaction/auth""#).count(),
        2,
        "the other payment, and that of the first run: {journal}"
    );
}

#[tokio::test]
async fn a_decline_is_certain_and_the_program_forgets_the_charge() {
    let program = include_str!("../examples/first_payment.rs");
    assert!(program.contains(CARD) && program.contains("// With 4000000000002008 the sandbox declines."));
    let shop = Shop::open(Encoding::Json).await;
    let folder = tempfile::tempdir().unwrap();
    let file = DurableFile::new(folder.path().join("order-7.json"));
    pay(&shop.server.base_url(), "4000000000002008", file.clone()).await.unwrap();
    assert_eq!(file.saved().unwrap(), None, "an unknown outcome would keep the file");
    let [declined] = &ledger::under(&shop.client, "order-7").await[..] else { panic!("not one payment") };
    assert_eq!(declined.transaction_status_code, "901");
}

/// A client whose pauses take no time.
fn patient(base: &str) -> Client {
    Client::builder(account_at(base, "main")).unwrap().clock(clocks::leaping()).build()
}

/// Of a payment of this amount in pence.
async fn paid(shop: &Shop, pence: u64) -> TransactionKey {
    let payment = Auth::new(CardDetails::new(CARD, "12", "49"), order("order-7", pence));
    let Outcome::Approved(paid) = shop.client.call(&payment).await.unwrap() else { panic!("not paid") };
    paid.transaction_key.as_str().into()
}

#[tokio::test]
async fn a_refund_that_was_not_sent_is_sent_by_the_next_run_and_by_none_after_it() {
    let shop = Shop::open(Encoding::Json).await;
    let paid = paid(&shop, 499).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| DurableFile::new(folder.path().join(name));
    let run = async |client: &Client| {
        refund(client, paid.clone(), file("refund-7-1.txt"), file("refund-7-1.json")).await.unwrap()
    };

    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let down = patient(&format!("http://{closed}"));
    assert_eq!([run(&down).await, run(&down).await], ["not sent", "not sent"]);

    let client = patient(&shop.server.base_url());
    let refunded = run(&client).await;
    assert!(refunded.starts_with("refunded: "), "{refunded}");
    // The second one without a service: it sends nothing.
    assert_eq!([run(&client).await, run(&down).await], [refunded.clone(), refunded]);
    assert_eq!(file("refund-7-1.json").saved().unwrap(), None);
    assert_eq!(ledger::under(&shop.client, "refund-7-1").await.len(), 1);
}

#[tokio::test]
async fn a_refund_with_a_lost_reply_stays_unknown_and_is_not_sent_again() {
    let shop = Shop::open(Encoding::Json).await;
    let paid = paid(&shop, 499).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| DurableFile::new(folder.path().join(name));
    shop.control("faults", r#"{"method": "transaction/refund", "kind": "drop-request"}"#).await;
    let client = patient(&shop.server.base_url());
    for _ in 0..2 {
        let outcome = refund(&client, paid.clone(), file("refund-7-1.txt"), file("refund-7-1.json")).await.unwrap();
        assert!(outcome.starts_with("unknown: "), "{outcome}");
        assert!(file("refund-7-1.json").saved().unwrap().is_some() && !file("refund-7-1.txt").path().exists());
    }
    // The first request did not arrive, and no run sent another one.
    assert!(ledger::under(&shop.client, "refund-7-1").await.is_empty());
}

#[tokio::test]
async fn a_refund_that_the_service_refuses_has_ended() {
    let shop = Shop::open(Encoding::Json).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| DurableFile::new(folder.path().join(name));
    let client = patient(&shop.server.base_url());
    let unknown = || TransactionKey::from("0123456789abcdef0123456789abcdef");
    let run = async || refund(&client, unknown(), file("refund-7-1.txt"), file("refund-7-1.json")).await.unwrap();
    let refused = run().await;
    assert!(refused.starts_with("refused, not executed: "), "{refused}");
    assert_eq!(run().await, refused);
    assert_eq!(file("refund-7-1.json").saved().unwrap(), None);
}
