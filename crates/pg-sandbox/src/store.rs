//! The records behind one small trait, [`Store`]. SQLite is the engine of one machine; an engine of your own implements the trait,
//! passes [`conformance::check`](crate::conformance::check), and runs under [`Sandbox::over`](crate::Sandbox::over), which has an
//! example.
//!
//! The core makes time-ordered keys itself, so an engine needs no sequences, no time and no randomness. It holds rows of text by
//! primary key with a few index columns, inside transactions. A failed request needs no undo there: its changes wait in a
//! transaction of the core until it has succeeded. Text orders by its bytes (SQLite's default; collation "C" in PostgreSQL).
//! [`crate::KINDS`] lists every kind of record: an engine needs one table for each.
//!
//! To add a kind of record, write one type with `StoredRecord`, add it to `KINDS`, and add its tables in `store/schema/`. A
//! column of type `BLOB` holds a keyed digest of what a caller wrote: a query finds it by its whole value, and it has no order.

use std::borrow::Cow;

mod error;
mod halt;
mod pending;
#[cfg(feature = "postgres")]
mod postgres;
mod reach;
mod record;
mod schema;
mod seal;
mod shared_journal;
mod sqlite;
mod syncer;
mod transaction;

pub use error::StoreError;
#[doc(hidden)]
pub use halt::Halt;
#[cfg(feature = "postgres")]
#[doc(hidden)]
pub use postgres::{KeyRing, Postgres, Step, without_password};
#[doc(hidden)]
pub use reach::Reach;
#[doc(hidden)]
pub use record::StoredRecord;
pub use record::{Condition, Kind, Query};
#[doc(hidden)]
pub use shared_journal::{JournalLine, JournalRow, JournalTable, SharedJournal, first_key, is_key};
#[doc(hidden)]
pub use sqlite::{Sqlite, Unopened};
pub use syncer::Syncer;
#[doc(hidden)]
pub use transaction::Transaction;

/// How many index columns a kind of record may have.
pub const INDEX_COLUMNS: usize = 3;

/// The values of the index columns, in the order of [`Kind::columns`].
pub type Index<'a> = [Option<Cow<'a, str>>; INDEX_COLUMNS];

/// Whether the records have changed since this process's last transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// They are unchanged: this process's copies of them are up to date.
    None,
    /// Another process may have written: this process's copies of them may be out of date.
    ByOthers,
}

/// A record as an engine stores it.
#[derive(Debug)]
pub struct Row<'a> {
    /// The primary key, unique in its kind.
    pub key: &'a str,
    /// The name of the merchant that owns the record; empty if it has no owner.
    pub merchant: &'a str,
    /// The values of the index columns, in the order of [`Kind::columns`].
    pub index: Index<'a>,
    /// The record as JSON.
    pub body: &'a str,
}

/// An engine that stores rows. One writer owns it. Rows are durable once [`Store::commit`] has returned; if the engine has a
/// [`Syncer`], once that has returned.
pub trait Store: Send {
    /// Opens a transaction.
    ///
    /// # Errors
    /// If the engine refuses; then no transaction is open.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Ends the transaction. From now on its rows survive this process. They survive a power cut once the [`Syncer`], if there is
    /// one, has returned.
    ///
    /// # Errors
    /// If the engine fails; then everything since [`Store::begin`] is undone.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Makes commits durable, in a thread that waits for the disk while the writer continues. Without it, a commit is
    /// durable when it returns.
    fn syncer(&self) -> Option<Syncer> {
        None
    }

    /// Completes the store's own files, if it keeps a part of its rows elsewhere while it is open. Nothing is stored afterwards.
    ///
    /// # Errors
    /// If that fails. Nothing is lost, but the store is not complete without what it keeps elsewhere.
    fn close(&mut self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Does work that the last commit has deferred, until it is done or `interrupted` returns true because a request waits. The
    /// store's content must not depend on whether and when this is called.
    #[doc(hidden)]
    fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) {
        let _ = interrupted;
    }

    /// Starts to write the journal of requests into the store, for all processes. Without it, each process remembers its own
    /// requests in memory.
    ///
    /// # Errors
    /// If the engine fails.
    #[doc(hidden)]
    fn journal(&mut self) -> Result<Option<SharedJournal>, StoreError> {
        Ok(None)
    }

    /// Returns whether the store is reachable at this moment, if it can be unreachable.
    #[doc(hidden)]
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// Begins the time for which the following transactions wait for a store that is unreachable: until the next call
    /// they share it. A task without a request waits only shortly.
    #[doc(hidden)]
    fn begin_patience(&mut self, is_task: bool) {
        let _ = is_task;
    }

    /// Returns what ends all waits for the store when the process stops, if the store can be unreachable.
    #[doc(hidden)]
    fn halt(&self) -> Option<Halt> {
        None
    }

    /// Undoes everything since [`Store::begin`]. Does nothing if no transaction is open.
    fn rollback(&mut self);

    /// Returns whether a transaction is open. An engine may close one by itself after a serious error, such as a full disk.
    fn in_transaction(&self) -> bool;

    /// Returns whether several processes may have the store open at the same time.
    fn is_shared(&self) -> bool {
        false
    }

    /// Returns whether the records have changed between this process's last commit and the current transaction.
    fn change(&self) -> Change {
        Change::None
    }

    /// Returns the place of a number that all processes share: [`Store::begin`] reads it, and [`Store::commit`] stores it with the
    /// rows. It is the number of the last key, which keys of all processes follow, so that the order of keys is the order of time
    /// even if the clocks of processes or accounts differ. `None` if one process alone writes.
    fn last_key(&mut self) -> Option<&mut u64> {
        None
    }

    /// Returns whether the last transaction was undone by a conflict or a lost connection, so that it may succeed when it is
    /// repeated.
    fn may_try_again(&self) -> bool {
        false
    }

    /// Names records that will probably be read, before the transaction that reads them or within it. An engine whose reads wait
    /// for a network can read them together; other engines ignore this.
    fn expect(&mut self, records: &mut dyn Iterator<Item = (&'static Kind, String)>) {
        let _ = records;
    }

    /// Returns the body of a record; `None` if no record has this key.
    ///
    /// # Errors
    /// If the engine fails.
    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError>;

    /// Returns whether there is a record with this key.
    ///
    /// # Errors
    /// If the engine fails.
    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError>;

    /// Writes a record. Replaces the one with the same key, if there is one.
    ///
    /// # Errors
    /// If the engine fails.
    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError>;

    /// Removes a record, if it exists.
    ///
    /// # Errors
    /// If the engine fails.
    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError>;

    /// Returns the bodies of the records that match a query, in its order: [merchant](Query::merchant),
    /// [condition](Query::condition), [key](Query::below), [direction](Query::is_ascending), [limit](Query::limit).
    ///
    /// # Errors
    /// If the engine fails.
    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError>;
}
