//! A store that fails at a chosen operation, and outlives the sandbox over it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pg_sandbox::store::{Kind, Query, Row, Sqlite, Store, StoreError, Syncer};

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The engine reports an error, and the transaction stays open.
    Engine,
    /// The disk is full, and the engine rolls the transaction back.
    Full,
    /// The transaction is lost.
    Lost,
    /// A commit that reports an error but succeeded: no engine may do that.
    Lie,
}

/// SQLite in memory; clones share it.
#[derive(Clone)]
pub struct FailingStore(Arc<Mutex<Shared>>);

struct Shared {
    engine: Sqlite,
    plan: Option<Plan>,
    failed: bool,
    /// Commits reach the disk but are not synced; whether the disk keeps them anyway.
    unsynced: Option<bool>,
}

struct Plan {
    failure: Failure,
    /// How many operations succeed, and how many fail after them.
    after: usize,
    times: usize,
}

impl FailingStore {
    /// A store that does not fail yet.
    ///
    /// # Panics
    /// When SQLite cannot make a store in memory.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it takes an engine, and may panic")]
    pub fn new() -> Self {
        let engine = Sqlite::in_memory().expect("an empty store");
        Self(Arc::new(Mutex::new(Shared { engine, plan: None, failed: false, unsynced: None })))
    }

    /// Lets a number of operations succeed, and a number after them fail.
    pub fn fail(&self, failure: Failure, after: usize, times: usize) {
        self.lock().plan = Some(Plan { failure, after, times });
    }

    /// Makes every later sync fail; the argument says whether the disk keeps the written data.
    pub fn lose_sync(&self, kept: bool) {
        self.lock().unsynced = Some(kept);
    }

    /// Ends all failures. Returns whether an operation failed since the last call.
    #[must_use]
    pub fn well(&self) -> bool {
        let mut shared = self.lock();
        shared.plan = None;
        shared.unsynced = None;
        std::mem::take(&mut shared.failed)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operate<T>(&self, work: impl FnOnce(&mut Sqlite) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut shared = self.lock();
        match shared.plan.as_mut().and_then(Plan::next) {
            Some(failure) => {
                shared.failed = true;
                Err(failure.meet(&mut shared.engine))
            }
            None => work(&mut shared.engine),
        }
    }
}

impl Plan {
    /// How the next operation fails, if it does.
    fn next(&mut self) -> Option<Failure> {
        if self.after > 0 {
            self.after -= 1;
            return None;
        }
        self.times = self.times.checked_sub(1)?;
        Some(self.failure)
    }
}

impl Failure {
    fn meet(self, engine: &mut Sqlite) -> StoreError {
        match self {
            Self::Engine => return StoreError::Engine("disk I/O error".to_owned()),
            // No transaction has begun yet.
            Self::Lie => drop(engine.commit()),
            Self::Full | Self::Lost => engine.rollback(),
        }
        if self == Self::Full { StoreError::Full } else { StoreError::Lost }
    }
}

impl Store for FailingStore {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.operate(Store::begin)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.lock().unsynced == Some(false) {
            // The commit seems to succeed, and the disk loses it.
            self.rollback();
            return Ok(());
        }
        let done = self.operate(Store::commit);
        if done.is_err() {
            self.rollback();
        }
        done
    }

    /// A pipe accepts writes and cannot be synced.
    #[cfg(unix)]
    fn syncer(&self) -> Option<Syncer> {
        self.lock().unsynced.map(|_| {
            let (_, writer) = std::io::pipe().expect("a pipe");
            Syncer::new(std::fs::File::from(std::os::fd::OwnedFd::from(writer)))
        })
    }

    fn rollback(&mut self) {
        self.lock().engine.rollback();
    }

    fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) {
        self.lock().engine.settle(interrupted);
    }

    fn in_transaction(&self) -> bool {
        self.lock().engine.in_transaction()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.operate(|engine| engine.get(kind, key))
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.operate(|engine| engine.holds(kind, key))
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.operate(|engine| engine.put(kind, row))
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.operate(|engine| engine.remove(kind, key))
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.operate(|engine| engine.select(kind, query))
    }
}
