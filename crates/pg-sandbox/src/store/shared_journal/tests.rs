use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
};

use http::Method;

use super::*;
use crate::{
    Sandbox, Settings, Timestamp,
    store::{Kind, Query, Row, Sqlite, Store},
};

/// A table that can become unreachable.
#[derive(Default, Clone)]
struct Fake(Arc<Mutex<Held>>);

#[derive(Default)]
struct Held {
    rows: BTreeMap<String, JournalRow>,
    is_away: bool,
    /// An account whose entries it refuses.
    refused: Option<&'static str>,
    statements: usize,
    trimmed: Vec<(Vec<String>, String)>,
}

impl Fake {
    fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap()
    }
}

impl JournalTable for Fake {
    fn add(&mut self, rows: &[JournalRow]) -> Result<(), StoreError> {
        let mut held = self.held();
        if held.is_away {
            return Err(StoreError::Unreachable("away".to_owned()));
        }
        if rows.iter().any(|row| held.refused == Some(&*row.merchant)) {
            return Err(StoreError::Engine("refused".to_owned()));
        }
        held.statements += 1;
        held.rows.extend(rows.iter().map(|row| (row.key.clone(), row.clone())));
        Ok(())
    }

    fn newest(&mut self, merchant: Option<&str>, before: Option<&str>, limit: u32) -> Rows {
        let held = self.held();
        let wanted = |row: &&JournalRow| {
            merchant.is_none_or(|merchant| row.merchant == merchant) && before.is_none_or(|before| &*row.key < before)
        };
        Ok(held.rows.values().rev().filter(wanted).take(limit as usize).cloned().collect())
    }

    fn get(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.held().rows.get(key).map(|row| row.body.clone()))
    }

    fn forget(&mut self, merchant: &str) -> Result<(), StoreError> {
        self.held().rows.retain(|_, row| row.merchant != merchant);
        Ok(())
    }

    fn trim(&mut self, merchants: &BTreeSet<String>, before: &str) -> Result<(), StoreError> {
        self.held().trimmed.push((merchants.iter().cloned().collect(), before.to_owned()));
        Ok(())
    }
}

fn line(time: i64, number: u64, merchant: &str) -> JournalLine {
    JournalLine { time, number, merchant: merchant.to_owned(), body: Box::new(|key| format!("entry {key}")) }
}

fn bodies(journal: &SharedJournal, merchant: Option<&str>) -> Vec<String> {
    journal.newest(merchant, None, 10).unwrap().into_iter().map(|row| row.body).collect()
}

#[test]
fn a_reader_sees_what_its_process_has_added_and_what_others_have_written() {
    let table = Fake::default();
    let start = |name: &str| SharedJournal::start(Box::new(table.clone()), name).unwrap();
    let (one, other) = (start("a"), start("b"));
    one.add([line(1_000, 1, "main"), line(3_000, 2, "ci")].into_iter());
    other.add([line(2_000, 1, "main")].into_iter());
    assert_eq!(bodies(&other, Some("main"))[0], "entry 0000000002000-0000000001-b");
    assert_eq!(bodies(&one, None).len(), 3);
    assert_eq!(bodies(&other, Some("ci")), ["entry 0000000003000-0000000002-a"]);
    let key = "0000000002000-0000000001-b";
    assert_eq!(one.get(key).unwrap().unwrap(), format!("entry {key}"));
    one.forget("main");
    assert_eq!(bodies(&one, None), ["entry 0000000003000-0000000002-a"]);
}

#[test]
fn many_entries_go_in_few_statements_and_the_last_ones_before_the_end() {
    let table = Fake::default();
    let journal = SharedJournal::start(Box::new(table.clone()), "a").unwrap();
    for number in 0..2_000 {
        journal.add([line(90_000_000, number, "main")].into_iter());
    }
    drop(journal);
    let held = table.held();
    assert_eq!(held.rows.len(), 2_000);
    assert!(held.statements < 200, "{}", held.statements);
    assert_eq!(held.trimmed[0], (vec!["main".to_owned()], "0000003600000".to_owned()));
}

#[test]
fn entries_wait_while_the_store_is_away_and_the_oldest_are_dropped() {
    let table = Fake::default();
    table.held().is_away = true;
    let journal = SharedJournal::start(Box::new(table.clone()), "a").unwrap();
    for number in 0..12_000 {
        journal.add([line(1, number, "main")].into_iter());
    }
    assert_eq!(bodies(&journal, None).len(), 10, "what could not be written is shown too");
    table.held().is_away = false;
    drop(journal);
    let held = table.held();
    assert_eq!(held.rows.len(), MOST_WAITING);
    assert!(held.rows.last_key_value().unwrap().0.starts_with("0000000000001-0000011999"));
}

#[test]
fn a_reader_sees_what_could_not_be_written_yet() {
    let table = Fake::default();
    let journal = SharedJournal::start(Box::new(table.clone()), "a").unwrap();
    journal.add([line(1, 1, "main"), line(2, 2, "ci")].into_iter());
    assert_eq!(bodies(&journal, None).len(), 2);
    table.held().is_away = true;
    journal.add([line(3, 3, "main"), line(4, 4, "main")].into_iter());
    let entry = |number: u64| format!("000000000000{number}-000000000{number}-a");
    let keys = |merchant: Option<&str>, before: Option<&str>, limit: u32| {
        journal.newest(merchant, before, limit).unwrap().into_iter().map(|row| row.key).collect::<Vec<_>>()
    };
    assert_eq!(keys(None, None, 10), [4, 3, 2, 1].map(entry));
    assert_eq!(keys(Some("main"), None, 2), [4, 3].map(entry));
    assert_eq!(keys(Some("main"), Some(&entry(4)), 2), [3, 1].map(entry));
    assert_eq!(journal.get(&entry(4)).unwrap().unwrap(), format!("entry {}", entry(4)));
    table.held().is_away = false;
    assert_eq!(keys(None, None, 3), [4, 3, 2].map(entry));
    assert_eq!(table.held().rows.len(), 4);
}

#[test]
fn an_entry_that_the_store_refuses_takes_no_other_with_it() {
    let table = Fake::default();
    table.held().refused = Some("bad");
    let journal = SharedJournal::start(Box::new(table.clone()), "a").unwrap();
    journal.add([line(1, 1, "main"), line(2, 2, "bad"), line(3, 3, "main")].into_iter());
    drop(journal);
    assert_eq!(table.held().rows.values().map(|row| &*row.merchant).collect::<Vec<_>>(), ["main"; 2]);
}

/// A store whose journal is a fake, and which notes how many entries that has when it closes.
struct Closing {
    inner: Sqlite,
    journal: Fake,
    written: Arc<AtomicUsize>,
}

impl Store for Closing {
    pg_stores::pass_on!(inner: begin, commit, rollback, settle, in_transaction, get, holds, put, remove, select);

    fn journal(&mut self) -> Result<Option<SharedJournal>, StoreError> {
        Ok(Some(SharedJournal::start(Box::new(self.journal.clone()), "one").unwrap()))
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.written.store(self.journal.held().rows.len(), Ordering::Relaxed);
    }
}

#[test]
fn a_sandbox_writes_what_waits_before_its_store_closes() {
    let written = Arc::new(AtomicUsize::new(0));
    let inner = Sqlite::in_memory().unwrap();
    let store = Closing { inner, journal: Fake::default(), written: Arc::clone(&written) };
    let mut sandbox = Sandbox::over(Box::new(store), Settings::default(), &[1; 32], [2; 32]).unwrap();
    let request = pg_support::request(Method::POST, "/v3/utility/checkApiCredentials", "");
    sandbox.handle(Timestamp::from_millis(1_000_000), request);
    drop(sandbox);
    assert_eq!(written.load(Ordering::Relaxed), 1);
}
