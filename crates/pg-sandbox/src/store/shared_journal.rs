//! The journal of requests of all processes that share one store.
//!
//! A thread with its own connection writes it after the requests, which never wait for it. An entry is in the store
//! about [`LAG`] after its request. While the store is unreachable, the newest entries wait. A process that is killed
//! loses waiting entries.

use std::{
    collections::{BTreeSet, VecDeque},
    io, slice,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use super::StoreError;

/// How long entries are collected before they are written with one statement.
const LAG: Duration = Duration::from_millis(200);
/// The number of entries that are written at once without waiting for more.
const MANY: usize = 500;
/// The number of entries that may wait. The oldest ones are dropped.
const MOST_WAITING: usize = 10_000;
/// The number of entries that are kept of each account, and of requests without an account.
#[cfg(feature = "postgres")]
pub(super) const MOST_OF_ACCOUNT: u32 = 2_000;
/// The number of entries that this process writes between two removals of old ones.
const BETWEEN_TRIMS: usize = 500;
/// How long entries are kept, on the real clock.
const MOST_AGE: i64 = 24 * 60 * 60 * 1_000;
/// How long a reader waits for the thread.
const PATIENCE: Duration = Duration::from_secs(10);
/// Digits of the time in a key.
const TIME_DIGITS: usize = 13;

/// An entry that waits for the store.
pub struct JournalLine {
    /// The real time of the request, in milliseconds.
    pub time: i64,
    /// Its number in its process.
    pub number: u64,
    /// The account; empty if there is none.
    pub merchant: String,
    /// Renders the entry with a key; the thread calls it, not the request.
    pub body: Box<dyn FnOnce(&str) -> String + Send>,
}

/// An entry as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalRow {
    /// Its key, which sorts by time.
    pub key: String,
    /// The account; empty if there is none.
    pub merchant: String,
    /// The entry as JSON.
    pub body: String,
}

/// Returns the key of the first entry that a request at this time can have.
#[must_use]
pub fn first_key(time: i64) -> String {
    format!("{:0TIME_DIGITS$}", time.max(0))
}

/// Whether a text can be the key of an entry.
#[must_use]
pub fn is_key(text: &str) -> bool {
    let (time, rest) = text.as_bytes().split_at(text.len().min(TIME_DIGITS));
    time.len() == TIME_DIGITS && time.iter().all(u8::is_ascii_digit) && rest.first() == Some(&b'-')
}

/// The table of the journal.
pub trait JournalTable: Send {
    /// Writes entries; an existing entry is overwritten.
    ///
    /// # Errors
    /// If the store fails.
    fn add(&mut self, rows: &[JournalRow]) -> Result<(), StoreError>;

    /// Returns entries before a key, newest first, of one account or of all.
    ///
    /// # Errors
    /// If the store fails.
    fn newest(
        &mut self,
        merchant: Option<&str>,
        before: Option<&str>,
        limit: u32,
    ) -> Result<Vec<JournalRow>, StoreError>;

    /// Returns the body of an entry.
    ///
    /// # Errors
    /// If the store fails.
    fn get(&mut self, key: &str) -> Result<Option<String>, StoreError>;

    /// Removes the entries of an account.
    ///
    /// # Errors
    /// If the store fails.
    fn forget(&mut self, merchant: &str) -> Result<(), StoreError>;

    /// Removes all entries before a key, and of each given account all but its newest.
    ///
    /// # Errors
    /// If the store fails.
    fn trim(&mut self, merchants: &BTreeSet<String>, before: &str) -> Result<(), StoreError>;
}

type Rows = Result<Vec<JournalRow>, StoreError>;

enum Ask {
    Newest { merchant: Option<String>, before: Option<String>, limit: u32, answer: Sender<Rows> },
    Get(String, Sender<Result<Option<String>, StoreError>>),
    Forget(String),
}

#[derive(Default)]
struct Waiting {
    lines: VecDeque<JournalLine>,
    asks: VecDeque<Ask>,
    ended: bool,
}

#[derive(Default)]
struct Desk {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is work. Entries wait a little for more of them, and so do those that could not be written.
    fn take(&self, has_unwritten: bool) -> (VecDeque<JournalLine>, VecDeque<Ask>, bool) {
        let mut waiting = self.lock();
        if !has_unwritten {
            let nothing = |waiting: &mut Waiting| waiting.lines.is_empty() && waiting.asks.is_empty() && !waiting.ended;
            waiting = self.wake.wait_while(waiting, nothing).unwrap_or_else(PoisonError::into_inner);
        }
        let more = |waiting: &mut Waiting| waiting.lines.len() < MANY && waiting.asks.is_empty() && !waiting.ended;
        let waited = self.wake.wait_timeout_while(waiting, LAG, more);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut waiting.lines), std::mem::take(&mut waiting.asks), waiting.ended)
    }
}

/// The journal of all processes. Its thread ends when this is dropped, after it has written the waiting entries.
pub struct SharedJournal {
    desk: Arc<Desk>,
    thread: Option<thread::JoinHandle<()>>,
}

impl SharedJournal {
    /// Starts the thread. The name is that of this process and is part of its keys.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn start(table: Box<dyn JournalTable>, process: &str) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let (at, process) = (Arc::clone(&desk), process.to_owned());
        let thread = thread::Builder::new().name("sandbox-journal".to_owned());
        let thread = thread.spawn(move || Writer::new(table, process).run(&at))?;
        Ok(Self { desk, thread: Some(thread) })
    }

    /// Adds entries. Returns at once.
    pub fn add(&self, lines: impl Iterator<Item = JournalLine>) {
        let mut waiting = self.desk.lock();
        let before = waiting.lines.len();
        waiting.lines.extend(lines);
        let excess = waiting.lines.len().saturating_sub(MOST_WAITING);
        waiting.lines.drain(..excess);
        let now = waiting.lines.len();
        drop(waiting);
        // Otherwise the thread wakes up by itself in time.
        if (before == 0 && now > 0) || (before < MANY && now >= MANY) {
            self.desk.wake.notify_one();
        }
    }

    /// Returns entries before a key, newest first, of one account or of all. Entries that this process has added are
    /// included.
    ///
    /// # Errors
    /// If the store fails, or does not answer in time.
    pub fn newest(&self, merchant: Option<&str>, before: Option<&str>, limit: u32) -> Rows {
        let (merchant, before) = (merchant.map(str::to_owned), before.map(str::to_owned));
        self.ask(|answer| Ask::Newest { merchant, before, limit, answer })
    }

    /// Returns the body of an entry.
    ///
    /// # Errors
    /// If the store fails, or does not answer in time.
    pub fn get(&self, key: &str) -> Result<Option<String>, StoreError> {
        self.ask(|answer| Ask::Get(key.to_owned(), answer))
    }

    /// Removes the entries of an account, without waiting for it.
    pub fn forget(&self, merchant: &str) {
        self.send(Ask::Forget(merchant.to_owned()));
    }

    fn send(&self, ask: Ask) {
        self.desk.lock().asks.push_back(ask);
        self.desk.wake.notify_one();
    }

    fn ask<T>(&self, ask: impl FnOnce(Sender<Result<T, StoreError>>) -> Ask) -> Result<T, StoreError> {
        let (answer, answered) = channel();
        self.send(ask(answer));
        let late = |_| {
            let problem = format!("the journal did not answer within {} seconds", PATIENCE.as_secs());
            Err(StoreError::Unreachable(problem))
        };
        answered.recv_timeout(PATIENCE).unwrap_or_else(late)
    }
}

impl Drop for SharedJournal {
    fn drop(&mut self) {
        self.desk.lock().ended = true;
        self.desk.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // It fails only after a panic of the thread, which loses journal entries and nothing else.
            let _ = thread.join();
        }
    }
}

/// The state of the thread.
struct Writer {
    table: Box<dyn JournalTable>,
    process: String,
    /// Entries that could not be written yet.
    unwritten: Vec<JournalRow>,
    /// Accounts with entries since the last removal of old ones, and the number of these entries.
    written: BTreeSet<String>,
    count: usize,
    newest: i64,
}

impl Writer {
    fn new(table: Box<dyn JournalTable>, process: String) -> Self {
        Self {
            table,
            process,
            unwritten: Vec::new(),
            written: BTreeSet::new(),
            // So that the first entries remove old ones of an earlier process.
            count: BETWEEN_TRIMS,
            newest: 0,
        }
    }

    fn run(mut self, desk: &Desk) {
        loop {
            let (lines, asks, ended) = desk.take(!self.unwritten.is_empty());
            self.write(lines);
            for ask in asks {
                self.answer(ask);
            }
            self.trim();
            if ended {
                return;
            }
        }
    }

    fn write(&mut self, lines: VecDeque<JournalLine>) {
        for line in lines {
            let key = format!("{}-{:010}-{}", first_key(line.time), line.number, self.process);
            self.newest = self.newest.max(line.time);
            let body = (line.body)(&key);
            self.unwritten.push(JournalRow { key, merchant: line.merchant, body });
        }
        let excess = self.unwritten.len().saturating_sub(MOST_WAITING);
        self.unwritten.drain(..excess);
        if self.unwritten.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.unwritten);
        match self.table.add(&rows) {
            Ok(()) => rows.into_iter().for_each(|row| self.note(row)),
            Err(error) if is_passing(&error) => self.unwritten = rows,
            Err(_) => self.write_each(rows),
        }
    }

    /// Writes entries one by one, of which the store refuses at least one: only those that it refuses are lost.
    fn write_each(&mut self, rows: Vec<JournalRow>) {
        let mut rows = rows.into_iter();
        while let Some(row) = rows.next() {
            match self.table.add(slice::from_ref(&row)) {
                Ok(()) => self.note(row),
                Err(error) if is_passing(&error) => {
                    self.unwritten.push(row);
                    self.unwritten.extend(rows.by_ref());
                }
                // The store would refuse it later too.
                Err(_) => {}
            }
        }
    }

    /// Records that an entry is in the store.
    fn note(&mut self, row: JournalRow) {
        self.count += 1;
        self.written.insert(row.merchant);
    }

    /// Returns entries of the store together with those that could not be written yet.
    fn newest(&mut self, merchant: Option<&str>, before: Option<&str>, limit: u32) -> Rows {
        let mut rows = self.table.newest(merchant, before, limit)?;
        let is_wanted = |row: &&JournalRow| {
            merchant.is_none_or(|merchant| row.merchant == merchant) && before.is_none_or(|before| &*row.key < before)
        };
        rows.extend(self.unwritten.iter().filter(is_wanted).cloned());
        rows.sort_by(|a, b| b.key.cmp(&a.key));
        // The answer to a write may be lost after it was done.
        rows.dedup_by(|a, b| a.key == b.key);
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows)
    }

    fn get(&mut self, key: &str) -> Result<Option<String>, StoreError> {
        let unwritten = self.unwritten.iter().find(|row| row.key == key);
        unwritten.map_or_else(|| self.table.get(key), |row| Ok(Some(row.body.clone())))
    }

    fn answer(&mut self, ask: Ask) {
        // A reader that has ended needs no answer.
        match ask {
            Ask::Newest { merchant, before, limit, answer } => {
                let _ = answer.send(self.newest(merchant.as_deref(), before.as_deref(), limit));
            }
            Ask::Get(key, answer) => {
                let _ = answer.send(self.get(&key));
            }
            Ask::Forget(merchant) => {
                self.unwritten.retain(|row| row.merchant != merchant);
                // The remaining entries are removed when they are old; another account of the same name does not see
                // them.
                let _ = self.table.forget(&merchant);
            }
        }
    }

    /// Removes old entries from time to time. After a failure they are removed the next time.
    fn trim(&mut self) {
        if self.count < BETWEEN_TRIMS || !self.unwritten.is_empty() {
            return;
        }
        if self.table.trim(&self.written, &first_key(self.newest.saturating_sub(MOST_AGE))).is_ok() {
            self.written.clear();
        }
        self.count = 0;
    }
}

/// Whether a write may succeed later; entries wait for it.
const fn is_passing(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unreachable(_)
            | StoreError::Denied(_)
            | StoreError::Conflict
            | StoreError::ReadOnly
            | StoreError::Full
            | StoreError::Lost
    )
}

#[cfg(test)]
mod tests;
