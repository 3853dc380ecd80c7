//! Runs that are killed at counted points and resumed: complete and exact results, no card submitted twice.

use std::{
    fs,
    io::BufRead,
    process::{Child, Command},
};

use super::{
    Cards,
    relay::{Relay, Stop},
    rows, until_it_says,
};
use crate::command::pg::{Ended, Pg, words};

/// Three batches: requests 1 to 3 submit them, 4 to 6 fetch their results.
const CARDS: usize = 6;
/// A killed run was connected to the relay; the resumed one is connected to the sandbox.
const ELSEWHERE: &str = "--same-account";

impl Cards {
    /// Runs it until the sandbox has seen that request or not, then kills it.
    pub(super) fn kill_at(&self, at: usize, stop: Stop, flags: &str) {
        self.kill_run_at(at, stop, self.update(flags));
    }

    fn kill_run_at(&self, at: usize, stop: Stop, run: Pg) {
        let relay = Relay::stopping(self.sandbox.facts["baseUrl"].as_str().unwrap(), at, stop);
        let mut child = run.env("PG_BASE_URL", &relay.base).start();
        relay.stopped();
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn killed_after_any_request_it_goes_on_without_doubt_where_callbacks_come() {
    for at in 1..=6 {
        let cards = Cards::new(CARDS);
        let flags = format!("{ELSEWHERE} --listen 127.0.0.1:{}", pg_support::free_port());
        if at <= 3 {
            // No batch finishes until the command listens again: the service calls back once.
            cards.shop.control("clock", r#"{"speed": 0}"#);
        }
        cards.kill_at(at, Stop::BeforeReply, &flags);
        let mut child = cards.update(&flags).start();
        let _said = until_it_says(&mut child, "receiving callbacks at");
        cards.shop.control("clock", r#"{"speed": 600}"#);
        // Dropping the reader discards the rest of its output, which is not a failure.
        drop(_said);
        assert_eq!(child.wait().unwrap().code(), Some(0), "{at}");
        cards.are_exact();
        cards.were_submitted_once();
        assert_eq!(cards.shop.submitted().len(), CARDS);
    }
}

#[test]
fn killed_before_a_request_arrives_it_names_what_is_in_doubt() {
    for at in [1, 2, 3, 5] {
        let cards = Cards::new(CARDS);
        cards.kill_at(at, Stop::BeforeRequest, "");
        let again = cards.update(ELSEWHERE).run();
        cards.were_submitted_once();
        if at > 3 {
            again.ends(0);
            cards.are_exact();
            continue;
        }
        let (first, last) = (2 * at - 1, 2 * at);
        let doubtful = [&cards.keys[first - 1], &cards.keys[last - 1]];
        // Nothing waits for a callback that goes elsewhere.
        assert!(!again.err.contains("waiting for"), "{}", again.err);
        again
            .ends(4)
            .says(&format!(
                "batch {at} (2 cards, lines {first} to {last}, {} to {}): doubtful",
                doubtful[0], doubtful[1]
            ))
            .says("2 keys are in doubt");
        let rows = cards.rows();
        assert_eq!(rows.len(), CARDS);
        for (key, (status, ..)) in rows {
            let expected = if doubtful.contains(&&key) { "doubtful" } else { "answered" };
            assert_eq!(status, expected);
        }
        assert_eq!(cards.shop.submitted().len(), CARDS - 2);
        // It prints the same again, and sends no request.
        cards.update(ELSEWHERE).run().ends(4).says("2 keys are in doubt");
        assert_eq!(cards.shop.submitted().len(), CARDS - 2);
    }
}

#[test]
#[cfg(unix)]
fn a_wait_for_a_callback_is_reported_and_can_be_ended() {
    let cards = Cards::new(CARDS);
    let flags = format!("{ELSEWHERE} --listen 127.0.0.1:{}", pg_support::free_port());
    cards.kill_at(2, Stop::BeforeRequest, &flags);
    let mut child = cards.update(&flags).start();
    let said = until_it_says(
        &mut child,
        "1 batch is in doubt because the service may have the cards: waiting for its callback, 26 hours at most",
    );
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(4));
    drop(said);
    // After a wait that was long enough.
    cards.update(&format!("{flags} --doubt 0")).run().ends(4).says("2 keys are in doubt");
    cards.were_submitted_once();
    assert_eq!(cards.rows().len(), CARDS);
}

#[test]
fn doubtful_keys_are_resubmitted_on_request() {
    let cards = Cards::new(CARDS);
    cards.kill_at(2, Stop::BeforeRequest, "");
    cards.update(&format!("{ELSEWHERE} --submit-again")).run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
fn results_that_were_written_and_not_yet_known_are_not_there_twice() {
    let cards = Cards::new(CARDS);
    // Killed while the last result is fetched: two batches are done.
    cards.kill_at(6, Stop::BeforeReply, "");
    let state = fs::read(cards.beside(".pg-state")).unwrap();
    let done = fs::metadata(cards.beside(".results.csv")).unwrap().len();
    cards.update(ELSEWHERE).run().ends(0);
    cards.are_exact();
    // As after a crash between writing the last result and storing that it was written.
    let whole = fs::read(cards.beside(".results.csv")).unwrap();
    assert!(done < whole.len() as u64);
    for length in [whole.len(), whole.len() - 7] {
        fs::write(cards.beside(".pg-state"), &state).unwrap();
        fs::write(cards.beside(".results.csv"), &whole[..length]).unwrap();
        cards
            .update(ELSEWHERE)
            .run()
            .ends(0)
            .says("resuming an earlier run: 6 card keys were read, 4 of them are done");
        cards.are_exact();
    }
    cards.were_submitted_once();
    // Results that were known and are gone can't be made up for.
    fs::write(cards.beside(".pg-state"), &state).unwrap();
    fs::write(cards.beside(".results.csv"), &whole[..100]).unwrap();
    cards.update(ELSEWHERE).run().ends(2).says("lacks results");
}

/// A service manager and a person's shell have different folders.
#[test]
fn a_run_is_resumed_from_any_folder() {
    let cards = Cards::new(CARDS);
    let [here, there] = ["here", "there"].map(|name| cards.folder.path().join(name));
    [&here, &there].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    cards.kill_run_at(6, Stop::BeforeReply, cards.update("--output out.csv").within(&here));
    let other = "precious\n".repeat(1_000);
    fs::write(there.join("out.csv"), &other).unwrap();
    // The same path is another file here.
    cards.update(&format!("{ELSEWHERE} --output out.csv")).within(&there).run().ends(2).says("omit --output");
    let resumed = cards.update(&format!("{ELSEWHERE} --output ../here/out.csv")).within(&there).run().ends(0);
    resumed.says("resuming an earlier run").says("here/out.csv");
    assert_eq!(rows(&fs::read_to_string(here.join("out.csv")).unwrap()).len(), CARDS);
    assert_eq!(fs::read_to_string(there.join("out.csv")).unwrap(), other);
    cards.were_submitted_once();

    // The default is a file beside the input, whatever the folder.
    let cards = Cards::new(CARDS);
    let update = |path: &str| {
        let command = words(&format!("update-cards {path} --batch-size 2 --poll 1 {ELSEWHERE}"));
        cards.sandbox.with_account(command, "main")
    };
    cards.kill_run_at(6, Stop::BeforeReply, update("cards.txt").within(cards.folder.path()));
    let folder = cards.folder.path().file_name().unwrap().to_str().unwrap();
    let above = cards.folder.path().parent().unwrap();
    update(&format!("{folder}/cards.txt")).within(above).run().ends(0).says("resuming an earlier run");
    cards.are_exact();
    cards.were_submitted_once();
}

/// These may be the results of another run.
#[test]
fn results_with_the_usual_name_are_not_continued_if_those_of_the_run_are_missing() {
    let cards = Cards::new(CARDS);
    cards.kill_run_at(6, Stop::BeforeReply, cards.update("--output february.csv").within(cards.folder.path()));
    let usual = cards.beside(".results.csv");
    fs::rename(cards.folder.path().join("february.csv"), &usual).unwrap();
    let results = fs::read(&usual).unwrap();
    cards.update(ELSEWHERE).run().ends(2).says("february.csv");
    assert_eq!(fs::read(&usual).unwrap(), results);
}

/// Nothing is cut off in a file that does not begin as the results do.
#[test]
fn a_file_that_is_not_the_results_of_the_run_is_unchanged() {
    let cards = Cards::new(CARDS);
    let [here, there] = ["here", "there"].map(|name| cards.folder.path().join(name));
    [&here, &there].into_iter().for_each(|folder| fs::create_dir(folder).unwrap());
    cards.kill_run_at(6, Stop::BeforeReply, cards.update("--output out.csv").within(&here));
    let results = fs::read(here.join("out.csv")).unwrap();
    let other = "precious\n".repeat(1_000);
    fs::write(here.join("out.csv"), &other).unwrap();
    cards.update(ELSEWHERE).within(&here).run().ends(2).says("does not begin like the results of the earlier run");
    assert_eq!(fs::read_to_string(here.join("out.csv")).unwrap(), other);
    fs::write(here.join("out.csv"), &results).unwrap();

    // A state with a path that is not absolute.
    let state = fs::read_to_string(cards.beside(".pg-state")).unwrap();
    let state = state.replace(&*here.join("out.csv").to_string_lossy(), "out.csv");
    fs::write(cards.beside(".pg-state"), state).unwrap();
    fs::write(there.join("out.csv"), &other).unwrap();
    for folder in [&there, &cards.folder.path().to_owned()] {
        let refused = cards.update(ELSEWHERE).within(folder).run().ends(2);
        let refused = refused.says("in the folder in which the earlier run was started");
        assert!(!refused.err.contains("--restart"), "{}", refused.err);
    }
    assert_eq!(fs::read_to_string(there.join("out.csv")).unwrap(), other);
    cards.update(ELSEWHERE).within(&here).run().ends(0);
    assert_eq!(rows(&fs::read_to_string(here.join("out.csv")).unwrap()).len(), CARDS);
    cards.were_submitted_once();
}

/// A key is replaced once it has been exposed, also during a run.
#[test]
fn a_run_goes_on_with_a_new_api_key_if_that_is_confirmed() {
    let cards = Cards::new(CARDS);
    cards.kill_at(6, Stop::BeforeReply, "");
    let text = fs::read_to_string(cards.beside(".pg-state")).unwrap();
    let mut state: serde_json::Value = serde_json::from_str(&text).unwrap();
    let current = state["account"].take();
    state["account"] = "0a1b2c3d".into();
    fs::write(cards.beside(".pg-state"), state.to_string()).unwrap();
    cards.update("").run().ends(2).says("a different account (PG_API_KEY)").says("--same-account");
    cards.update(ELSEWHERE).run().ends(0);
    cards.are_exact();
    cards.were_submitted_once();
    let state: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(cards.beside(".pg-state")).unwrap()).unwrap();
    assert_eq!(state["account"], current);
}

#[test]
#[cfg(unix)]
fn an_interruption_waits_for_the_reply_and_leaves_no_doubt() {
    interrupted_before_the_reply(&["-INT"], |cards| cards.update(""));
}

/// The shell and the system each send a signal when a terminal is closed.
#[test]
#[cfg(target_os = "linux")]
fn a_closed_terminal_leaves_no_doubt_either() {
    interrupted_before_the_reply(&["-HUP", "-HUP"], |cards| cards.update("").in_a_terminal());
}

#[test]
#[cfg(target_os = "linux")]
fn a_run_that_ignores_a_closed_terminal_goes_on() {
    let cards = Cards::new(CARDS);
    let mut relay = Relay::stopping(cards.sandbox.facts["baseUrl"].as_str().unwrap(), 2, Stop::BeforeReply);
    // As nohup does.
    let run = cards.update("").under("sh", &["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    let child = run.env("PG_BASE_URL", &relay.base).start();
    relay.stopped();
    assert!(Command::new("kill").args(["-HUP", &child.id().to_string()]).status().unwrap().success());
    relay.go_on();
    child.ended().ends(0);
    cards.are_exact();
}

/// With a store, the machine gets the reply after the shared limits.
#[test]
#[cfg(unix)]
fn an_interruption_of_a_run_over_a_store_leaves_no_doubt_either() {
    interrupted_before_the_reply(&["-INT"], |cards| cards.update(&format!("--store {}", cards.store())));
}

#[cfg(unix)]
fn interrupted_before_the_reply(signals: &[&str], update: fn(&Cards) -> Pg) {
    let cards = Cards::new(CARDS);
    let mut relay = Relay::stopping(cards.sandbox.facts["baseUrl"].as_str().unwrap(), 2, Stop::BeforeReply);
    let mut child = update(&cards).env("PG_BASE_URL", &relay.base).start();
    relay.stopped();
    let signal = |name: &str, child: &Child| {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    };
    signal(signals[0], &child);
    let mut said = until_it_says(&mut child, "stopping: waiting for the request in progress");
    signals[1..].iter().for_each(|name| signal(name, &child));
    relay.go_on();
    let mut rest = String::new();
    said.read_line(&mut rest).unwrap();
    assert!(rest.contains("interrupted: 0 cards are done") && rest.contains("run the same command again"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(4));
    cards.update(ELSEWHERE).run().ends(0).says("resuming an earlier run");
    cards.are_exact();
    cards.were_submitted_once();
}

#[test]
#[cfg(unix)]
fn a_second_interruption_ends_it_at_once() {
    let cards = Cards::new(CARDS);
    let relay = Relay::stopping(cards.sandbox.facts["baseUrl"].as_str().unwrap(), 1, Stop::BeforeReply);
    let mut child = cards.update("").env("PG_BASE_URL", &relay.base).start();
    relay.stopped();
    let interrupt = |child: &Child| {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    };
    interrupt(&child);
    let mut said = until_it_says(&mut child, "interrupt again to stop at once");
    interrupt(&child);
    let mut rest = String::new();
    said.read_line(&mut rest).unwrap();
    assert!(rest.contains("interrupted"), "{rest}");
    assert_eq!(child.wait().unwrap().code(), Some(4));
    // The service has it, under an unknown key.
    let ended: Ended = cards.update(ELSEWHERE).run().ends(4).says("batch 1 ");
    assert!(ended.err.contains("doubtful"));
    cards.were_submitted_once();
}
