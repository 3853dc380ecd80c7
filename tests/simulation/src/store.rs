//! The service's store: SQLite in memory behind a wrapper that can crash at any operation and that sees what is
//! committed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pg_sandbox::{
    Timestamp,
    records::{Authentication, Batch, BatchCards, Callback, CardToken, FailedAttempts, Payment, Session},
    store::{Change, Kind, Query, Row, Store, StoreError, StoredRecord as _, Transaction},
};

use crate::{ledger::Ledger, secrets::Secrets};

/// A handle of one process, or of the world; all share the store. It survives a crash of the service.
pub(crate) struct CrashingStore {
    shared: Arc<Mutex<Shared>>,
    sharing: Sharing,
    /// The number of commits that the process has seen; `None` before its first transaction.
    seen: Option<u64>,
    change: Change,
    last_key: u64,
}

/// How several processes share the store.
#[derive(Clone, Copy)]
pub(crate) struct Sharing {
    /// Whether there are several.
    pub(crate) several: bool,
    /// Whether each knows that there are others.
    pub(crate) is_told: bool,
    /// Whether each notices what others write.
    pub(crate) notices: bool,
}

struct Shared {
    engine: Box<dyn Store>,
    /// How often a process has committed.
    commits: u64,
    /// The number of the last key of all processes.
    last_key: u64,
    /// When the next work in the store is due, and after how many commits that was determined.
    work: Option<(u64, Option<Timestamp>)>,
    /// Crashes after this many operations.
    crash_in: Option<u32>,
    crashed: bool,
    /// Data that was written since the transaction began.
    written: Vec<Written>,
    ledger: Ledger,
    /// Secrets that must not be stored, and the first one found.
    secrets: Secrets,
    leak: Option<String>,
}

enum Written {
    Payment(Box<Payment>),
    Failures(FailedAttempts),
    Session(Box<Session>),
    Authentication(Box<Authentication>),
    CardKey(Box<CardToken>),
    /// A card key that is deleted.
    NoCardKey(String),
}

impl Written {
    /// Returns what checks need of a row.
    fn of(kind: &'static Kind, body: &str) -> Option<Self> {
        let table = kind.table;
        if table == Payment::KIND.table {
            serde_json::from_str(body).ok().map(Self::Payment)
        } else if table == FailedAttempts::KIND.table {
            serde_json::from_str(body).ok().map(Self::Failures)
        } else if table == Session::KIND.table {
            serde_json::from_str(body).ok().map(Self::Session)
        } else if table == Authentication::KIND.table {
            serde_json::from_str(body).ok().map(Self::Authentication)
        } else if table == CardToken::KIND.table {
            serde_json::from_str(body).ok().map(Self::CardKey)
        } else {
            None
        }
    }
}

impl CrashingStore {
    pub(crate) fn new(engine: Box<dyn Store>, sharing: Sharing, secrets: Secrets) -> Self {
        let shared = Arc::new(Mutex::new(Shared {
            engine,
            commits: 0,
            last_key: 0,
            work: None,
            crash_in: None,
            crashed: false,
            written: Vec::new(),
            ledger: Ledger::default(),
            secrets,
            leak: None,
        }));
        Self { shared, sharing, seen: None, change: Change::ByOthers, last_key: 0 }
    }

    /// A handle for a process that starts.
    pub(crate) fn handle(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            sharing: self.sharing,
            seen: None,
            change: Change::ByOthers,
            last_key: 0,
        }
    }

    /// When the first callback, batch or session in the store is due.
    pub(crate) fn next_work(&self) -> Option<Timestamp> {
        let mut shared = self.lock();
        let commits = shared.commits;
        if let Some((_, work)) = shared.work.filter(|(known, _)| *known == commits) {
            return work;
        }
        let mut records = Transaction::new(&mut *shared.engine);
        let latest = Timestamp::MAX.sortable();
        let first = |column| Query::oldest(100).at_most(column, &latest);
        let callbacks = records.find::<Callback>(&first(Callback::DUE)).unwrap_or_default();
        // One that was claimed is due when the claim has expired.
        let callbacks = callbacks.iter().map(|one| one.claimed_until.map_or(one.due, |until| until.max(one.due)));
        let batches = records.find::<Batch>(&first(Batch::DUE)).unwrap_or_default();
        let sessions = records.find::<Session>(&first(Session::CARD_UNTIL)).unwrap_or_default();
        let others = batches.iter().map(|batch| batch.due).chain(sessions.iter().map(|session| session.expires));
        let work = callbacks.chain(others).min();
        shared.work = Some((commits, work));
        work
    }

    /// Makes it crash after this many operations.
    pub(crate) fn crash_in(&self, operations: u32) {
        self.lock().crash_in = Some(operations);
    }

    /// Postpones a crash until it is armed again.
    pub(crate) fn disarm(&self) -> Option<u32> {
        self.lock().crash_in.take()
    }

    pub(crate) fn arm(&self, operations: Option<u32>) {
        self.lock().crash_in = operations;
    }

    pub(crate) fn has_crashed(&self) -> bool {
        self.lock().crashed
    }

    /// Ends the process: uncommitted data is lost.
    pub(crate) fn restart(&self) {
        let mut shared = self.lock();
        shared.engine.rollback();
        shared.forget();
        shared.crash_in = None;
        shared.crashed = false;
    }

    /// Reads the committed data.
    pub(crate) fn ledger<T>(&self, look: impl FnOnce(&mut Ledger) -> T) -> T {
        look(&mut self.lock().ledger)
    }

    pub(crate) fn leak(&self) -> Option<String> {
        self.lock().leak.clone()
    }

    /// The payments that the store itself holds.
    pub(crate) fn payments(&self) -> Result<Vec<Payment>, StoreError> {
        let mut shared = self.lock();
        Transaction::new(&mut *shared.engine).find::<Payment>(&Query::oldest(100_000))
    }

    /// Whether the store itself holds a record.
    pub(crate) fn holds(&self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.lock().engine.get(kind, key).map(|found| found.is_some())
    }

    /// A batch of the account updater.
    pub(crate) fn batch(&self, key: &str) -> Option<BatchCards> {
        Transaction::new(&mut *self.lock().engine).get::<BatchCards>(key).ok().flatten()
    }

    /// All of them.
    pub(crate) fn batches(&self) -> Result<Vec<BatchCards>, StoreError> {
        Transaction::new(&mut *self.lock().engine).find::<BatchCards>(&Query::oldest(100_000))
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One operation of the service.
    fn operate<T>(&self, work: impl FnOnce(&mut Shared) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut shared = self.lock();
        if let Some(left) = shared.crash_in {
            shared.crashed |= left == 0;
            shared.crash_in = Some(left.saturating_sub(1));
        }
        if shared.crashed { Err(StoreError::Lost) } else { work(&mut shared) }
    }
}

impl Shared {
    fn forget(&mut self) {
        self.written.clear();
    }

    fn note(&mut self, kind: &'static Kind, row: &Row<'_>) {
        if let Some(secret) = self.secrets.found_in(row.body) {
            self.leak.get_or_insert_with(|| format!("{secret} in a record of {}", kind.table));
        }
        self.written.extend(Written::of(kind, row.body));
    }

    fn committed(&mut self) {
        for written in self.written.drain(..) {
            match written {
                Written::Payment(payment) => self.ledger.take(*payment),
                Written::Failures(failures) => {
                    self.ledger.failures.insert(failures.key().to_owned(), failures);
                }
                Written::Session(session) => self.ledger.opened(*session),
                Written::Authentication(authentication) => self.ledger.authenticated(*authentication),
                Written::CardKey(card) => {
                    self.ledger.card_keys.insert(card.key, card.enabled);
                }
                Written::NoCardKey(key) => {
                    self.ledger.card_keys.remove(&key);
                }
            }
        }
    }
}

impl Store for CrashingStore {
    fn begin(&mut self) -> Result<(), StoreError> {
        let (commits, last_key) = self.operate(|shared| {
            shared.forget();
            shared.engine.begin().map(|()| (shared.commits, shared.last_key))
        })?;
        self.last_key = last_key;
        let by_others = self.sharing.several && self.sharing.notices && self.seen != Some(commits);
        self.change = if by_others { Change::ByOthers } else { self.lock().engine.change() };
        self.seen = Some(commits);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let last_key = self.last_key;
        let commits = self.operate(|shared| {
            let result = shared.engine.commit();
            if result.is_ok() {
                shared.commits += 1;
                shared.last_key = last_key;
                shared.committed()
            } else {
                shared.forget()
            }
            result.map(|()| shared.commits)
        })?;
        self.seen = Some(commits);
        Ok(())
    }

    fn rollback(&mut self) {
        let mut shared = self.lock();
        shared.engine.rollback();
        shared.forget();
    }

    fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) {
        let mut shared = self.lock();
        if !shared.crashed {
            shared.engine.settle(interrupted);
        }
    }

    fn in_transaction(&self) -> bool {
        let shared = self.lock();
        !shared.crashed && shared.engine.in_transaction()
    }

    // A process that is alone does not share it, whatever the engine can do.
    fn is_shared(&self) -> bool {
        self.sharing.several && self.sharing.is_told
    }

    fn change(&self) -> Change {
        self.change
    }

    fn last_key(&mut self) -> Option<&mut u64> {
        self.sharing.several.then_some(&mut self.last_key)
    }

    fn may_try_again(&self) -> bool {
        let shared = self.lock();
        !shared.crashed && shared.engine.may_try_again()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.operate(|shared| shared.engine.get(kind, key))
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.operate(|shared| shared.engine.holds(kind, key))
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.operate(|shared| {
            shared.note(kind, row);
            shared.engine.put(kind, row)
        })
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.operate(|shared| {
            if kind.table == CardToken::KIND.table {
                shared.written.push(Written::NoCardKey(key.to_owned()));
            }
            shared.engine.remove(kind, key)
        })
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.operate(|shared| shared.engine.select(kind, query))
    }
}
