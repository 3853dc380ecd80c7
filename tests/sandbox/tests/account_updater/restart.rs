//! What is pending outlives the process.

use serde_json::json;

use crate::account_updater::{A, Desk, HOOK, PLAIN, body};

// spec: 1 §3.2
#[test]
fn pending_batches_and_callbacks_are_taken_up_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut desk = Desk::in_file(&path, 1);
    let (a, plain) = (desk.token(A, "c"), desk.token(PLAIN, "c"));
    desk.tell("cards/updater", &json!({ "cardNumber": PLAIN, "response": "705" }).to_string());
    desk.tell("callbacks/behaviour", r#"{"kind": "twice"}"#);
    let batch = desk.request(&[&a, &plain], HOOK);
    let now = desk.now;
    drop(desk);

    // The batch is worked off by the next process.
    let mut desk = Desk::in_file(&path, 2);
    desk.now = now;
    assert!(desk.due().is_empty());
    desk.wait(120);
    let first = desk.due().remove(0);
    let now = desk.now;
    drop(desk);

    // It is unknown whether the first delivery arrived: it is sent again, and then once more.
    let mut desk = Desk::in_file(&path, 3);
    desk.now = now;
    let again = desk.deliver(200);
    assert_eq!((&again.id, body(&again)), (&first.id, body(&first)));
    drop(desk);

    let mut desk = Desk::in_file(&path, 4);
    desk.now = now;
    desk.deliver(200);
    assert!(desk.due().is_empty());
    let entries = desk.retrieve(&batch)["cardKeyDetails"].clone();
    assert_eq!((&entries[0]["response"], &entries[1]["response"]), (&json!("700"), &json!("705")));
    assert_eq!(desk.get("callbacks/behaviour").1, json!([]));
}

#[test]
fn no_card_number_reaches_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    let mut desk = Desk::in_file(&path, 1);
    let a = desk.token(A, "c");
    desk.tell("cards/updater", &json!({ "cardNumber": A, "response": "707" }).to_string());
    desk.request(&[&a], HOOK);
    desk.wait(120);
    desk.deliver(200);
    drop(desk);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        for number in [A, crate::account_updater::B] {
            assert!(!bytes.windows(number.len()).any(|window| window == number.as_bytes()));
        }
    }
}
