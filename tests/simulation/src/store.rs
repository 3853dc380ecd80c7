//! The service's store: SQLite in memory behind a wrapper that can crash at any operation and that sees what is
//! committed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pg_sandbox::{
    records::{BatchCards, CardToken, FailedAttempts, Payment, Session},
    store::{Change, Kind, Query, Row, Store, StoreError, StoredRecord as _, Transaction},
};

use crate::{ledger::Ledger, secrets::Secrets};

/// A handle; clones share the store. It survives a crash of the service.
#[derive(Clone)]
pub(crate) struct CrashingStore(Arc<Mutex<Shared>>);

struct Shared {
    engine: Box<dyn Store>,
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
        } else if table == CardToken::KIND.table {
            serde_json::from_str(body).ok().map(Self::CardKey)
        } else {
            None
        }
    }
}

impl CrashingStore {
    pub(crate) fn new(engine: Box<dyn Store>, secrets: Secrets) -> Self {
        Self(Arc::new(Mutex::new(Shared {
            engine,
            crash_in: None,
            crashed: false,
            written: Vec::new(),
            ledger: Ledger::default(),
            secrets,
            leak: None,
        })))
    }

    /// Makes it crash after this many operations.
    pub(crate) fn crash_in(&self, operations: u32) {
        self.lock().crash_in = Some(operations);
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.operate(|shared| {
            shared.forget();
            shared.engine.begin()
        })
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.operate(|shared| {
            let result = shared.engine.commit();
            if result.is_ok() {
                shared.committed()
            } else {
                shared.forget()
            }
            result
        })
    }

    fn rollback(&mut self) {
        let mut shared = self.lock();
        shared.engine.rollback();
        shared.forget();
    }

    fn in_transaction(&self) -> bool {
        let shared = self.lock();
        !shared.crashed && shared.engine.in_transaction()
    }

    // It is not shared, whatever the engine can do: the service of a world is its only process.

    fn change(&self) -> Change {
        self.lock().engine.change()
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
