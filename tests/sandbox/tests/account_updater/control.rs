//! Batches and callbacks in the control interface.

use http::Method;
use serde_json::{Value, json};

use crate::account_updater::{A, Desk, HOOK, PLAIN};

fn column(list: &Value, name: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
}

#[test]
fn batches_are_listed_newest_first_and_shown_masked() {
    let mut desk = Desk::new();
    let (a, plain) = (desk.token(A, "c"), desk.token(PLAIN, "c"));
    let mut batches: Vec<String> = (0..5).map(|_| desk.request(&[&a, &plain], HOOK)).collect();
    batches.reverse();
    let (_, all) = desk.get("batches");
    assert_eq!(column(&all, "batchKey"), batches);
    let (_, page) = desk.get(&format!("batches?limit=2&before={}", batches[1]));
    assert_eq!(column(&page, "batchKey"), batches[2..4]);
    assert_eq!(all[0]["status"], "pending");
    desk.wait(120);
    let (_, shown) = desk.get(&format!("batches/{}", batches[0]));
    assert_eq!(shown["responses"], json!({ "700": 1, "706": 1 }));
    assert_eq!(
        (&shown["status"], &shown["cards"], &shown["merchant"], &shown["encoding"], &shown["callbackUrl"]),
        (&json!("finished"), &json!(2), &json!("main"), &json!("json"), &json!(HOOK))
    );
    assert_eq!((&shown["created"], &shown["due"]), (&json!("2026-05-04T10:00:00Z"), &json!("2026-05-04T10:02:00Z")));
    assert_eq!(shown["entries"][0]["cardNumber"], "400000******9003");
    assert_eq!(shown["entries"][1], json!({ "oldCardKey": plain, "response": "706" }));
    assert_eq!(desk.get("batches/none").0, 404);
    assert_eq!(desk.get("batches?limit=0").0, 400);
    assert_eq!(desk.control(Method::POST, "batches", "").0, 405);
    assert_eq!(desk.get(&format!("batches/{}/spoil", batches[0])).0, 405);
}

#[test]
fn callbacks_are_listed_newest_first_and_shown_with_what_they_say() {
    let mut desk = Desk::new();
    let key = desk.token(A, "c");
    for number in 0..3 {
        desk.request(&[&key], &format!("{HOOK}/{number}?card=4111111111111111"));
        desk.wait(120);
        desk.due();
    }
    let (_, all) = desk.get("callbacks");
    let ids = column(&all, "id");
    assert_eq!(ids.len(), 3);
    assert_eq!(all[0]["url"], format!("{HOOK}/2?card=411111******1111"));
    let (_, page) = desk.get(&format!("callbacks?limit=1&before={}", ids[0]));
    assert_eq!(column(&page, "id"), ids[1..2]);
    let (_, shown) = desk.get(&format!("callbacks/{}", ids[0]));
    let said = shown["body"].as_str().unwrap();
    assert!(said.contains("400000******9003") && !said.contains("4000000000009003"), "{said}");
    assert_eq!(shown["bodyBytes"], said.len());
    assert!(all[0].get("body").is_none());
    assert_eq!(desk.get("callbacks/none").0, 404);
    assert_eq!(desk.get("callbacks?limit=x").0, 400);
    assert_eq!(desk.control(Method::POST, &format!("callbacks/{}", ids[0]), "").0, 405);
}

#[test]
fn callbacks_are_listed_and_deleted() {
    let mut desk = Desk::new();
    desk.tell("callbacks/behaviour", r#"{"kind": "late", "seconds": 60, "times": 2}"#);
    let told = desk.tell("callbacks/behaviour", r#"{"kind": "fail"}"#);
    let expected = json!([{ "kind": "late", "seconds": 60, "times": 2 }, { "kind": "fail", "times": 1 }]);
    assert_eq!(told, expected);
    assert_eq!(desk.get("callbacks/behaviour").1, expected);
    assert_eq!(desk.control(Method::DELETE, "callbacks/behaviour", "").1, json!([]));
    let (status, wrong) = desk.control(Method::POST, "callbacks/behaviour", "{}");
    assert!(status == 400 && wrong["error"].is_string(), "{wrong}");
    assert_eq!(desk.control(Method::PUT, "callbacks/behaviour", "").0, 405);
}

#[test]
fn a_callback_cannot_turn_the_sandboxs_own_switches() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    desk.request(&[&key], "http://127.0.0.1:8480/_sandbox/clock");
    desk.wait(120);
    let outgoing = desk.due().remove(0);
    let response = desk.handle(outgoing.request);
    assert_eq!(response.status(), 403);
}
