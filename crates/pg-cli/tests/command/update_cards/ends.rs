//! Early ends, each resumed after its cause was corrected.

use super::Cards;
use crate::command::peer::{Peer, closed_address};

#[test]
fn wrong_credentials_are_sent_once() {
    let cards = Cards::new(5);
    cards
        .update("")
        .env("PG_SHA_KEY", "wrong")
        .run()
        .ends(1)
        .says("refused: 123")
        .says(": check the SHA key; nothing more was sent; then run the same command again\n");
    assert_eq!(cards.requests(), 1);
    let told = cards.update("--json").env("PG_API_PASSWORD", "wrong").run().ends(1);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    assert_eq!((&told["exit"], &told["error"]["refusal"]["code"]), (&1.into(), &"102".into()));
    assert_eq!(cards.requests(), 2);
    cards.update("").run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
fn a_wrong_account_that_submitted_nothing_does_not_block_the_right_one() {
    let cards = Cards::new(5);
    for _ in 0..2 {
        cards.update("").env("PG_API_KEY", "0123456789abcdef0123456789abcdef").run().ends(1).says("refused: 102");
    }
    assert_eq!(cards.requests(), 2);
    cards.update("").run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
fn rows_of_the_results_can_be_run_again_as_they_are() {
    let cards = Cards::new(4);
    cards.write(&format!("card_key\nunknown-key\n{}\n", cards.keys.join("\n")));
    cards
        .update_as("--batch-size 3 --poll 1")
        .run()
        .ends(1)
        .says("their rows, with the first line, in a separate file");
    let results = std::fs::read_to_string(cards.beside(".results.csv")).unwrap();
    let again: Vec<&str> = results.lines().filter(|row| !row.contains(",answered,")).collect();
    assert_eq!(again.len(), 4);
    let file = cards.folder.path().join("again.csv");
    std::fs::write(&file, again.join("\n")).unwrap();
    let command = format!("update-cards {} --batch-size 1 --poll 1 --json", file.display());
    let told = super::summary(&cards.sandbox.with_account(crate::command::pg::words(&command), "main").run().ends(1));
    assert_eq!((&told["answered"], &told["refused"]), (&2.into(), &1.into()));
}

#[test]
fn two_keys_of_one_card_are_explained() {
    let cards = Cards::new(2);
    // The first card again, under another key.
    let same = cards.shop.stored("4000000000008005");
    cards.write(&[cards.keys[0].as_str(), &same].join("\n"));
    cards
        .update("")
        .run()
        .ends(1)
        .says("refused ERROR")
        .says("two different card keys of the batch hold the same card")
        .says("cardUniqueIdentifier");
    let path = cards.file();
    std::fs::remove_file(cards.beside(".results.csv")).unwrap();
    let command = format!("update-cards {} --batch-size 1 --poll 1 --restart", path.display());
    cards.sandbox.with_account(crate::command::pg::words(&command), "main").run().ends(0);
}

#[test]
fn a_wrong_updater_key_stops_everything() {
    let cards = Cards::new(5);
    cards.update("").env("PG_ACCOUNT_UPDATER_KEY", "wrong").run().ends(1).says("refused: 180");
    assert_eq!((cards.requests(), cards.shop.submitted().len()), (1, 0));
    // No run is stored that could be resumed.
    let ended = cards.update("").env("PG_API_PASSWORD", "wrong").run().ends(1);
    assert!(
        ended
            .err
            .ends_with(": check the API key and password; nothing more was sent; then run the same command again\n"),
        "{}",
        ended.err
    );
    assert!(!cards.beside(".pg-state").exists());
    cards.update("").run().ends(0);
    cards.are_exact();
}

#[test]
fn an_unreachable_service_exits_with_3() {
    let cards = Cards::new(3);
    let ended = cards.update("--attempts 0").env("PG_BASE_URL", &closed_address()).run().ends(3);
    ended.says("the service is unreachable").says("no connection to 127.0.0.1").says("ends after 0 repeats in a row");
    // Nothing was sent, so nothing binds the run to that address.
    assert!(!cards.beside(".pg-state").exists());
    cards.update("").run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
fn a_run_that_may_have_sent_something_stays_with_its_address() {
    let cards = Cards::new(3);
    let peer = Peer::answering("");
    cards.update("--attempts 0").env("PG_BASE_URL", &peer.base).run();
    peer.request();
    let ended = cards.update("").run().ends(2).says("the earlier run was for ").says("--same-account");
    assert!(!ended.err.contains("::") && !ended.err.contains("payment"), "{}", ended.err);
    cards.update("--same-account").run().says("resuming an earlier run");
}

#[test]
fn a_batch_with_an_unknown_key_is_refused_and_the_others_are_not() {
    let cards = Cards::new(5);
    let mut lines = cards.keys.clone();
    lines.insert(3, "unknown-key".to_owned());
    cards.write(&format!("# cards\n{}\n", lines.join("\n")));
    let ended = cards.update("--json").run().ends(1).says("2 keys were refused").says("smaller --batch-size");
    let told = super::summary(&ended);
    assert_eq!(told["exit"], 1);
    assert!(told["error"]["message"].as_str().unwrap().contains("2 keys were refused"), "{told}");
    let batch = &told["unfinished"][0];
    assert_eq!((&batch["status"], &batch["firstLine"], &batch["lastLine"]), (&"refused".into(), &4.into(), &5.into()));
    assert_eq!((&batch["lastKey"], &told["answered"]), (&"unknown-key".into(), &4.into()));
    let results = std::fs::read_to_string(cards.beside(".results.json")).unwrap();
    let rows: serde_json::Value = serde_json::from_str(&results).unwrap();
    let refused = rows.as_array().unwrap().iter().filter(|row| row["status"] == "refused");
    assert_eq!(refused.count(), 2);
}

#[test]
fn an_unavailable_result_is_unknown() {
    let cards = Cards::new(3);
    cards.shop.control("faults", r#"{"method": "token/retrieveAccountUpdater", "kind": "status", "status": 500}"#);
    cards.update("").run().ends(0);
    cards.are_exact();
}

/// A shell that lets files have 2 or 4 KiB, by what it counts in.
#[cfg(target_os = "linux")]
const LITTLE_ROOM: [&str; 3] = ["-c", "ulimit -f 4; exec \"$@\"", "sh"];

#[test]
#[cfg(target_os = "linux")]
fn results_are_written_after_a_full_disk_has_room() {
    let cards = Cards::new(60);
    // Enough for the state of three batches, and not for sixty results.
    let flags = "--batch-size 20 --poll 1";
    let ended = cards.update_as(flags).under("sh", &LITTLE_ROOM).run().ends(4);
    ended.says("cards.txt.results.csv: ").says("nothing is lost");
    cards.update_as(flags).run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_for_the_state_prevents_sending() {
    let cards = Cards::new(60);
    // Thirty batches have a longer state than that.
    let ended = cards.update("").under("sh", &LITTLE_ROOM).run().ends(4);
    ended.says("cannot write ").says("run the same command again");
    let submitted = cards.shop.submitted().len();
    assert!(submitted < 60, "{submitted}");
    let ended = cards.update("").run();
    cards.were_submitted_once();
    assert_eq!(cards.rows().len(), 60);
    // The reply to the last submission may have been the one that could not be stored.
    assert!(matches!(ended.code, 0 | 4), "{}", ended.err);
}
