//! Payments of a fleet, as operators see them.

use std::{
    io::{BufRead as _, BufReader},
    sync::Arc,
    time::Duration,
};

#[cfg(all(unix, feature = "postgres"))]
use pg_intents::PostgresStore;
use pg_intents::{
    IntentEnd, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow, IntentStatus, IntentStore, NewIntent,
    RewritableStore, SQLITE_MIGRATIONS, SealKey, SealedStore, Sealing, SqliteStore,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{
    pg::{Ended, pg, write_private},
    streams::closed_pipe,
};

async fn begun(store: &impl IntentStore, account: &str, reference: &str) -> IntentLease {
    begun_as(store, account, reference, "charge authCardKey").await
}

async fn begun_as(store: &impl IntentStore, account: &str, reference: &str, kind: &str) -> IntentLease {
    let new = NewIntent {
        key: IntentKey::new(account, reference),
        kind: kind.to_owned(),
        digest: String::new(),
        request: Some("the payment".to_owned()),
        state: "the machine".to_owned(),
        version: 1,
        owner: Some("shop-1#1".to_owned()),
        lease: Duration::from_secs(3600),
    };
    store.begin(new).await.unwrap();
    IntentLease { key: IntentKey::new(account, reference), owner: "shop-1#1".to_owned(), fence: 1 }
}

async fn row(store: &impl IntentStore, reference: &str) -> IntentRow {
    store.find(&IntentKey::new("shop", reference)).await.unwrap().unwrap()
}

/// An empty store in a file, and the file's path.
fn migrated() -> (TempDir, String, SqliteStore) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("intents.sqlite").to_str().unwrap().to_owned();
    pg(["intents", "--store", &path, "migrate"]).run().ends(0);
    let store = SqliteStore::open(&path).unwrap();
    (folder, path, store)
}

#[tokio::test]
async fn operators_see_show_reconcile_and_park() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    let path = file.to_str().unwrap();
    pg(["intents", "--store", path]).run().ends(2).says("there is no such file. If orders were paid before");
    let folder_path = folder.path().to_str().unwrap();
    for action in [&[][..], &["migrate"]] {
        let ended = pg(["intents", "--store", folder_path].iter().chain(action)).run().ends(2);
        ended.says("it is not a file; a store of intents is a SQLite file");
    }
    pg(["intents", "--store", path, "migrate"]).run().ends(0);
    operators_see(path, &SqliteStore::open(&file).unwrap()).await;
}

#[cfg(not(feature = "postgres"))]
#[test]
fn a_build_without_postgres_says_how_to_build_one() {
    let how = "build it with `cargo install --path crates/pg-cli --features postgres`";
    pg(["sandbox", "--store", "postgres://u@h/d"]).run().ends(2).says(how);
    pg(["intents", "--store", "postgres://u@h/d"]).run().ends(2).says(how);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cards.txt");
    std::fs::write(&file, "4F2C-91\n").unwrap();
    let update = pg(["update-cards", file.to_str().unwrap(), "--store", "postgres://u@h/d"]);
    update.account("https://gateway.example").run().ends(2).says(how).says("nothing was sent");
}

#[cfg(all(unix, feature = "postgres"))]
#[tokio::test]
async fn operators_see_show_reconcile_and_park_over_postgres() {
    let Some(server) = pg_stores::Postgres::for_one_test(&[]) else { return };
    let url = server.database().unwrap();
    let missing = pg(["intents", "--store", &url]).run().ends(2).says("run `pg intents --store URL migrate`");
    assert_eq!(missing.err.trim_end().lines().count(), 1, "{}", missing.err);
    pg(["intents", "--store", &url, "migrate"]).run().ends(0).says("every table that this program needs");
    operators_see(&url, &PostgresStore::connect(&url).await.unwrap()).await;
}

fn with_outcome(outcome: &str) -> IntentEnd {
    IntentEnd {
        status: IntentStatus::Ended,
        state: String::new(),
        outcome: outcome.to_owned(),
        wake: None,
        heard: 0,
        quiet: Duration::ZERO,
    }
}

/// Over an empty store.
async fn operators_see<S: IntentStore>(path: &str, store: &S) {
    pg(["intents", "--store", path]).run().ends(0).says("no payments");
    pg(["intents", "--store", path, "--account", "shop"]).run().ends(2).says("accounts with payments: none");
    // A fleet that has no payments yet.
    let whole = "shop at https://gateway.example";
    pg(["intents", "--store", path, "--account", whole]).run().ends(0).says("no payments");
    pg(["intents", "--store", path, "migrate", "--print"]).run().ends(0).prints("CREATE TABLE payment_intents");
    let json = |arguments: &[&str]| {
        let ended = pg([&["intents", "--json", "--store", path], arguments].concat()).run().ends(0);
        serde_json::from_str::<Value>(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out))
    };
    assert_eq!(json(&["migrate"])["migrated"], true);
    let statements = &json(&["migrate", "--print"])["statements"];
    assert!(statements[0].as_str().unwrap().contains("CREATE TABLE"), "{statements}");
    begun(store, "shop", "order-open").await;
    let held = begun(store, "shop", "order-ended").await;
    store.end(&held, with_outcome(r#"{"outcome":"approved"}"#)).await.unwrap();
    begun(store, "another shop", "order-open").await;
    // As with `| head`.
    for arguments in [&[][..], &["--json"], &["show", "order-ended"]] {
        let ended = pg([&["intents", "--store", path], arguments].concat()).run_into(closed_pipe()).ends(0);
        assert!(!ended.err.contains("Broken pipe"), "{}", ended.err);
    }
    pg(["intents", "--store", path, "--limit", "0"]).run().ends(2).says("--limit");

    let all = pg(["intents", "--store", path, "--json"]).run().ends(0).hides(&["the payment", "the machine"]);
    let all: Value = serde_json::from_str(&all.out).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 2, "{all}");
    let ended = pg(["intents", "--store", path, "--status", "ended"]).run().ends(0);
    assert!(ended.out.contains("order-ended") && ended.out.contains("approved"), "{}", ended.out);
    assert_eq!(pg(["intents", "--store", path, "--stuck"]).run().ends(0).out, "");

    pg(["intents", "--store", path, "show", "order-open"]).run().ends(2).says("choose one with --account");
    let of_shop =
        |action: &str, reference: &str| pg(["intents", "--store", path, "--account", "shop", action, reference]).run();
    of_shop("show", "order-open").ends(0).prints("shop-1#1 1 begun");
    of_shop("show", "order-none").ends(1).says("no payment has this reference");
    // A part of a name.
    for action in ["", "--json", "show order-open", "park order-open", "reconcile --parked", "resume"] {
        let ended =
            pg(["intents", "--store", path, "--account", "sho"].into_iter().chain(action.split_whitespace())).run();
        ended
            .ends(2)
            .says("sho: the store has no payments of this account; accounts with payments: another shop, shop\n");
    }
    // A whole name may be that of a fleet without payments yet.
    let whole = "sho at https://gateway.example";
    pg(["intents", "--store", path, "--account", whole, "resume"]).run().ends(1).says("sending is not stopped");
    of_shop("park", "order-open").ends(0).says("parked");
    assert_eq!(row(store, "order-open").await.status, IntentStatus::Parked);
    of_shop("reconcile", "order-open").ends(0).says("a worker takes it");
    let reconciled = row(store, "order-open").await;
    assert_eq!((reconciled.status, reconciled.is_due()), (IntentStatus::Open, true));
    of_shop("reconcile", "order-ended").ends(1).says("it has ended");
    let of_shop_as_json = |action: &[&str]| json(&[&["--account", "shop"], action].concat());
    let parked = of_shop_as_json(&["park", "order-open"]);
    assert_eq!((&parked["reference"], &parked["directive"]), (&"order-open".into(), &"park".into()));
    assert_eq!(of_shop_as_json(&["reconcile", "order-open"])["directive"], "reconcile");
    store.stop("shop", Some("wrong credentials")).await.unwrap();
    assert_eq!(of_shop_as_json(&["resume"])["reason"], "wrong credentials");
    store.stop("shop", Some("wrong credentials")).await.unwrap();
    pg(["intents", "--store", path, "--account", "shop", "resume"]).run().ends(0).says("may send again");
    pg(["intents", "--store", path, "--account", "shop", "resume"]).run().ends(1).says("sending is not stopped");
    assert_eq!(store.stopped("shop").await.unwrap(), None);
}

#[tokio::test]
async fn a_stop_is_shown_although_no_payment_is_open() {
    let (_folder, path, store) = migrated();
    for account in ["shop", "updates"] {
        store.stop(account, Some("wrong credentials")).await.unwrap();
    }
    let held = begun(&store, "shop", "order-ended").await;
    store.end(&held, with_outcome(r#"{"outcome":"approved"}"#)).await.unwrap();
    let said = "nothing is sent for the account shop: wrong credentials";
    let list = |arguments: &[&str]| pg([&["intents", "--store", &path], arguments].concat()).run().ends(0);
    assert!(!list(&[]).says("no payments").says(said).err.contains("updates"));
    list(&["--account", "shop"]).says(said);
    // An account without payments, such as one that only updates cards.
    let said = "nothing is sent for the account updates: wrong credentials";
    assert!(!list(&["--account", "updates"]).says(said).err.contains("the account shop"));
}

/// Otherwise the older programs of a shop could not open its store again after an operator has looked.
#[test]
fn a_store_of_an_earlier_version_is_upgraded_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("intents.sqlite").to_str().unwrap().to_owned();
    let earlier = rusqlite::Connection::open(&path).unwrap();
    earlier.execute_batch(&SQLITE_MIGRATIONS[..2].concat()).unwrap();
    earlier.execute_batch("PRAGMA application_id = 0x70676931; PRAGMA user_version = 2").unwrap();
    let version = || earlier.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)).unwrap();
    for action in [&[][..], &["show", "order-1"], &["park", "order-1"]] {
        let refused = pg([&["intents", "--store", &path], action].concat()).run().ends(2);
        refused.says("has schema version 2 and needs 3: run `pg intents --store");
        assert_eq!(version(), 2);
    }
    pg(["intents", "--store", &path, "migrate"]).run().ends(0);
    assert_eq!(version(), 3);
}

#[tokio::test]
async fn an_operator_sees_what_kills_its_workers_and_that_nothing_is_sent() {
    let (_folder, path, store) = migrated();
    let held = begun(&store, "shop", "order-1").await;
    let unknown = IntentEnd {
        status: IntentStatus::Unknown,
        wake: Some(Duration::ZERO),
        ..with_outcome(r#"{"outcome":"unknown","why":"no reply"}"#)
    };
    store.end(&held, unknown).await.unwrap();
    let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
    for _ in 0..3 {
        assert_eq!(store.claim("shop", "shop-1#2", 1, Duration::ZERO, &kinds).await.unwrap().len(), 1);
    }
    pg(["intents", "--store", &path, "--stuck"]).run().ends(0).prints("order-1");
    store.stop("shop", Some("wrong credentials")).await.unwrap();
    let reconciled = pg(["intents", "--store", &path, "reconcile", "order-1"]).run().ends(0);
    reconciled.says("nothing is sent for the account shop: wrong credentials");
}

#[tokio::test]
async fn a_reconciliation_that_is_reported_as_failed_was_not_made() {
    let (_folder, path, store) = migrated();
    begun(&store, "shop", "order-1").await;
    let broken = rusqlite::Connection::open(&path).unwrap();
    broken.execute_batch("ALTER TABLE payment_stops RENAME TO elsewhere").unwrap();
    pg(["intents", "--store", &path, "reconcile", "order-1"]).run().ends(3).says("no such table");
    let left = row(&store, "order-1").await;
    assert_eq!((left.fence, left.owner.as_deref()), (1, Some("shop-1#1")));
}

#[tokio::test]
async fn who_watches_sees_the_end_of_a_payment() {
    let (_folder, path, store) = migrated();
    let held = begun(&store, "shop", "order-1").await;
    let mut watching = pg(["intents", "--store", &path, "--watch"]).start();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().starts_with("open "));
    store.end(&held, with_outcome(r#"{"outcome":"approved"}"#)).await.unwrap();
    let line = next();
    assert!(line.starts_with("ended ") && line.contains("order-1") && line.contains("approved"), "{line}");
}

/// As while a standby takes over.
#[tokio::test]
async fn who_watches_outlives_a_database_that_does_not_answer() {
    let (_folder, path, store) = migrated();
    let held = begun(&store, "shop", "order-1").await;
    let mut watching = pg(["intents", "--store", &path, "--watch"]).start();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    let mut said = BufReader::new(watching.stderr.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("open "));
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute_batch("ALTER TABLE payment_stops RENAME TO elsewhere").unwrap();
    assert!(said.next().unwrap().unwrap().contains("no such table"));
    database.execute_batch("ALTER TABLE elsewhere RENAME TO payment_stops").unwrap();
    store.end(&held, with_outcome(r#"{"outcome":"approved"}"#)).await.unwrap();
    assert!(lines.next().unwrap().unwrap().starts_with("ended "));
}

/// A payment that waits for its customer.
async fn waiting(store: &impl IntentStore, reference: &str, kind: &str) {
    let hold = begun_as(store, "shop", reference, kind).await;
    let rest = IntentRest {
        state: "the machine".to_owned(),
        asks: Some("the page".to_owned()),
        heard: 0,
        wake: Duration::from_secs(3600),
    };
    store.rest(&hold, rest).await.unwrap();
}

#[tokio::test]
async fn a_payment_that_waits_for_its_customer_is_looked_up_or_withdrawn() {
    let (_folder, path, store) = migrated();
    waiting(&store, "challenge-1", "3-D Secure").await;
    waiting(&store, "page-1", "checkout").await;
    let act = |action: &str, reference: &str| pg(["intents", "--store", &path, action, reference]).run();
    let events = async |reference: &str| {
        let events = store.events(&IntentKey::new("shop", reference), 0).await.unwrap();
        events.into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    };
    act("reconcile", "challenge-1").ends(0).says("a worker takes it");
    assert_eq!(events("challenge-1").await, [r#"{"event":"returned"}"#]);
    act("reconcile", "page-1").ends(0).says("its hosted page is open").says("`pg intents withdraw`");
    assert!(events("page-1").await.is_empty());
    act("withdraw", "challenge-1").ends(2).says("only a checkout has a page to withdraw; this is: 3-D Secure");
    act("withdraw", "page-1").ends(0).says("closes its page");
    assert_eq!(events("page-1").await, [r#"{"event":"cancelled"}"#]);
    assert!(row(&store, "page-1").await.is_due());
    store.stop("shop", Some("wrong credentials")).await.unwrap();
    act("withdraw", "page-1").ends(0).says("nothing is sent for the account shop: wrong credentials");
    act("park", "page-1").ends(0);
    act("withdraw", "page-1").ends(1).says("reconcile it first");
    // Its event would be stored unencrypted.
    waiting(&store, "sealed-1", "checkout sealed:0123456789ab").await;
    act("withdraw", "sealed-1").ends(2).says("--store-key FILE");
}

/// One that fails stops none of the others.
#[tokio::test]
async fn all_parked_payments_are_reconciled_at_once() {
    let (_folder, path, store) = migrated();
    let parked = |more: &[&str]| pg([&["intents", "--store", &path, "reconcile", "--parked"], more].concat()).run();
    parked(&[]).ends(0).says("no payment is parked");
    for (account, reference) in [("shop", "broken"), ("shop", "order-1"), ("other", "order-1"), ("other", "order-2")] {
        begun(&store, account, reference).await;
    }
    begun(&store, "shop", "in-progress").await;
    waiting(&store, "page-1", "checkout").await;
    waiting(&store, "sealed-1", "3-D Secure sealed:0123456789ab").await;
    let park = |account: &str, reference: &str| {
        pg(["intents", "--store", &path, "--account", account, "park", reference]).run().ends(0)
    };
    for reference in ["broken", "order-1", "page-1", "sealed-1"] {
        park("shop", reference);
    }
    for reference in ["order-1", "order-2"] {
        park("other", reference);
    }
    let broken = rusqlite::Connection::open(&path).unwrap();
    let fails = "CREATE TRIGGER fails BEFORE UPDATE ON payment_intents WHEN old.reference = 'broken' \
                 BEGIN SELECT raise(ABORT, 'no room'); END";
    broken.execute_batch(fails).unwrap();

    let taken = parked(&["--account", "other"]).ends(0).says("2 of 2 parked payments reconciled");
    assert_eq!(
        taken.out.lines().collect::<Vec<_>>(),
        ["order-1", "order-2"].map(|reference| { format!("{reference}: a worker takes it as soon as one is free") })
    );
    assert_eq!(row(&store, "order-1").await.status, IntentStatus::Parked);

    store.stop("shop", Some("wrong credentials")).await.unwrap();
    let mixed = parked(&[]).ends(1).says("2 of 4 parked payments").says("nothing is sent for the account shop");
    let lines: Vec<&str> = mixed.out.lines().collect();
    let told = [
        ("broken: ", "no room"),
        ("order-1: ", "a worker takes it as soon as one is free"),
        ("page-1: ", "its hosted page is open"),
        ("sealed-1: ", "a worker takes it, but does not ask for the result of its challenge"),
    ];
    assert_eq!(lines.len(), told.len(), "{lines:?}");
    for (line, (reference, text)) in lines.iter().zip(told) {
        assert!(line.starts_with(reference) && line.contains(text), "{line}");
    }
    let status = async |reference: &str| row(&store, reference).await.status;
    assert_eq!((status("order-1").await, status("broken").await), (IntentStatus::Open, IntentStatus::Parked));
    assert_eq!(row(&store, "in-progress").await.owner.as_deref(), Some("shop-1#1"), "it was not parked");

    begun(&store, "other", "order-3").await;
    park("other", "order-3");
    let json: Value = serde_json::from_str(&parked(&["--json"]).ends(1).out).unwrap();
    let [one, other] = &json["payments"].as_array().unwrap()[..] else { panic!("{json}") };
    assert_eq!((&one["reference"], &one["exit"], &json["exit"]), (&"broken".into(), &3.into(), &1.into()), "{json}");
    assert_eq!((&other["account"], &other["directive"]), (&"other".into(), &"reconcile".into()), "{json}");

    park("other", "order-3");
    parked(&[]).ends(1).prints("broken of shop: ").prints("order-3 of other: a worker takes it");

    parked(&["order-1"]).ends(2).says("--parked");
    pg(["intents", "--store", &path, "reconcile"]).run().ends(2).says("REFERENCE");
    broken.execute_batch("ALTER TABLE payment_stops RENAME TO elsewhere").unwrap();
    parked(&[]).ends(3).says("no such table");
}

/// Its event would be stored unencrypted.
#[tokio::test]
async fn a_sealed_challenge_that_is_reconciled_without_the_key_is_not_reported_as_done() {
    let (_folder, path, store) = migrated();
    waiting(&store, "sealed-1", "3-D Secure sealed:0123456789ab").await;
    let reconciled = pg(["intents", "--store", &path, "reconcile", "sealed-1"]).run().ends(1);
    reconciled.says("does not ask for the result of its challenge").says("--store-key FILE");
    assert_eq!(store.events(&IntentKey::new("shop", "sealed-1"), 0).await.unwrap(), []);
    assert!(row(&store, "sealed-1").await.is_due());
}

#[tokio::test]
async fn a_list_that_is_cut_says_so() {
    let (_folder, path, store) = migrated();
    for reference in ["order-1", "order-2", "order-3"] {
        begun(&store, "shop", reference).await;
    }
    let list = |limit: &str| pg(["intents", "--store", &path, "--json", "--limit", limit]).run().ends(0);
    let count = |ended: &Ended| serde_json::from_str::<Value>(&ended.out).unwrap().as_array().unwrap().len();
    let cut = list("2").says("there are more payments than these 2, which changed last; --limit N shows more");
    let whole = list("3");
    assert_eq!((count(&cut), count(&whole), whole.err.as_str()), (2, 3, ""));
}

#[test]
fn another_programs_file_and_a_database_without_the_feature_get_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "my notes ".repeat(100)).unwrap();
    pg(["intents", "--store", file.to_str().unwrap()]).run().ends(2).says("not a SQLite file");
    if !cfg!(feature = "postgres") {
        pg(["intents", "--store", "postgres://shop@127.0.0.1:1/shop"]).run().ends(2).says("--features postgres");
    }
}

#[tokio::test]
async fn sealed_payments_are_shown_with_their_key_and_say_so_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("intents.sqlite");
    sealed_payments(file.to_str().unwrap(), || SqliteStore::open(&file).unwrap()).await;
}

#[cfg(all(unix, feature = "postgres"))]
#[tokio::test]
async fn sealed_payments_in_postgres_are_shown_and_sealed_anew() {
    let Some(server) = pg_stores::Postgres::for_one_test(&[]) else { return };
    let url = server.database().unwrap();
    pg(["intents", "--store", &url, "migrate"]).run().ends(0);
    let (one, other) = tokio::join!(PostgresStore::connect(&url), PostgresStore::connect(&url));
    let mut stores = vec![one.unwrap(), other.unwrap()];
    sealed_payments(&url, || stores.pop().unwrap()).await;
}

/// Two payments that are sealed with one key, read with it, without it and with another key, and sealed again with that
/// key.
async fn sealed_payments<S: RewritableStore>(file: &str, mut open: impl FnMut() -> S) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (old, new, notes) = (path("old.key"), path("new.key"), path("notes.txt"));
    write_private(notes.as_ref(), "my notes");
    let digits = |byte: u8| format!("{byte:02x}").repeat(32);
    write_private(old.as_ref(), &digits(1));
    write_private(new.as_ref(), &digits(2));
    let sealing = Sealing::new(SealKey::from_file(&old).unwrap());
    let store = SealedStore::open(Arc::new(open()), sealing).await.unwrap();
    begun(&store, "shop", "order-open").await;
    let held = begun(&store, "shop", "order-ended").await;
    let outcome = r#"{"outcome":"approved","transaction":{"transactionKey":"0123456789"}}"#;
    store.end(&held, with_outcome(outcome)).await.unwrap();

    let all = ["intents", "--store", file, "--status", "open", "--status", "ended"];
    let shown = pg(all).run().ends(0).says("2 of these payments are sealed: --store-key FILE or PG_INTENTS_KEY");
    let shown = shown.prints("charge authCardKey ").prints(" sealed ").hides(&["0123456789"]);
    assert!(!shown.out.contains("sealed:"), "{}", shown.out);
    assert!(shown.out.contains("order-open") && shown.out.contains("order-ended"), "{}", shown.out);
    let json: Value = serde_json::from_str(&pg(all).arg("--json").run().ends(0).out).unwrap();
    let fingerprint = SealKey::from_file(&old).unwrap().fingerprint().to_owned();
    assert_eq!((json[0]["sealedWith"].as_str(), &json[0]["outcome"]), (Some(&*fingerprint), &Value::Null), "{json}");
    let one = ["intents", "--store", file, "show", "order-ended"];
    pg(one).run().ends(0).prints(&format!("sealed with the key {fingerprint}"));
    pg(["intents", "--store", file, "reconcile", "order-ended"]).run().ends(1).says("its outcome is sealed");

    pg(one).arg("--store-key").arg(&old).run().ends(0).prints("0123456789");
    pg(one).env("PG_INTENTS_KEY", &digits(1)).run().ends(0).prints("0123456789");
    let wrong = pg(one).env("PG_INTENTS_KEY", &digits(2)).run().ends(2).says("which was not given");
    assert_eq!(wrong.err.trim_end().lines().count(), 1, "{}", wrong.err);
    #[cfg(unix)]
    for name in ["PG_INTENTS_KEY", "PG_INTENTS_KEY_OLDER"] {
        pg(one).env_bytes(name, b"\xff").run().ends(2).says(&format!("{name} is not valid UTF-8"));
    }
    #[cfg(unix)]
    pg(["intents"])
        .env_bytes("PG_INTENTS_STORE", b"/tmp/\xff")
        .run()
        .ends(2)
        .says("PG_INTENTS_STORE is not valid UTF-8");
    pg(["intents"]).env("PG_INTENTS_STORE", "").run().ends(2).says("--store or PG_INTENTS_STORE is empty");
    let ended = pg(["intents", "--store", "postgres://u:hunter2@127.0.0.1:1/d"]).run();
    ended.says("warning: argument 3 has a password").hides(&["hunter2"]);
    pg(one).env("PG_INTENTS_KEY_OLDER", &digits(1)).run().ends(2).says("PG_INTENTS_KEY_OLDER needs --store-key");
    pg(one).env("PG_INTENTS_KEY", "0102").run().ends(2).says("64 hexadecimal digits").hides(&["0102"]);
    pg(one).arg("--store-key").arg(&notes).run().ends(2).says("does not contain 64 hexadecimal digits");
    pg(one).arg("--store-key-older").arg(&old).run().ends(2).says("needs --store-key");

    let reseal = ["intents", "--store", file, "reseal"];
    pg(reseal).run().ends(2).says("to seal payments, give the key");
    let both = || pg(reseal).arg("--store-key").arg(&new);
    let sealed = both().arg("--store-key-older").arg(&old).run().ends(0);
    sealed.prints("2 payments sealed with the newest key, 0 were").says("the older keys are still needed: repeat this");
    let repeated = both().arg("--json").run().ends(0).prints(r#""current":2"#);
    assert!(!repeated.err.contains("repeat this"), "{}", repeated.err);
    pg(one).arg("--store-key").arg(&new).run().ends(0).prints("0123456789");

    // Older unsealed rows are sealed only on demand.
    let clear = open();
    begun(&clear, "shop", "order-clear").await;
    both().run().ends(1).says("order-clear cannot be opened: it is not sealed");
    both().arg("--clear").run().ends(0).prints("1 payments sealed with the newest key, 2 were");
    // Rows that cannot be opened are reported, and the others are sealed.
    let found = row(&clear, "order-open").await;
    assert!(clear.rewrite(&found, &IntentRow { state: "x".to_owned(), ..found.clone() }, &[]).await.unwrap());
    both().run().ends(1).says("1 payments are unchanged").says("its state or its kind was altered");
    let ended = both().arg("--json").run().ends(1);
    let json: Value = serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {}", ended.out));
    assert_eq!((&json["unopened"], &json["exit"]), (&1.into(), &1.into()), "{json}");
    assert!(json["error"]["message"].as_str().unwrap().starts_with("1 payments are unchanged"), "{json}");
}
