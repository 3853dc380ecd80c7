//! Flipped bytes and cut files: a store is refused, or it answers as before; it never answers otherwise.
//!
//! `PG_STORE_FLIPS=10000 PG_STORE_CUTS=1000 cargo test -p pg-sandbox-tests damaged -- --nocapture` prints the
//! table with as many.

use std::{fs, path::Path};

use http::Request;
use pg_sandbox::{OpenError, Sandbox};
use pg_support::Dice;

use crate::old_formats::shop::{NEWEST, ask, call, make, open, pay, respond, try_to_open};

/// How many bytes are flipped and how often the file is cut, unless `PG_STORE_FLIPS` and `PG_STORE_CUTS` say otherwise.
const FLIPS: u64 = 60;
const CUTS: u64 = 15;

const LISTS: [&str; 10] = [
    "transactions",
    "tokens",
    "sessions",
    "batches",
    "callbacks",
    "checkouts",
    "sms",
    "authentications",
    "faults",
    "cards/updater",
];

#[derive(Default)]
struct Counts {
    refused: u64,
    right: u64,
    different: Vec<String>,
}

#[test]
fn no_damage_changes_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let (bytes, answers) = left(&store);
    let mut dice = Dice::new(7);
    let mut flips = Counts::default();
    for _ in 0..setting("PG_STORE_FLIPS", FLIPS) {
        let (place, bit) = (dice.below(bytes.len()), dice.below(8));
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << bit;
        flips.judge(&store, &damaged, &answers, &format!("byte {place}, bit {bit}"));
    }
    let mut cuts = Counts::default();
    for _ in 0..setting("PG_STORE_CUTS", CUTS) {
        let length = dice.below(bytes.len());
        cuts.judge(&store, &bytes[..length], &answers, &format!("{length} bytes left"));
    }
    eprintln!("| damage to a store of {} bytes | tried | refused | answers right | answers different |", bytes.len());
    eprintln!("|---|---|---|---|---|");
    for (name, counts) in [("one byte flipped", &flips), ("cut", &cuts)] {
        let (refused, right, different) = (counts.refused, counts.right, counts.different.len());
        let tried = refused + right + u64::try_from(different).unwrap();
        eprintln!("| {name} | {tried} | {refused} | {right} | {different} |");
        assert!(counts.different.is_empty(), "{:?}", counts.different);
        assert!(refused > 0);
    }
    assert!(flips.right > 0, "pages that nothing uses may be anything");
}

/// A check that could not fail would show nothing.
#[test]
fn a_changed_answer_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("shop.sqlite");
    let (_, answers) = left(&store);
    drop(pay(&mut open(&store), "101", &[]));
    let mut counts = Counts::default();
    counts.judge(&store, &fs::read(&store).unwrap(), &answers, "one more");
    assert_eq!(counts.different, ["one more"]);
}

/// A store that was used, and what it answers.
fn left(store: &Path) -> (Vec<u8>, Vec<String>) {
    make(store, NEWEST);
    let mut sandbox = open(store);
    for number in 0..40 {
        let (reference, basket) = (format!("order-{number}"), format!("basket-{}", number % 7));
        let references = [("uniqueMerchantReference", &*reference), ("merchantReference", &*basket)];
        assert_eq!(pay(&mut sandbox, "250", &references)["transactionStatusCode"], "600");
    }
    drop(sandbox);
    let answers = answers(&mut open(store)).unwrap();
    (fs::read(store).unwrap(), answers)
}

/// Everything that there is to ask; nothing when an answer is that the sandbox has failed.
fn answers(sandbox: &mut Sandbox) -> Option<Vec<String>> {
    let mut answers = Vec::new();
    let clock = respond(sandbox, Request::get("/_sandbox/clock"), String::new());
    answers.push(clock);
    for list in LISTS {
        let limit = if list == "cards/updater" || list == "faults" { "" } else { "?limit=1000" };
        answers.push(respond(sandbox, Request::get(format!("/_sandbox/{list}{limit}")), String::new()));
    }
    for number in 0..40 {
        let reference = format!("order-{number}");
        answers.push(ask(sandbox, "transaction/lookup", &[("uniqueMerchantReference", &reference)]));
    }
    for number in 0..8 {
        let basket = format!("basket-{number}");
        answers.push(ask(sandbox, "transaction/lookup", &[("merchantReference", &basket)]));
    }
    answers.push(ask(sandbox, "token/lookup", &[("cardKey", crate::old_formats::TOKEN)]));
    answers.push(ask(sandbox, "transaction/lookup", &[("transactionKey", crate::old_formats::PREAUTH)]));
    let failed = |response: &http::Response<bytes::Bytes>| response.status().is_server_error();
    if answers.iter().any(failed) {
        return None;
    }
    // And that a reference is used up.
    let used = call(
        sandbox,
        "transaction/authCardKey",
        &[
            ("cardKey", crate::old_formats::TOKEN),
            ("currency", "GBP"),
            ("itemName0", "Tea"),
            ("itemPrice0", "1"),
            ("uniqueMerchantReference", "order-3"),
        ],
    );
    let mut texts: Vec<String> =
        answers.iter().map(|response| String::from_utf8_lossy(response.body()).into_owned()).collect();
    texts.push(used["errorCode"].to_string());
    Some(texts)
}

impl Counts {
    fn judge(&mut self, store: &Path, bytes: &[u8], expected: &[String], what: &str) {
        let log = store.with_extension("sqlite-wal");
        if log.exists() {
            fs::remove_file(log).unwrap();
        }
        fs::write(store, bytes).unwrap();
        match try_to_open(store) {
            Err(OpenError::KeyFile(error)) => panic!("{error}"),
            Err(_) => self.refused += 1,
            Ok(mut sandbox) => match answers(&mut sandbox) {
                None => self.refused += 1,
                Some(answers) if answers == expected => self.right += 1,
                Some(_) => self.different.push(what.to_owned()),
            },
        }
    }
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().unwrap())
}
