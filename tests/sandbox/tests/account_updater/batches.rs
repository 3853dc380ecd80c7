//! Batches from the request to the result (spec 1 §3.2, §4.8, §4.9).

use pg_model::{AccountUpdaterBatch, decode_as};
use serde_json::json;

use crate::account_updater::{A, Desk, MONTH, PLAIN};

// spec: 1 §1, A73: The account updater takes a list of card keys, processes it as a batch, and returns updated cards.
// spec: 1 §2.4, A73: A batch is processed 2 minutes later on the sandbox's clock.
// spec: 1 §4.9: Updated cards are returned once the batch has finished; before, 182.
// spec: 1 §8 Limits: The simulator processes a batch in 2 minutes.
// spec: 1 §3.2; method token/requestAccountUpdater; codes ErrorCode 182
#[test]
fn a_batch_is_pending_for_two_minutes_and_finished_from_then_on() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    let batch = desk.request(&[&key], "");
    assert!(batch.len() == 32 && batch.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{batch}");
    for seconds in [0, 60, 59] {
        desk.wait(seconds);
        let pending = desk.refused("token/retrieveAccountUpdater", &[("batchKey", &batch)]);
        assert_eq!(pending, ("182".to_owned(), "Account updater batch is still pending".to_owned()));
    }
    desk.wait(1);
    let finished = desk.retrieve(&batch);
    let expected = json!({
        "batchKey": batch,
        "createdOn": "2026-05-04T10:00:00+00:00",
        "cardKeyDetails": [{ "oldCardKey": key, "response": "706" }],
    });
    assert_eq!(finished, expected);
    desk.wait(86_400);
    assert_eq!(desk.retrieve(&batch), expected);
}

// spec: 1 §2.1: The account updater's list is an array in JSON.
// spec: 1 §2.1, A66, A131: cardUniqueIdentifier identifies a card: a number in the lookup, a string in the result of
//   the updater.
// spec: 1 §2.2, A75: createdOn is an ISO 8601 time with a UTC offset.
// spec: 1 §6: The result can be retrieved at any time.
// spec: 1 §3.2; method token/retrieveAccountUpdater
#[test]
fn xml_and_json_say_the_same() {
    let mut desk = Desk::new();
    let keys = [desk.token(A, "c"), desk.token(MONTH, ""), desk.token(PLAIN, "")];
    let batch = desk.request(&[&keys[0], &keys[1], &keys[2]], "");
    desk.wait(120);
    let pairs = [("batchKey", batch.as_str())];
    let (status, xml) = desk.call("token/retrieveAccountUpdater", &pairs, true);
    assert_eq!(status, 200);
    assert!(xml.contains("<cardKeyDetails><cardKeyDetail><oldCardKey>"), "{xml}");
    let (_, json) = desk.call("token/retrieveAccountUpdater/json", &pairs, true);
    // cardUniqueIdentifier is a text in this reply (spec 1 §2.1).
    assert!(json.contains(r#""cardUniqueIdentifier":""#), "{json}");
    let [from_xml, from_json] =
        [&xml, &json].map(|text| decode_as(text.as_bytes(), AccountUpdaterBatch::default()).unwrap().record);
    assert_eq!(from_xml, from_json);
    let responses: Vec<&str> = from_xml.card_key_details.iter().map(|entry| entry.response.as_str()).collect();
    assert_eq!(responses, ["700", "702", "706"]);
}

// spec: 1 §5, A28: retrieveAccountUpdater needs a signature like every method, unless the account is exempt.
#[test]
fn the_result_is_retrieved_with_a_signature_and_without_one_where_the_account_may() {
    for lenient in [false, true] {
        let mut desk = Desk::with(|merchant| merchant.unsigned_retrieval = lenient);
        let key = desk.token(PLAIN, "c");
        let batch = desk.request(&[&key], "");
        desk.wait(120);
        for (sign, wanted) in [(true, 200), (false, if lenient { 200 } else { 401 })] {
            let (status, text) = desk.call("token/retrieveAccountUpdater/json", &[("batchKey", &batch)], sign);
            assert_eq!(status, wanted, "{text}");
        }
    }
    let mut desk = Desk::with(|merchant| merchant.unsigned_retrieval = true);
    let key = desk.token(PLAIN, "c");
    let batch = desk.request(&[&key], "");
    let forged = [("batchKey", batch.as_str()), ("shaSignature", "0")];
    let (status, text) = desk.call("token/retrieveAccountUpdater/json", &forged, false);
    assert!(status == 401 && text.contains(r#""errorCode":"123""#), "{status} {text}");
    let updater = desk.updater_key();
    let request = [("accountUpdaterKey", updater.as_str()), ("cardKey", &key)];
    let (_, text) = desk.call("token/requestAccountUpdater/json", &request, false);
    assert!(text.contains(r#""errorCode":"123""#), "{text}");
}

// spec: 1 §3.2
#[test]
fn a_frozen_clock_keeps_it_pending_and_a_turned_one_finishes_it() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    desk.tell("clock", r#"{"speed": 0}"#);
    let batch = desk.request(&[&key], "");
    desk.wait(86_400);
    assert_eq!(desk.refused("token/retrieveAccountUpdater", &[("batchKey", &batch)]).0, "182");
    assert!(desk.due().is_empty());
    assert!(pg_stores::rests(&desk.sandbox, desk.now));
    desk.tell("clock", r#"{"advanceSeconds": 120}"#);
    desk.retrieve(&batch);

    desk.tell("clock", r#"{"speed": 60}"#);
    let second = desk.request(&[&key], "");
    assert_eq!(desk.sandbox.next_due(), Some(desk.now.plus(std::time::Duration::from_secs(2))));
    desk.wait(2);
    desk.retrieve(&second);
}

// spec: 1 §2.4, A73
#[test]
fn a_batch_is_processed_at_its_time_whenever_it_is_retrieved() {
    let mut desk = Desk::new();
    let (early, late) = (desk.token(A, "c"), desk.token(MONTH, "c"));
    let batch = desk.request(&[&early, &late], "");
    desk.wait(60);
    desk.done("token/delete", &[("cardKey", &early)]);
    desk.wait(3_600);
    // The first to ask is the one that deletes; the batch was due long before.
    desk.done("token/delete", &[("cardKey", &late)]);
    let entries = desk.retrieve(&batch)["cardKeyDetails"].clone();
    assert_eq!(entries[0], json!({ "oldCardKey": early, "response": "703" }));
    assert_eq!(entries[1]["response"], "702");
}
