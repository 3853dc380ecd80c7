//! The account updater where it needs more than requests and answers: a full batch, and a store that
//! fails.

use std::time::Duration;

use super::{failing_store::failing, *};
use crate::{
    cards,
    records::{Batch, Callback},
    store::Query,
};

/// Creates tokens of this many cards, each with another number.
fn tokens(sandbox: &mut Sandbox, count: u64) -> Vec<String> {
    sandbox.store.begin().unwrap();
    let mut keys = Vec::new();
    for number in 0..count {
        let start = format!("411111{number:09}");
        let number = (0..10).map(|digit| format!("{start}{digit}")).find(|number| cards::luhn_valid(number)).unwrap();
        let key = sandbox.keys.card(now());
        let card = HeldCard::seal(&sandbox.vault, sandbox.keys.dice(), &key, &number, ("12", "2030"));
        let token = CardToken {
            key: key.clone(),
            merchant: "main".to_owned(),
            unique_identifier: sandbox.vault.card_identifier("main", &number),
            customer_reference: None,
            enabled: true,
            card,
            details: Details::new(),
            parent: None,
            created: now(),
        };
        let mut records = Transaction::new(&mut *sandbox.store);
        records.put(&token).unwrap();
        records.keep().unwrap();
        keys.push(key);
    }
    sandbox.store.commit().unwrap();
    keys
}

fn request_batch(sandbox: &mut Sandbox, keys: &[String]) -> String {
    let main = account("main");
    let updater = main.account_updater_key.as_ref().unwrap().expose();
    let pairs =
        [("accountUpdaterKey", updater), ("cardKey", &keys.join(",")), ("callbackUrl", "http://127.0.0.1:9/hook")];
    let (status, text) = post(sandbox, "/v3/token/requestAccountUpdater/json", signed(&main, &pairs));
    assert_eq!(status, 200, "{text}");
    let answer: Value = serde_json::from_str(&text).unwrap();
    answer["batchKey"].as_str().unwrap().to_owned()
}

fn after(seconds: u64) -> Timestamp {
    now().plus(Duration::from_secs(seconds))
}

// spec: 1 §8 Limits: A request has up to 5,000 card keys, each once.
// spec: 1 §4.8, A70
#[test]
fn a_batch_holds_5_000_cards() {
    let mut sandbox = empty();
    let keys = tokens(&mut sandbox, 5_000);
    let batch = request_batch(&mut sandbox, &keys);
    let due = sandbox.due(after(120));
    let said: Value = serde_json::from_slice(due[0].request.body()).unwrap();
    assert_eq!(said["batchKey"], batch);
    let entries = said["cardKeyDetails"].as_array().unwrap();
    let told: Vec<&str> = entries.iter().map(|entry| entry["oldCardKey"].as_str().unwrap()).collect();
    assert_eq!(told, keys);
    assert!(entries.iter().all(|entry| entry["response"] == "706"));
    let main = account("main");
    let retrieve =
        request(Method::POST, "/v3/token/retrieveAccountUpdater/json", signed(&main, &[("batchKey", &batch)]));
    let response = sandbox.handle(after(120), retrieve);
    assert_eq!(response.body(), due[0].request.body());
}

#[test]
fn a_failed_write_changes_nothing_and_is_retried_later() {
    let (mut sandbox, key) = failing(1);
    request_batch(&mut sandbox, &[key]);
    assert!(sandbox.due(after(120)).is_empty());
    assert_eq!(sandbox.next_due(), Some(after(121)));
    assert!(sandbox.due(after(120)).is_empty());
    let mut records = Transaction::new(&mut *sandbox.store);
    assert!(!records.find::<Batch>(&Query::newest(1)).unwrap()[0].finished);
    assert!(records.find::<Callback>(&Query::newest(1)).unwrap().is_empty());
}

#[test]
fn a_delivery_that_cannot_be_noted_is_not_repeated() {
    let (mut sandbox, key) = failing(2);
    request_batch(&mut sandbox, &[key]);
    let due = sandbox.due(after(120));
    sandbox.delivered(after(120), &due[0].id, Ok(StatusCode::OK));
    assert!(sandbox.due(after(3_600)).is_empty());
}

#[test]
fn a_callback_to_a_forbidden_address_fails() {
    let mut sandbox = empty();
    let key = token(&mut sandbox, "main");
    request_batch(&mut sandbox, &[key]);
    Arc::make_mut(&mut sandbox.settings).outgoing.this_machine = false;
    // Over a shared store it is left to the other processes for a minute.
    for seconds in [120, 240] {
        assert!(sandbox.due(after(seconds)).is_empty());
        assert!(rests(&sandbox, after(seconds)));
    }
    let (_, callbacks) = get(&mut sandbox, "/_sandbox/callbacks");
    assert_eq!(callbacks[0]["status"], "failed");
    let reason = "the URL is not allowed for callbacks: callbacks to this machine are disabled";
    assert_eq!(callbacks[0]["lastResult"]["error"], reason);
}
