//! The conformance suite of store engines: the behaviour on which the sandbox relies, as checks of any [`Store`].
//!
//! ```
//! use pg_sandbox::{conformance, store::Sqlite};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! conformance::check(&mut Sqlite::in_memory()?)?;
//! # Ok(())
//! # }
//! ```
//!
//! [`check`] covers rows, transactions and queries. [`check_durable`] covers what an engine keeps when it is opened
//! again. Both leave the store unchanged.

use std::borrow::Cow;

use crate::{
    records::KINDS,
    store::{INDEX_COLUMNS, Kind, Query, Row, Store, StoreError},
};

mod random;

/// A deviation of an engine from the behaviour that the sandbox requires.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{check}: {found}")]
pub struct Deviation {
    check: &'static str,
    found: String,
}

impl Deviation {
    fn new(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, found: found.into() }
    }

    /// Returns the name of the check that failed.
    #[must_use]
    pub const fn check(&self) -> &'static str {
        self.check
    }
}

type Checked = Result<(), Deviation>;

/// A check: its name, and what it does with an empty store.
type Check = (&'static str, fn(&mut Probe<'_>) -> Checked);

const CHECKS: &[Check] = &[
    ("a row is read as it was written, in every kind", every_kind),
    ("a second put replaces the whole row", replaces),
    ("removing a row that is not there succeeds", removes),
    ("a rollback undoes everything since begin", rolls_back),
    ("a commit keeps everything since begin", commits),
    ("text orders by its bytes", orders_by_bytes),
    ("a query has no more rows than its limit", limits),
    ("a key or a value with the character U+0000, which no row has, finds nothing", finds_no_nul),
    ("random writes and queries agree with a list", random::agrees),
];

/// Runs every check over a store without records in which no transaction is open.
///
/// # Errors
/// The first [`Deviation`].
pub fn check(store: &mut dyn Store) -> Result<(), Deviation> {
    for &(name, check) in CHECKS {
        let mut probe = Probe { store, name };
        probe.is_empty()?;
        check(&mut probe)?;
        probe.is_empty()?;
    }
    Ok(())
}

/// Checks that a store keeps exactly the committed records, and the committed [`Store::last_key`] if it is shared, when it is dropped
/// and opened again. The argument opens the same store each time.
///
/// # Errors
/// A [`Deviation`] if records are missing or extra, or the store cannot be opened.
pub fn check_durable(open: &mut dyn FnMut() -> Result<Box<dyn Store>, StoreError>) -> Result<(), Deviation> {
    const NAME: &str = "a store that is opened again holds what was committed";
    let mut opened = || open().map_err(|error| Deviation::new(NAME, format!("open: {error}")));
    let kind = first_kind();
    let mut store = opened()?;
    let mut probe = Probe { store: &mut *store, name: NAME };
    probe.is_empty()?;
    probe.begin()?;
    let before = probe.store.last_key().map(|last| *last);
    probe.same("a shared store has a last_key", &before.is_some(), &probe.store.is_shared())?;
    probe.put(kind, &row("kept", "m", "{}"))?;
    probe.number_last_key(before, 1);
    probe.commit()?;
    if let Some(syncer) = probe.store.syncer() {
        probe.told("sync", syncer.sync())?;
    }
    probe.begin()?;
    probe.put(kind, &row("not kept", "m", "{}"))?;
    probe.number_last_key(before, 2);
    drop(store);
    let mut store = opened()?;
    let mut probe = Probe { store: &mut *store, name: NAME };
    probe.begin()?;
    probe.finds(kind, "kept", Some("{}"))?;
    probe.finds(kind, "not kept", None)?;
    let found = probe.store.last_key().map(|last| *last);
    probe.same("last_key", &found, &before.map(|last| last + 1))?;
    probe.remove(kind, "kept")?;
    probe.number_last_key(before, 0);
    probe.commit()
}

/// A store, and the check in progress.
struct Probe<'a> {
    store: &'a mut dyn Store,
    name: &'static str,
}

impl Probe<'_> {
    fn told<T>(&self, operation: &str, result: Result<T, StoreError>) -> Result<T, Deviation> {
        result.map_err(|error| Deviation::new(self.name, format!("{operation} failed: {error}")))
    }

    fn same<T: PartialEq + std::fmt::Debug>(&self, what: &str, found: &T, expected: &T) -> Checked {
        if found == expected {
            return Ok(());
        }
        Err(Deviation::new(self.name, format!("{what}: expected {expected:?}, found {found:?}")))
    }

    fn begin(&mut self) -> Checked {
        let begun = self.store.begin();
        self.told("begin", begun)?;
        self.same("in_transaction after begin", &self.store.in_transaction(), &true)
    }

    fn commit(&mut self) -> Checked {
        let committed = self.store.commit();
        self.told("commit", committed)?;
        self.same("in_transaction after commit", &self.store.in_transaction(), &false)
    }

    fn rollback(&mut self) -> Checked {
        self.store.rollback();
        self.same("in_transaction after rollback", &self.store.in_transaction(), &false)
    }

    /// Makes the last key so much greater than it was, if the store keeps it.
    fn number_last_key(&mut self, before: Option<u64>, more: u64) {
        if let (Some(last), Some(before)) = (self.store.last_key(), before) {
            *last = before + more;
        }
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Checked {
        let put = self.store.put(kind, row);
        self.told("put", put)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Checked {
        let removed = self.store.remove(kind, key);
        self.told("remove", removed)
    }

    /// Checks `get` and `holds`.
    fn finds(&mut self, kind: &'static Kind, key: &str, body: Option<&str>) -> Checked {
        let found = self.store.get(kind, key);
        let found = self.told("get", found)?;
        self.same(&format!("get {key:?} of {}", kind.table), &found.as_deref(), &body)?;
        let held = self.store.holds(kind, key);
        let held = self.told("holds", held)?;
        self.same(&format!("holds {key:?} of {}", kind.table), &held, &body.is_some())
    }

    fn selects(&mut self, kind: &'static Kind, query: &Query<'_>, bodies: &[&str]) -> Checked {
        let found = self.store.select(kind, query);
        let found = self.told("select", found)?;
        let expected: Vec<String> = bodies.iter().map(|&body| body.to_owned()).collect();
        self.same(&format!("select {query:?} of {}", kind.table), &found, &expected)
    }

    /// Removes rows in a separate transaction.
    fn clean(&mut self, rows: &[(&'static Kind, &str)]) -> Checked {
        self.begin()?;
        rows.iter().try_for_each(|(kind, key)| self.remove(kind, key))?;
        self.commit()
    }

    fn is_empty(&mut self) -> Checked {
        self.begin()?;
        KINDS.iter().try_for_each(|kind| self.selects(kind, &Query::newest(1), &[]))?;
        self.rollback()
    }
}

fn first_kind() -> &'static Kind {
    KINDS[0]
}

/// Returns a row without index columns.
fn row<'a>(key: &'a str, merchant: &'a str, body: &'a str) -> Row<'a> {
    Row { key, merchant, index: [None, None, None], body }
}

/// The same value in each index column that a kind has.
fn with_index<'a>(row: Row<'a>, kind: &Kind, value: &'a str) -> Row<'a> {
    let mut index = [const { None }; INDEX_COLUMNS];
    index.iter_mut().take(kind.columns.len()).for_each(|column| *column = Some(Cow::Borrowed(value)));
    Row { index, ..row }
}

fn every_kind(probe: &mut Probe<'_>) -> Checked {
    probe.begin()?;
    let bodies: Vec<String> =
        KINDS.iter().map(|kind| format!(r#"{{"of":"{}","text":"é ' \\ %_ 𝄞"}}"#, kind.table)).collect();
    for (kind, body) in KINDS.iter().zip(&bodies) {
        probe.put(kind, &with_index(row("k'1\\", "mérchant", body), kind, "v \"1\""))?;
    }
    for (kind, body) in KINDS.iter().zip(&bodies) {
        probe.finds(kind, "k'1\\", Some(body))?;
        probe.finds(kind, "K'1\\", None)?;
        probe.selects(kind, &Query::newest(9).of("mérchant"), &[body])?;
        probe.selects(kind, &Query::newest(9).of("merchant"), &[])?;
        for column in kind.columns {
            probe.selects(kind, &Query::oldest(9).equal(column, "v \"1\""), &[body])?;
            probe.selects(kind, &Query::oldest(9).equal(column, "v"), &[])?;
        }
    }
    probe.rollback()
}

fn replaces(probe: &mut Probe<'_>) -> Checked {
    probe.begin()?;
    for kind in KINDS {
        probe.put(kind, &with_index(row("k", "one", "1"), kind, "a"))?;
        probe.put(kind, &row("k", "two", "2"))?;
        probe.finds(kind, "k", Some("2"))?;
        probe.selects(kind, &Query::newest(9).of("one"), &[])?;
        probe.selects(kind, &Query::newest(9).of("two"), &["2"])?;
        for column in kind.columns {
            probe.selects(kind, &Query::newest(9).equal(column, "a"), &[])?;
            probe.selects(kind, &Query::newest(9).equal(column, ""), &[])?;
        }
    }
    probe.rollback()
}

fn removes(probe: &mut Probe<'_>) -> Checked {
    probe.begin()?;
    for kind in KINDS {
        probe.remove(kind, "k")?;
        probe.put(kind, &row("k", "m", "1"))?;
        probe.remove(kind, "k")?;
        probe.finds(kind, "k", None)?;
        probe.put(kind, &row("k", "m", "2"))?;
        probe.finds(kind, "k", Some("2"))?;
        probe.remove(kind, "k")?;
        probe.remove(kind, "k")?;
        probe.selects(kind, &Query::newest(9), &[])?;
    }
    probe.commit()
}

fn rolls_back(probe: &mut Probe<'_>) -> Checked {
    let kind = first_kind();
    probe.begin()?;
    probe.put(kind, &row("a", "m", "1"))?;
    probe.commit()?;
    probe.begin()?;
    probe.put(kind, &row("a", "m", "2"))?;
    probe.put(kind, &row("b", "m", "2"))?;
    probe.rollback()?;
    probe.rollback()?;
    probe.begin()?;
    probe.finds(kind, "a", Some("1"))?;
    probe.finds(kind, "b", None)?;
    probe.remove(kind, "a")?;
    probe.rollback()?;
    probe.begin()?;
    probe.finds(kind, "a", Some("1"))?;
    probe.rollback()?;
    probe.clean(&[(kind, "a")])
}

fn commits(probe: &mut Probe<'_>) -> Checked {
    probe.begin()?;
    KINDS.iter().try_for_each(|kind| probe.put(kind, &row("a", "m", kind.table)))?;
    probe.commit()?;
    probe.begin()?;
    probe.commit()?;
    probe.begin()?;
    KINDS.iter().try_for_each(|kind| probe.finds(kind, "a", Some(kind.table)))?;
    probe.rollback()?;
    let rows: Vec<_> = KINDS.iter().map(|&kind| (kind, "a")).collect();
    probe.clean(&rows)
}

fn orders_by_bytes(probe: &mut Probe<'_>) -> Checked {
    const SORTED: [&str; 9] = ["", " ", "-", "0", "B", "a", "a-", "a0", "é"];
    for kind in KINDS {
        probe.begin()?;
        for at in [4, 8, 0, 3, 7, 1, 6, 2, 5] {
            probe.put(kind, &row(SORTED[at], "m", SORTED[at]))?;
        }
        // Keys that are digests of a caller's text have no meaningful order.
        if kind.table != "unique_references" {
            probe.selects(kind, &Query::oldest(99), &SORTED)?;
            let reversed: Vec<&str> = SORTED.iter().rev().copied().collect();
            probe.selects(kind, &Query::newest(99), &reversed)?;
            probe.selects(kind, &Query::newest(99).before("a"), &["B", "0", "-", " ", ""])?;
        }
        probe.rollback()?;
    }
    Ok(())
}

fn limits(probe: &mut Probe<'_>) -> Checked {
    let kind = first_kind();
    probe.begin()?;
    for key in ["a", "b", "c"] {
        probe.put(kind, &row(key, "m", key))?;
    }
    probe.selects(kind, &Query::oldest(0), &[])?;
    probe.selects(kind, &Query::oldest(1), &["a"])?;
    probe.selects(kind, &Query::newest(2), &["c", "b"])?;
    probe.selects(kind, &Query::newest(u32::MAX), &["c", "b", "a"])?;
    probe.rollback()
}

/// Callers can query any key.
fn finds_no_nul(probe: &mut Probe<'_>) -> Checked {
    for kind in KINDS {
        probe.begin()?;
        probe.put(kind, &with_index(row("a", "m", kind.table), kind, "v"))?;
        for key in ["a\0", "\0a", "\0"] {
            probe.finds(kind, key, None)?;
            probe.remove(kind, key)?;
        }
        probe.selects(kind, &Query::newest(9).of("m\0"), &[])?;
        for column in kind.columns {
            probe.selects(kind, &Query::newest(9).equal(column, "v\0"), &[])?;
        }
        if kind.table != "unique_references" {
            probe.selects(kind, &Query::newest(9).before("a\0b"), &[kind.table])?;
            probe.selects(kind, &Query::newest(9).before("\0a"), &[])?;
        }
        probe.commit()?;
        probe.clean(&[(kind, "a")])?;
    }
    Ok(())
}
