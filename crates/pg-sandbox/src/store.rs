//! The records behind one small trait, [`Store`]. SQLite is the engine of one machine; an engine of your own implements the
//! trait, passes [`crate::conformance`], and runs under [`crate::Sandbox::over`].
//!
//! The core makes time-ordered keys itself, so an engine needs no sequences, no time and no randomness. It holds rows of
//! text by primary key with a few index columns, inside transactions. A request that fails has nothing to undo there: its
//! changes wait in a transaction of the core until it has succeeded. Text orders by its bytes (SQLite's default; collation
//! "C" in PostgreSQL). [`crate::KINDS`] lists every kind of record: an engine needs one table for each.
//!
//! To add a kind of record, write one type with `StoredRecord`, add it to `KINDS`, and add its tables in `store/schema/`. A
//! column of type `BLOB` holds a keyed digest of what a caller wrote: a query finds it by its whole value, and it has no order.

use std::borrow::Cow;

mod error;
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

/// What happened to the records since this process's last transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing: what this process remembers of them is right.
    None,
    /// Another process may have written: what this process remembers of them may be wrong.
    ByOthers,
}

/// A record as an engine holds it.
#[derive(Debug)]
pub struct Row<'a> {
    /// The primary key, unique in its kind.
    pub key: &'a str,
    /// The name of the merchant that owns the record; empty when none does.
    pub merchant: &'a str,
    /// The values of the index columns.
    pub index: Index<'a>,
    /// The record as JSON.
    pub body: &'a str,
}

/// An engine that holds rows. One writer owns it; nothing is durable before [`Store::commit`], and where the engine has
/// a [`Syncer`], before that has returned.
pub trait Store: Send {
    /// Opens a transaction.
    ///
    /// # Errors
    /// When the engine refuses; no transaction is open then.
    fn begin(&mut self) -> Result<(), StoreError>;

    /// Ends the transaction. What it wrote outlives this process from now on, and is durable whatever happens to the
    /// machine once the [`Syncer`], if there is one, has returned.
    ///
    /// # Errors
    /// When the engine could not; everything since [`Store::begin`] is undone then.
    fn commit(&mut self) -> Result<(), StoreError>;

    /// Makes commits durable, in a thread that waits for the disk while the writer continues. Without it, a commit is
    /// durable when it returns.
    fn syncer(&self) -> Option<Syncer> {
        None
    }

    /// Starts to write the journal of requests into the store, for all processes. Without it, each process remembers its own
    /// requests in memory.
    ///
    /// # Errors
    /// When the engine fails.
    #[doc(hidden)]
    fn journal(&mut self) -> Result<Option<SharedJournal>, StoreError> {
        Ok(None)
    }

    /// Tells whether the store is reached at this moment, if it can be away.
    #[doc(hidden)]
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// Undoes everything since [`Store::begin`].
    fn rollback(&mut self);

    /// Whether a transaction is open. An engine may close one by itself after a serious error,
    /// such as a full disk.
    fn in_transaction(&self) -> bool;

    /// Whether several processes may have the store open at once.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether the records have changed between this process's last commit and the current transaction.
    fn change(&self) -> Change {
        Change::None
    }

    /// Whether the last transaction was undone by a conflict or a lost connection, so that it may succeed when it is done
    /// again from the start.
    fn may_try_again(&self) -> bool {
        false
    }

    /// Names records that will probably be read, before the transaction that reads them or within it. An engine whose reads wait for
    /// a network can read them together; any other one need not even ask which they are.
    fn expect(&mut self, records: &mut dyn Iterator<Item = (&'static Kind, String)>) {
        let _ = records;
    }

    /// The body of a record.
    ///
    /// # Errors
    /// When the engine fails.
    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError>;

    /// Whether there is a record with this key.
    ///
    /// # Errors
    /// When the engine fails.
    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError>;

    /// Writes a record whether or not its key is there.
    ///
    /// # Errors
    /// When the engine fails.
    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError>;

    /// Removes a record, if it is there.
    ///
    /// # Errors
    /// When the engine fails.
    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError>;

    /// The bodies of the records that a query describes, in its order.
    ///
    /// # Errors
    /// When the engine fails.
    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError>;
}
