//! The store in PostgreSQL, or in a database that speaks its protocol: one store for any number of processes.
//!
//! A group of requests is one SERIALIZABLE transaction. It locks the table `turn` first, so that the groups of several
//! processes queue instead of conflicting. In a database without such a lock, SERIALIZABLE alone keeps the promises.
//! Writes wait in memory and go out together with the commit, one statement for each table. A transaction that the
//! database rolled back because of a conflict, or whose connection broke before the commit, can be repeated
//! ([`Store::may_try_again`]). If the connection breaks during the commit, the row of this process in `processes` shows
//! whether it was done. Each number in it is committed once.
//!
//! Bodies are sealed as in SQLite ([`super::seal`]). There is no sum of all rows: a removed row, or an earlier version
//! of a row, is not noticed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio_postgres::{SimpleQueryMessage, types::Type};
use zeroize::Zeroizing;

use self::{
    ahead::Ahead,
    journal::PostgresJournal,
    link::{Link, Trouble},
    schema::Found,
    table::{Batch, Table},
    written::{Held, batches, is_quiet},
};
use super::{Change, Halt, Kind, Query, Reach, Row, SharedJournal, Store, StoreError, seal::Sealer};

mod ahead;
mod direct;
mod journal;
mod keys;
mod link;
mod patience;
mod reseal;
mod schema;
mod shown;
mod table;
mod written;

pub use keys::KeyRing;
pub use schema::Step;
pub use shown::without_password;

/// How many times the question whether a commit was done is asked again after a conflict.
const QUESTIONS: u32 = 20;

/// A store that several processes may have open.
pub struct Postgres {
    url: String,
    ring: KeyRing,
    root: Zeroizing<[u8; 32]>,
    key_changes: i64,
    link: Link,
    /// The newest format that this program knows.
    known: i64,
    sealer: Sealer,
    /// The sealer of the thread that writes the journal.
    journal_sealer: Arc<Mutex<Sealer>>,
    tables: Vec<Table>,
    /// This process in the table of processes, and how many groups it has committed.
    process: String,
    number: i64,
    /// How many of the groups that this process has seen wrote records that processes keep copies of.
    generation: i64,
    /// The number of the last key of all processes.
    last_key: u64,
    /// Whether the open transaction has written no such record.
    is_quiet: bool,
    change: Change,
    open: bool,
    /// Why the database has rolled back the open transaction.
    trouble: Option<Trouble>,
    /// The writes of the open transaction, by table and key.
    written: BTreeMap<&'static str, BTreeMap<String, Option<Held>>>,
    /// Whether the open transaction has sent a part of it.
    sent: bool,
    /// The rows that are read at the beginning of a transaction, before requests need them.
    ahead: Ahead,
}

impl Postgres {
    /// Opens or creates the store in a database, with the key that its rows are sealed with. The name distinguishes
    /// this process from all others, past and present.
    ///
    /// Beyond this machine the connection is encrypted and the certificate is checked, against the authorities in the file
    /// `sslrootcert` of the URL or those that Mozilla trusts. `sslmode=disable` in the URL switches TLS off; `require` and
    /// `verify-full` demand it on this machine too.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`], [`StoreError::ReadOnly`], [`StoreError::Foreign`], [`StoreError::Newer`],
    /// [`StoreError::WrongKey`], and other errors if the database fails. The store is unchanged then.
    pub fn open(url: &str, key: &[u8; 32], process: &str) -> Result<Self, StoreError> {
        Self::open_with(url, KeyRing::new(key, []), process)
    }

    /// Opens the store with several keys. If the newest one is new to the store, every process seals with it from now on.
    ///
    /// # Errors
    /// As [`Postgres::open`], [`StoreError::MissingKey`], and [`StoreError::RetiredKey`].
    pub fn open_with(url: &str, ring: KeyRing, process: &str) -> Result<Self, StoreError> {
        Self::open_as(schema::STEPS, url, ring, process)
    }

    /// Opens the store as a program that knows these steps of the format: an earlier one knows fewer, a later one more.
    ///
    /// # Errors
    /// As [`Postgres::open`].
    #[doc(hidden)]
    pub fn open_knowing(steps: &[Step], url: &str, key: &[u8; 32], process: &str) -> Result<Self, StoreError> {
        Self::open_as(steps, url, KeyRing::new(key, []), process)
    }

    fn open_as(steps: &[Step], url: &str, ring: KeyRing, process: &str) -> Result<Self, StoreError> {
        let mut link = Link::new(url)?;
        let Found { tables, key_changes, sealer, root } = schema::open(&mut link, &ring, process, steps)?;
        Ok(Self {
            ring,
            root,
            key_changes,
            journal_sealer: Arc::new(Mutex::new(sealer.clone())),
            url: url.to_owned(),
            known: schema::newest(steps),
            link,
            sealer,
            tables,
            process: process.to_owned(),
            number: 0,
            generation: 0,
            last_key: 0,
            is_quiet: true,
            change: Change::ByOthers,
            open: false,
            trouble: None,
            written: BTreeMap::new(),
            sent: false,
            ahead: Ahead::default(),
        })
    }

    /// Returns the steps of the format that this program knows.
    #[doc(hidden)]
    #[must_use]
    pub fn steps() -> &'static [Step] {
        schema::STEPS
    }

    /// Whether a database contains a store.
    ///
    /// # Errors
    /// [`StoreError::Unreachable`], and other errors if the database fails.
    pub fn is_there(url: &str) -> Result<bool, StoreError> {
        schema::is_there(&mut Link::new(url)?).map_err(|trouble| trouble.error())
    }

    /// Returns the first key of the store, on which identifiers depend.
    #[must_use]
    pub fn root(&self) -> &[u8; 32] {
        &self.root
    }

    /// Reads the keys again in the open transaction, after another process has changed them.
    fn follow_keys(&mut self, changes: i64) -> Result<(), StoreError> {
        let read = keys::read(&mut self.link, &self.ring);
        let known = read.map_err(|trouble| {
            let error = self.met(trouble);
            self.rollback();
            error
        })?;
        self.key_changes = changes;
        *self.journal_sealer.lock().unwrap_or_else(PoisonError::into_inner) = known.sealer.clone();
        self.sealer = known.sealer;
        Ok(())
    }

    /// Runs a statement of the open transaction.
    fn query(&mut self, text: &str, values: &[link::Value<'_>]) -> Result<Vec<tokio_postgres::Row>, StoreError> {
        if self.open && self.trouble.is_some() {
            return Err(self.undone());
        }
        let result = self.link.query(text, values);
        result.map_err(|trouble| self.met(trouble))
    }

    /// Records why the transaction is rolled back. An error of a statement rolls it back too.
    fn met(&mut self, trouble: Trouble) -> StoreError {
        let error = trouble.error();
        self.trouble = Some(trouble);
        error
    }

    fn undone(&self) -> StoreError {
        self.trouble.as_ref().map_or(StoreError::Lost, Trouble::error)
    }

    /// Returns the pending write of a row in the open transaction, unless it was sent already.
    fn held(&self, kind: &Kind, key: &str) -> Option<&Option<Held>> {
        self.written.get(kind.table)?.get(key)
    }

    /// Reads all expected rows in one round trip.
    fn read_expected(&mut self) -> Result<(), StoreError> {
        if self.open && self.trouble.is_some() {
            return Err(self.undone());
        }
        let (expected, batches) = self.expected()?;
        let queries: Vec<link::Statement<'_>> = batches.iter().map(Batch::statement).collect();
        let found = self.link.queries(&queries).map_err(|trouble| self.met(trouble))?;
        self.ahead.note(&self.tables, &mut self.sealer, expected, &found)
    }

    /// Takes the keys of the expected records, with the statements that read them.
    fn expected(&mut self) -> Result<(ahead::Keys, Vec<Batch>), StoreError> {
        let expected = self.ahead.take();
        let batches = ahead::statements(&self.tables, &self.sealer, &expected)?;
        Ok((expected, batches))
    }

    /// Sends the pending writes of one table, so that a query finds them.
    fn flush(&mut self, kind: &'static Kind) -> Result<(), StoreError> {
        let Some(rows) = self.written.remove(kind.table) else { return Ok(()) };
        self.ahead.written(kind.table, rows.keys());
        let table = Table::named(&self.tables, kind.table)?;
        let batches = batches(table, &mut self.sealer, &rows);
        self.sent = true;
        for batch in &batches {
            self.query(&batch.text, &batch.values())?;
        }
        Ok(())
    }

    /// Sends all pending writes, the note of this process, and COMMIT, in one round trip.
    fn finish(&mut self) -> Result<(), StoreError> {
        if self.written.is_empty() && !self.sent {
            return self.link.end("COMMIT").map_err(|trouble| self.met(trouble));
        }
        let mut all = Vec::new();
        for (name, rows) in &self.written {
            all.extend(batches(Table::named(&self.tables, name)?, &mut self.sealer, rows));
        }
        let number = self.number + 1;
        let last_key = i64::try_from(self.last_key).unwrap_or(i64::MAX);
        let mut statements: Vec<link::Statement<'_>> = all.iter().map(Batch::statement).collect();
        let is_quiet = self.is_quiet && self.known >= schema::QUIET;
        let note = schema::note(self.known, is_quiet);
        let mut noted: Vec<link::Value<'_>> = vec![(&self.process, Type::TEXT), (&number, Type::INT8)];
        if self.known >= schema::LAST_KEY {
            noted.push((&last_key, Type::INT8));
        }
        statements.push((&note, noted));
        let done = match self.link.finish(&statements) {
            Ok(()) => Ok(()),
            Err(Trouble::Broken(_)) => self.was_committed(number),
            // An earlier attempt was committed after all.
            Err(Trouble::Failed(StoreError::Engine(why))) if why.ends_with(schema::REPEATED) => {
                Err(self.met(Trouble::Unknown))
            }
            Err(trouble) => Err(self.met(trouble)),
        };
        if matches!(done, Ok(()) | Err(StoreError::Unknown)) {
            // A number that may be committed is not used again.
            self.number = number;
        }
        if done.is_ok() {
            self.generation += i64::from(!is_quiet);
        }
        done
    }

    /// Whether a commit whose answer was lost took effect. The question waits for a commit that is still in progress, and
    /// makes one that the database has not received yet fail.
    fn was_committed(&mut self, number: i64) -> Result<(), StoreError> {
        let process = self.process.replace('\'', "''");
        let select = format!("SELECT number FROM payment_sandbox.processes WHERE id = '{process}'; COMMIT");
        let look = |link: &Link| format!("{} {} {select}", schema::beginning_of_question(link), schema::TOUCH);
        let mut left = QUESTIONS;
        let messages = loop {
            // The wait for the lost answer may have taken all of the group's patience.
            match self.link.with_own_patience(|link| link.insist_with(&look, &[])) {
                Ok((messages, _)) => break messages,
                Err(Trouble::Conflict) if left > 0 && !self.link.takes_turns() => {
                    left -= 1;
                    self.link.drop_connection();
                    self.link.pause();
                }
                Err(_) => {
                    self.link.drop_connection();
                    return Err(self.met(Trouble::Unknown));
                }
            }
        };
        let found = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) if row.columns().first().is_some_and(|column| column.name() == "number") => {
                row.get(0)?.parse::<i64>().ok()
            }
            _ => None,
        });
        match found {
            Some(found) if found == number => Ok(()),
            Some(_) => Err(self.met(Trouble::Conflict)),
            // A starting process has removed the row, whatever it said: it took this process for one that ended long ago.
            None => Err(self.met(Trouble::Unknown)),
        }
    }
}

impl Store for Postgres {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.rollback();
        self.trouble = None;
        self.is_quiet = true;
        let (expected, batches) = self.expected()?;
        let queries: Vec<link::Statement<'_>> = batches.iter().map(Batch::statement).collect();
        let begun = schema::begin_with(&mut self.link, self.known, &queries);
        let (state, found) = begun.map_err(|trouble| self.met(trouble))?;
        self.open = true;
        if state.format > self.known {
            self.rollback();
            return Err(StoreError::Newer { found: state.format, known: self.known });
        }
        if state.key_changes != self.key_changes {
            self.follow_keys(state.key_changes)?;
        }
        self.change = if state.generation == self.generation { self.change } else { Change::ByOthers };
        self.generation = state.generation;
        self.last_key = state.last_key;
        self.ahead.note(&self.tables, &mut self.sealer, expected, &found)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if !self.in_transaction() {
            let error = self.undone();
            self.abandon();
            return Err(error);
        }
        let done = self.finish();
        self.written.clear();
        self.ahead = Ahead::default();
        self.sent = false;
        if done.is_ok() {
            self.open = false;
            self.change = Change::None;
        } else {
            self.abandon();
        }
        done
    }

    fn rollback(&mut self) {
        self.abandon();
    }

    fn in_transaction(&self) -> bool {
        self.open && self.trouble.is_none()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn change(&self) -> Change {
        self.change
    }

    fn last_key(&mut self) -> Option<&mut u64> {
        Some(&mut self.last_key)
    }

    fn journal(&mut self) -> Result<Option<SharedJournal>, StoreError> {
        if self.known < schema::JOURNAL {
            return Ok(None);
        }
        let table = PostgresJournal::new(&self.url, Arc::clone(&self.journal_sealer), self.link.halt())?;
        let started = SharedJournal::start(Box::new(table), self.process.get(..8).unwrap_or(&self.process));
        started.map(Some).map_err(|error| StoreError::Engine(format!("a thread: {error}")))
    }

    fn reach(&self) -> Option<Reach> {
        Some(Reach::new(self.link.reach()))
    }

    fn begin_patience(&mut self, is_task: bool) {
        self.link.begin_patience(is_task);
    }

    fn halt(&self) -> Option<Halt> {
        Some(self.link.halt())
    }

    fn may_try_again(&self) -> bool {
        matches!(self.trouble, Some(Trouble::Conflict | Trouble::Elsewhere | Trouble::Broken(_)))
    }

    fn expect(&mut self, records: &mut dyn Iterator<Item = (&'static Kind, String)>) {
        records.for_each(|(kind, key)| self.ahead.expect(kind.table, key));
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        if let Some(held) = self.held(kind, key) {
            return Ok(held.as_ref().map(|held| held.body.clone()));
        }
        if let Some(read) = self.ahead.get(kind.table, key) {
            return read.clone();
        }
        self.ahead.expect(kind.table, key.to_owned());
        self.read_expected()?;
        let read = self.ahead.get(kind.table, key).cloned().unwrap_or(Ok(None));
        if !self.open {
            // Without a transaction the next read may find other data.
            self.ahead.forget();
        }
        read
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        if let Some(held) = self.held(kind, key) {
            return Ok(held.is_some());
        }
        if self.ahead.expects(kind.table, key) || self.ahead.get(kind.table, key).is_some() {
            return Ok(self.get(kind, key)?.is_some());
        }
        let table = Table::named(&self.tables, kind.table)?;
        if !table.can_hold(key) {
            return Ok(false);
        }
        let (text, cell, of) = (table.holds.clone(), table.key(&self.sealer, key), table.key_type());
        Ok(!self.query(&text, &[(&cell, of)])?.is_empty())
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        let index = row.index.each_ref().map(|value| value.as_deref().map(str::to_owned));
        let held = Held { merchant: row.merchant.to_owned(), index, body: row.body.to_owned() };
        self.is_quiet &= is_quiet(kind, row.key);
        self.written.entry(kind.table).or_default().insert(row.key.to_owned(), Some(held));
        Ok(())
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.is_quiet &= is_quiet(kind, key);
        self.written.entry(kind.table).or_default().insert(key.to_owned(), None);
        Ok(())
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.flush(kind)?;
        let Some(selection) = Table::named(&self.tables, kind.table)?.selection(&self.sealer, query)? else {
            return Ok(Vec::new());
        };
        let rows = self.query(&selection.text, &selection.values())?;
        let Self { tables, sealer, .. } = self;
        let table = Table::named(tables, kind.table)?;
        rows.iter().map(|row| table.open(sealer, row)).collect()
    }
}

impl Postgres {
    /// Abandons the open transaction.
    fn abandon(&mut self) {
        self.written.clear();
        self.ahead.forget();
        self.sent = false;
        if self.open {
            self.open = false;
            // The core's state in memory may depend on the changes that are rolled back now.
            self.change = Change::ByOthers;
            if !matches!(self.trouble, Some(Trouble::Broken(_) | Trouble::Unknown))
                && self.link.end("ROLLBACK").is_err()
            {
                // The next transaction uses a new connection; the server rolls this one back when it notices.
                self.link.drop_connection();
            }
        }
    }
}
