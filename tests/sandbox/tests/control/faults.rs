//! Calls that go wrong in the way that was asked for.

use std::time::Duration;

use http::Method;
use pg_sandbox::ResponseDelivery;
use serde_json::json;

use crate::control::Shop;

#[test]
fn a_dropped_request_changes_nothing_and_a_dropped_reply_everything() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "transaction/auth", "kind": "drop-request"}"#);
    let dropped = shop.pay(100, "lost");
    assert_eq!((dropped.disposition, &*dropped.text), (ResponseDelivery::Close, ""));
    assert_eq!(shop.paid("lost"), 0);

    shop.fault(r#"{"method": "transaction/auth", "kind": "drop-reply"}"#);
    let silent = shop.pay(100, "silent");
    assert_eq!((silent.disposition, &*silent.text), (ResponseDelivery::Close, ""));
    assert!(!silent.headers.contains_key("pg-basis"));
    assert_eq!(shop.paid("silent"), 1);
    assert_eq!(shop.pay(100, "well").disposition, ResponseDelivery::Send);
}

#[test]
fn a_delay_tells_the_driver_how_long_to_hold_the_reply() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "transaction/auth", "kind": "delay", "delaySeconds": 2.5}"#);
    let late = shop.pay(100, "late");
    assert_eq!(late.disposition, ResponseDelivery::SendAfter(Duration::from_millis(2500)));
    assert_eq!((late.status, late.json()["transactionStatusCode"].as_str()), (200, Some("600")));
}

// spec: codes SandboxErrorCode 998
#[test]
fn a_status_comes_in_the_shape_of_its_service_and_nothing_is_carried_out() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "*", "kind": "status", "status": 503, "times": 2}"#);
    let answer = shop.pay(100, "refused");
    assert_eq!((answer.status, &answer.json()["errorCode"]), (503, &json!("998")));
    let answer = shop.ask(Method::POST, "/enterprise/gettoken", "api_key=x");
    assert_eq!(answer.status, 503);
    assert!(answer.text.contains("<errorcode>998</errorcode>"), "{}", answer.text);
    assert_eq!(shop.paid("refused"), 0);
}

#[test]
fn a_garbled_reply_is_neither_json_nor_xml_but_the_payment_is_there() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "transaction/auth", "kind": "garble"}"#);
    let garbled = shop.pay(100, "garbled");
    assert_eq!((garbled.status, garbled.disposition), (200, ResponseDelivery::Send));
    assert!(garbled.text.starts_with("{\"") && garbled.text.contains('\u{fffd}'), "{}", garbled.text);
    assert_eq!(shop.paid("garbled"), 1);
}

#[test]
fn a_duplicate_is_carried_out_twice_and_the_second_reply_comes() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "transaction/auth", "kind": "duplicate"}"#);
    shop.pay(100, "twice");
    assert_eq!(shop.paid("twice"), 2);

    let unique = [("uniqueMerchantReference", "once")];
    let order = crate::control::order("100", "guarded");
    shop.fault(r#"{"method": "transaction/auth", "kind": "duplicate"}"#);
    let second = shop.call("transaction/auth", &[&order[..], &unique[..]].concat());
    assert_eq!(second.status, 400, "{second:?}");
    assert_eq!(shop.paid("guarded"), 1);
}

#[test]
fn faults_are_met_in_their_order_and_counted() {
    let mut shop = Shop::new();
    let first = shop.fault(r#"{"method": "transaction/auth", "kind": "status", "times": 2}"#);
    shop.fault(r#"{"method": "*", "kind": "status", "status": 429}"#);
    let left = |shop: &mut Shop| {
        let list = shop.control("faults", "").json();
        list.as_array().unwrap().iter().map(|fault| fault["remaining"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(left(&mut shop), [2, 1]);
    assert_eq!(shop.call("token/lookup", &[]).status, 429);
    assert_eq!(left(&mut shop), [2, 0]);
    let statuses: Vec<u16> = (0..3).map(|_| shop.pay(1, "counted").status).collect();
    assert_eq!(statuses, [500, 500, 200]);
    assert_eq!(left(&mut shop), [0, 0]);
    assert_eq!(
        first,
        json!({
            "id": first["id"], "method": "transaction/auth", "kind": "status", "status": 500,
            "times": 2, "remaining": 2, "created": "2026-05-04T10:00:00Z",
        })
    );
}

#[test]
fn faults_are_removed_one_by_one_or_all_at_once() {
    let mut shop = Shop::new();
    let id = shop.fault(r#"{"method": "*", "kind": "status"}"#)["id"].as_str().unwrap().to_owned();
    shop.fault(r#"{"method": "*", "kind": "garble"}"#);
    shop.fault(r#"{"method": "*", "kind": "delay", "milliseconds": 1}"#);
    let path = format!("/_sandbox/faults/{id}");
    assert_eq!(shop.ask(Method::DELETE, &path, "").json(), json!({ "removed": 1 }));
    assert_eq!(shop.ask(Method::DELETE, &path, "").status, 404);
    assert_eq!(shop.ask(Method::GET, &path, "").status, 405);
    assert_eq!(shop.control("faults", "").json().as_array().unwrap().len(), 2);
    assert_eq!(shop.ask(Method::DELETE, "/_sandbox/faults", "").json(), json!({ "removed": 2 }));
    assert_eq!(shop.control("faults", "").json(), json!([]));
    assert_eq!(shop.pay(1, "well").status, 200);
}

#[test]
fn faults_are_limited_and_spent_ones_make_room() {
    let mut shop = Shop::new();
    let lookup = r#"{"method": "token/lookup", "kind": "status"}"#;
    let auth = r#"{"method": "transaction/auth", "kind": "status"}"#;
    for _ in 0..256 {
        shop.fault(lookup);
    }
    let answer = shop.control("faults", auth);
    assert!(answer.status == 400 && answer.text.contains("256"), "{answer:?}");
    shop.call("token/lookup", &[]);
    shop.fault(auth);
    let list = shop.control("faults", "").json();
    assert!(list.as_array().unwrap().iter().all(|fault| fault["remaining"] == 1));
    assert_eq!(shop.control("faults", lookup).status, 400);
}

#[test]
fn faults_and_their_counts_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut shop = Shop::in_file(&path);
    shop.fault(r#"{"method": "transaction/auth", "kind": "drop-reply", "times": 3}"#);
    shop.pay(100, "silent");
    drop(shop);
    let mut shop = Shop::in_file(&path);
    assert_eq!(shop.control("faults", "").json()[0]["remaining"], 2);
    assert_eq!(shop.paid("silent"), 1);
    assert_eq!(shop.pay(100, "silent").disposition, ResponseDelivery::Close);
    assert_eq!(shop.paid("silent"), 2);
}

#[test]
fn faults_do_not_apply_to_the_control_interface() {
    let mut shop = Shop::new();
    shop.fault(r#"{"method": "*", "kind": "drop-request", "times": 1000}"#);
    assert_eq!(shop.control("clock", "").status, 200);
    assert_eq!(shop.ask(Method::GET, "/session-error", "").status, 400);
    assert_eq!(shop.control("faults", "").json()[0]["remaining"], 1000);
}
