//! The program in README.md: its text and its behaviour.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use bytes::Bytes;
use http::Request;
use pg_hyper::{DurableFile, Transport as _};
use pg_model::{Auth, CardDetails, Encoding};
use pg_tests::{
    ledger,
    shop::{Shop, order},
};

use program::pay;

#[allow(dead_code, unreachable_pub, reason = "an example of its own")]
#[path = "../examples/first_payment.rs"]
mod program;

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
