use std::{
    borrow::Cow,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use proptest::prelude::*;
use rusqlite::StatementStatus;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::*;
use crate::{
    records::{CardToken, KINDS, Meta, Payment, Session},
    store::{Index, StoredRecord, Transaction},
};

mod eras;
mod redo;

const KEY: [u8; 32] = [5; 32];

/// A record with both index columns of the transactions' table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Note {
    key: String,
    merchant: String,
    reference: Option<String>,
    parent: Option<String>,
}

impl StoredRecord for Note {
    const KIND: &'static Kind = Payment::KIND;

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }

    fn index(&self) -> Index<'_> {
        let text = |held: &'_ Option<String>| held.clone().map(Cow::Owned);
        [text(&self.reference), text(&self.parent), None]
    }
}

fn note(key: &str, merchant: &str, reference: &str) -> Note {
    let reference = Some(reference.to_owned());
    Note { key: key.to_owned(), merchant: merchant.to_owned(), reference, parent: None }
}

fn file() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.sqlite");
    (folder, path)
}

fn write(store: &mut Sqlite, notes: &[Note]) {
    store.begin().unwrap();
    let mut transaction = Transaction::new(store);
    notes.iter().for_each(|note| transaction.put(note).unwrap());
    transaction.keep().unwrap();
    store.commit().unwrap();
}

fn keys(store: &mut Sqlite, query: &Query<'_>) -> Vec<String> {
    let found = Transaction::new(store).find::<Note>(query).unwrap();
    found.into_iter().map(|note| note.key).collect()
}

#[test]
fn commits_are_present_after_reopening() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k1", "main", "r1")]);
    store.begin().unwrap();
    Transaction::new(&mut store).put(&note("k2", "main", "r2")).unwrap();
    drop(store);
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    assert_eq!(keys(&mut store, &Query::newest(10)), ["k1"]);
}

/// SQLite prepares a statement anew if the value of its limit is bound again, unless plans may not depend on values.
#[test]
fn a_query_is_prepared_once_for_all_values() {
    let mut store = Sqlite::in_memory().unwrap();
    write(&mut store, &[note("k1", "main", "r1"), note("k2", "main", "r2")]);
    for limit in [10, 1, 2] {
        keys(&mut store, &Query::newest(limit));
    }
    let table = table(&store.tables, Note::KIND.table).unwrap();
    let text = table.selection(&store.sealer, &Query::newest(1)).unwrap().text;
    let statement = store.connection.prepare_cached(&text).unwrap();
    assert_eq!(statement.get_status(StatementStatus::Run), 3);
    assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
}

/// The state after a crash: the file and its logs at that moment.
fn copy_logs(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    for log in ["wal", "redo"] {
        let named = |path: &Path| PathBuf::from(format!("{}-{log}", path.display()));
        fs::copy(named(from), named(to)).unwrap();
    }
}

#[test]
fn a_copy_taken_without_closing_holds_every_commit() {
    let (_folder, path) = file();
    let (_other, copy) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    for number in 0..50 {
        write(&mut store, &[note(&format!("k{number:02}"), "main", "r")]);
    }
    store.begin().unwrap();
    Transaction::new(&mut store).put(&note("unfinished", "main", "r")).unwrap();
    copy_logs(&path, &copy);
    let mut crashed = Sqlite::open(&copy, &KEY).unwrap();
    assert_eq!(keys(&mut crashed, &Query::oldest(100)).len(), 50);
}

/// SQLite rolls its transaction back if a commit fails while the store is closed, for example on a full disk. The store is
/// closed again when it is dropped.
#[test]
fn nothing_is_lost_if_sqlite_rolls_back_before_the_store_is_closed() {
    for is_in_sqlite in [true, false] {
        let (_folder, path) = file();
        let mut store = Sqlite::open(&path, &KEY).unwrap();
        write(&mut store, &[note("k1", "main", "r")]);
        if is_in_sqlite {
            store.settle(&mut || false);
        }
        store.run("ROLLBACK").unwrap();
        store.close().unwrap();
        drop(store);
        let mut store = Sqlite::open(&path, &KEY).unwrap();
        assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1"], "{is_in_sqlite}");
    }
}

/// A failed group is rolled back when it begins or ends, and again before its responses. To undo what SQLite has of it, the
/// redo log is replayed, which takes longer the more it contains.
#[test]
fn the_redo_log_is_replayed_once_to_undo_a_group() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k1", "main", "r")]);
    store.begin().unwrap();
    let mut records = Transaction::new(&mut store);
    records.put(&note("k2", "main", "r")).unwrap();
    records.keep().unwrap();
    // A query: SQLite has the change.
    assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1", "k2"]);
    let changes = store.connection.total_changes();
    store.rollback();
    let replayed = store.connection.total_changes();
    store.rollback();
    assert!(replayed > changes);
    assert_eq!(store.connection.total_changes(), replayed);
    assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1"]);
}

/// A table that was empty when the store was opened is not searched until it has a row, by a write or by a replayed
/// one.
#[test]
fn a_row_is_found_in_a_table_that_was_empty() {
    let found = |store: &mut Sqlite, key: &str| {
        let holds = store.holds(Note::KIND, key).unwrap();
        assert_eq!(Transaction::new(store).get::<Note>(key).unwrap().is_some(), holds);
        holds
    };
    let (_folder, path) = file();
    let (_other, copy) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    assert!(!found(&mut store, "k1"));
    write(&mut store, &[note("k1", "main", "r")]);
    assert!(found(&mut store, "k1") && !found(&mut store, "k2"));
    copy_logs(&path, &copy);
    assert!(found(&mut Sqlite::open(&copy, &KEY).unwrap(), "k1"), "done again");
    drop(store);
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    assert!(found(&mut store, "k1"), "opened again");
    store.begin().unwrap();
    store.remove(Note::KIND, "k1").unwrap();
    store.commit().unwrap();
    assert!(!found(&mut store, "k1"));
}

#[test]
fn one_request_is_undone_alone() {
    let mut store = Sqlite::in_memory().unwrap();
    store.begin().unwrap();
    let mut first = Transaction::new(&mut store);
    first.put(&note("k1", "main", "r")).unwrap();
    first.keep().unwrap();
    let mut second = Transaction::new(&mut store);
    second.put(&note("k2", "main", "r")).unwrap();
    second.keep().unwrap();
    second.put(&note("k3", "main", "r")).unwrap();
    second.remove::<Note>("k1").unwrap();
    second.undo().unwrap();
    let mut third = Transaction::new(&mut store);
    third.put(&note("k4", "main", "r")).unwrap();
    third.keep().unwrap();
    store.commit().unwrap();
    assert_eq!(keys(&mut store, &Query::oldest(10)), ["k1", "k2", "k4"]);
}

#[test]
fn a_key_is_inserted_once_and_put_again() {
    let mut store = Sqlite::in_memory().unwrap();
    let mut transaction = Transaction::new(&mut store);
    assert!(transaction.insert(&note("k", "main", "first")).unwrap());
    assert!(!transaction.insert(&note("k", "other", "second")).unwrap());
    assert_eq!(transaction.get::<Note>("k").unwrap().unwrap(), note("k", "main", "first"));
    transaction.put(&note("k", "main", "third")).unwrap();
    let found = transaction.find::<Note>(&Query::newest(9).of("main").equal("merchant_reference", "third"));
    assert_eq!(found.unwrap().len(), 1);
    assert!(transaction.remove::<Note>("k").unwrap());
    assert!(!transaction.remove::<Note>("k").unwrap());
    assert_eq!(transaction.get::<Note>("k").unwrap(), None);
}

/// A request encoded in a few bytes: the record, the operation, and the expected result.
fn do_as_told(transaction: &mut Transaction<'_>, told: &[(u8, u8, u8)]) {
    for &(key, what, value) in told {
        let note = Note { parent: (value % 2 == 0).then(|| format!("p{}", value % 7)), ..numbered(key, value) };
        match what % 4 {
            0 => drop(transaction.remove::<Note>(&note.key).unwrap()),
            1 => drop(transaction.insert(&note).unwrap()),
            _ => transaction.put(&note).unwrap(),
        }
    }
}

fn numbered(key: u8, value: u8) -> Note {
    let reference = Some(value % 5).filter(|reference| *reference > 0).map(|reference| format!("r{reference}"));
    let merchant = if value.is_multiple_of(3) { "other" } else { "main" };
    Note { key: format!("k{}", key % 12), merchant: merchant.to_owned(), reference, parent: None }
}

proptest! {
    #[test]
    fn pending_entries_are_found_like_stored_ones(
        before in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..12),
        told in proptest::collection::vec(any::<(u8, u8, u8)>(), 0..12),
        limit in 0..14_u32,
        from in 0..12_u8,
    ) {
        let mut store = Sqlite::in_memory().unwrap();
        store.begin().unwrap();
        let mut earlier = Transaction::new(&mut store);
        do_as_told(&mut earlier, &before);
        earlier.keep().unwrap();
        let mut transaction = Transaction::new(&mut store);
        do_as_told(&mut transaction, &told);
        let before = format!("k{from}");
        let (newest, oldest) = (Query::newest(limit), Query::oldest(limit));
        let queries = [
            newest,
            oldest,
            newest.before(&before),
            newest.of("main"),
            newest.of("main").equal(Payment::MERCHANT_REFERENCE, "r1").before(&before),
            oldest.equal(Payment::PARENT, "p2"),
            oldest.at_most(Payment::PARENT, "p3"),
            newest.at_most(Payment::PARENT, "p2"),
        ];
        let look = |transaction: &mut Transaction<'_>| {
            let found = queries.iter().map(|query| transaction.find::<Note>(query).unwrap()).collect::<Vec<_>>();
            let one_by_one = (0..12).map(|key| transaction.get::<Note>(&format!("k{key}")).unwrap()).collect::<Vec<_>>();
            (found, one_by_one)
        };
        let early = look(&mut transaction);
        transaction.keep().unwrap();
        prop_assert_eq!(early, look(&mut transaction));
    }
}

// spec: 2 §5, A56
#[test]
fn nothing_of_one_merchant_is_visible_to_others() {
    let mut store = Sqlite::in_memory().unwrap();
    write(&mut store, &[note("k1", "main", "same"), note("k2", "other", "same")]);
    let mut transaction = Transaction::new(&mut store);
    assert!(transaction.get_of::<Note>("other", "k1").unwrap().is_none());
    assert!(transaction.get_of::<Note>("main", "k1").unwrap().is_some());
    let query = Query::newest(9).of("other").equal("merchant_reference", "same");
    assert_eq!(keys(&mut store, &query), ["k2"]);
}

#[test]
fn queries_return_pages_in_key_order() {
    let mut store = Sqlite::in_memory().unwrap();
    let parent = |n: i32| Some(n.to_string());
    let notes: Vec<Note> = (1..=5).map(|n| Note { parent: parent(n), ..note(&format!("k{n}"), "main", "r") }).collect();
    write(&mut store, &notes);
    assert_eq!(keys(&mut store, &Query::newest(2)), ["k5", "k4"]);
    assert_eq!(keys(&mut store, &Query::newest(2).before("k4")), ["k3", "k2"]);
    assert_eq!(keys(&mut store, &Query::oldest(2)), ["k1", "k2"]);
    let due = Query::oldest(9).at_most(Payment::PARENT, "3");
    assert_eq!(keys(&mut store, &due), ["k1", "k2", "k3"]);
    let unordered = Query::oldest(9).at_most(Payment::MERCHANT_REFERENCE, "r");
    assert!(store.select(Payment::KIND, &unordered).is_err());
}

#[test]
fn queries_by_reference_use_their_index() {
    let store = Sqlite::in_memory().unwrap();
    let by_reference = Query::newest(9).of("main").equal(Payment::MERCHANT_REFERENCE, "r");
    let by_parent = Query::oldest(9).equal(Payment::PARENT, "k");
    let by_customer = Query::oldest(9).of("main").equal(CardToken::CUSTOMER_REFERENCE, "c");
    let by_token_parent = Query::oldest(9).of("main").equal(CardToken::PARENT, "k");
    let ended = Query::oldest(9).at_most(Session::CARD_UNTIL, "0");
    for (kind, query, index) in [
        (Payment::KIND, by_reference, "transactions_merchant_reference"),
        (Payment::KIND, by_parent, "transactions_parent"),
        (CardToken::KIND, by_customer, "card_tokens_customer_reference"),
        (CardToken::KIND, by_token_parent, "card_tokens_parent"),
        (Session::KIND, ended, "sessions_card_until"),
    ] {
        let selection = table(&store.tables, kind.table).unwrap().selection(&store.sealer, &query).unwrap();
        let mut statement = store.connection.prepare(&format!("EXPLAIN QUERY PLAN {}", selection.text)).unwrap();
        let nulls = vec![rusqlite::types::Null; statement.parameter_count()];
        let rows = statement.query_map(params_from_iter(nulls), |row| row.get(3)).unwrap();
        let plan: Vec<String> = rows.map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].contains(index), "{plan:?}");
    }
}

#[test]
fn every_kind_of_record_has_its_table() {
    let mut store = Sqlite::in_memory().unwrap();
    assert_eq!(store.tables.len(), KINDS.len());
    for &kind in KINDS {
        let table = table(&store.tables, kind.table).unwrap();
        assert_eq!(table.columns().collect::<Vec<_>>(), kind.columns);
        for statement in [&table.get, &table.insert, &table.update, &table.remove, &table.all] {
            store.connection.prepare(statement).unwrap();
        }
        for column in kind.columns {
            let query = Query::newest(1).of("m").equal(column, "v").before("k");
            assert!(store.select(kind, &query).unwrap().is_empty());
        }
    }
}

#[test]
fn a_foreign_file_is_refused_and_left_alone() {
    let (_folder, path) = file();
    fs::write(&path, b"this is a text, not a store. ".repeat(50)).unwrap();
    assert!(matches!(Sqlite::open(&path, &KEY), Err(StoreError::Foreign)));
    assert!(fs::read(&path).unwrap().starts_with(b"this is a text"));

    let (_folder, path) = file();
    let theirs = Connection::open(&path).unwrap();
    theirs.execute_batch("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)").unwrap();
    drop(theirs);
    let before = fs::read(&path).unwrap();
    assert!(matches!(Sqlite::open(&path, &KEY), Err(StoreError::Foreign)));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_newer_file_is_refused_and_left_alone() {
    let (_folder, path) = file();
    drop(Sqlite::open(&path, &KEY).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 999).unwrap();
    let before = fs::read(&path).unwrap();
    let error = Sqlite::open(&path, &KEY).err().unwrap();
    assert!(matches!(error, StoreError::Newer { found: 999, .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_folder_or_a_missing_folder_is_a_clear_error() {
    let (folder, path) = file();
    assert!(matches!(Sqlite::open(folder.path(), &KEY), Err(StoreError::NoFile(_))));
    assert!(matches!(Sqlite::open(&path.join("deeper"), &KEY), Err(StoreError::Engine(_))));
}

#[test]
fn a_second_opener_is_refused() {
    let (_folder, path) = file();
    let store = Sqlite::open(&path, &KEY).unwrap();
    assert!(matches!(Sqlite::open(&path, &KEY), Err(StoreError::InUse)));
    drop(store);
    assert!(Sqlite::open(&path, &KEY).is_ok());
}

const HELD_STORE: &str = "PG_SANDBOX_TEST_HELD_STORE";

#[test]
fn a_second_process_is_refused() {
    if let Some(path) = std::env::var_os(HELD_STORE) {
        // This is the second process, which the test below has started.
        assert!(matches!(Sqlite::open(path.as_ref(), &KEY), Err(StoreError::InUse)));
        return;
    }
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("k", "main", "r")]);
    let second = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::sqlite::tests::a_second_process_is_refused"])
        .env(HELD_STORE, &path)
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&second.stdout);
    assert!(second.status.success() && report.contains("1 passed"), "{report}");
    write(&mut store, &[note("k2", "main", "r")]);
}

#[test]
fn a_full_disk_is_an_error_that_undoes_the_transaction() {
    let (_folder, path) = file();
    let mut store = Sqlite::open(&path, &KEY).unwrap();
    write(&mut store, &[note("before", "main", "r")]);
    let pages: i64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    store.connection.pragma_update(None, "max_page_count", pages + 2).unwrap();
    store.begin().unwrap();
    let mut transaction = Transaction::new(&mut store);
    let long = "x".repeat(3_000);
    (0..100).for_each(|n| transaction.put(&note(&format!("k{n}"), "main", &long)).unwrap());
    // The transaction stays open, so that no part of it is committed.
    for _ in 0..2 {
        assert!(matches!(transaction.keep(), Err(StoreError::Full)));
        assert!(matches!(transaction.undo(), Err(StoreError::Full)));
    }
    store.rollback();
    assert!(!store.in_transaction());
    write(&mut store, &[note("after", "main", "r")]);
    assert_eq!(keys(&mut store, &Query::oldest(10)), ["after", "before"]);
}

#[test]
fn a_body_that_is_no_record_is_an_error_without_an_excerpt() {
    let mut store = Sqlite::in_memory().unwrap();
    store
        .put(
            Meta::KIND,
            &Row { key: "k", merchant: "", index: [None, None, None], body: r#"{"canary": 4111111111111111}"# },
        )
        .unwrap();
    let error = Transaction::new(&mut store).get::<Meta>("k").unwrap_err().to_string();
    assert!(error.contains("meta") && !error.contains("4111"), "{error}");
}
