//! One account cannot see, use or change records of another (A56).

use crate::account_updater::{A, Desk, HOOK, PLAIN};

#[test]
fn batches_and_tokens_of_another_account_do_not_exist() {
    let mut desk = Desk::new();
    let key = desk.token(PLAIN, "c");
    let batch = desk.request(&[&key], "");
    desk.become_merchant("other");
    let updater = desk.updater_key();
    let theirs = desk.refused("token/requestAccountUpdater", &[("accountUpdaterKey", &updater), ("cardKey", &key)]);
    let none = desk.refused("token/requestAccountUpdater", &[("accountUpdaterKey", &updater), ("cardKey", "none")]);
    assert_eq!((&*theirs.0, &theirs), ("940", &none));
    for seconds in [0, 120] {
        desk.wait(seconds);
        let theirs = desk.refused("token/retrieveAccountUpdater", &[("batchKey", &batch)]);
        let none = desk.refused("token/retrieveAccountUpdater", &[("batchKey", &"0".repeat(32))]);
        assert_eq!((&*theirs.0, &theirs), ("183", &none));
    }
    desk.become_merchant("main");
    desk.retrieve(&batch);
}

#[test]
fn one_card_at_two_accounts_gets_a_new_token_at_each() {
    let mut desk = Desk::new();
    let ours = desk.token(A, "c");
    let our_batch = desk.request(&[&ours], HOOK);
    desk.become_merchant("other");
    let theirs = desk.token(A, "c");
    let their_batch = desk.request(&[&theirs], HOOK);
    desk.wait(120);
    let their_entry = desk.retrieve(&their_batch)["cardKeyDetails"][0].clone();
    let their_new = their_entry["cardKey"].as_str().unwrap().to_owned();
    assert!(desk.look_up(&their_new).is_some());
    desk.become_merchant("main");
    let our_entry = desk.retrieve(&our_batch)["cardKeyDetails"][0].clone();
    assert!(desk.look_up(&their_new).is_none());
    assert_ne!(our_entry["cardKey"], their_entry["cardKey"]);
    assert_ne!(our_entry["cardUniqueIdentifier"], their_entry["cardUniqueIdentifier"]);
    let merchants: Vec<_> =
        desk.get("callbacks").1.as_array().unwrap().iter().map(|one| one["merchant"].clone()).collect();
    assert_eq!(merchants, ["other", "main"]);
}
