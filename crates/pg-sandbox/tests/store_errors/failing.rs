//! SQLite in memory that fails at an operation of one's choice, and outlives the sandbox over it.

use std::sync::{Arc, Mutex, MutexGuard};

use pg_sandbox::store::{Kind, Query, Row, Sqlite, Store, StoreError, Syncer};

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The engine reports an error, and the transaction stays open.
    Engine,
    /// The disk is full, and the engine gives the transaction up by itself.
    Full,
    /// The transaction is gone.
    Lost,
    /// A commit that is said to have failed, and has not: no engine may do that.
    Lie,
}

/// A handle; clones share the store.
#[derive(Clone)]
pub(crate) struct Failing(Arc<Mutex<Shared>>);

struct Shared {
    engine: Sqlite,
    /// How the operation fails before which there are so many, and whether all after it do, too.
    planned: Option<(Failure, usize, bool)>,
    failed: bool,
    /// Commits reach the disk and are not synced; whether the disk has kept them all the same.
    unsynced: Option<bool>,
}

impl Failing {
    pub(crate) fn new() -> Self {
        let engine = Sqlite::in_memory().unwrap();
        Self(Arc::new(Mutex::new(Shared { engine, planned: None, failed: false, unsynced: None })))
    }

    /// The operation after so many fails, and when it lasts all that follow it.
    pub(crate) fn fail(&self, failure: Failure, after: usize, lasting: bool) {
        self.lock().planned = Some((failure, after, lasting));
    }

    /// From now on no sync succeeds; whether the disk keeps what it was given is said here.
    pub(crate) fn lose_sync(&self, kept: bool) {
        self.lock().unsynced = Some(kept);
    }

    /// From now on nothing fails. Says whether anything did since the last time.
    pub(crate) fn well(&self) -> bool {
        let mut shared = self.lock();
        shared.planned = None;
        shared.unsynced = None;
        std::mem::take(&mut shared.failed)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap()
    }

    fn operate<T>(&self, work: impl FnOnce(&mut Sqlite) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut shared = self.lock();
        let failure = match &mut shared.planned {
            Some((failure, 0, _)) => *failure,
            Some((_, left, _)) => {
                *left -= 1;
                return work(&mut shared.engine);
            }
            None => return work(&mut shared.engine),
        };
        shared.failed = true;
        if matches!(shared.planned, Some((_, _, false))) {
            shared.planned = None;
        }
        Err(match failure {
            Failure::Engine => StoreError::Engine("disk I/O error".to_owned()),
            Failure::Lie => {
                // Before a transaction has begun there is nothing to keep.
                drop(shared.engine.commit());
                StoreError::Lost
            }
            Failure::Full => {
                shared.engine.rollback();
                StoreError::Full
            }
            Failure::Lost => {
                shared.engine.rollback();
                StoreError::Lost
            }
        })
    }
}

impl Store for Failing {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.operate(Store::begin)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        if self.lock().unsynced == Some(false) {
            // It looks well, and the disk forgets it.
            self.lock().engine.rollback();
            return Ok(());
        }
        let done = self.operate(Store::commit);
        if done.is_err() {
            self.rollback();
        }
        done
    }

    /// A pipe takes what is written and cannot be synced.
    #[cfg(unix)]
    fn syncer(&self) -> Option<Syncer> {
        self.lock().unsynced.map(|_| {
            let (_, writer) = std::io::pipe().unwrap();
            Syncer::new(std::fs::File::from(std::os::fd::OwnedFd::from(writer)))
        })
    }

    fn rollback(&mut self) {
        self.lock().engine.rollback();
    }

    fn in_transaction(&self) -> bool {
        self.lock().engine.in_transaction()
    }

    fn mark(&mut self) -> Result<(), StoreError> {
        self.operate(Store::mark)
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        self.operate(Store::keep)
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.operate(Store::undo)
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.operate(|engine| engine.get(kind, key))
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.operate(|engine| engine.put(kind, row))
    }

    fn insert(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<bool, StoreError> {
        self.operate(|engine| engine.insert(kind, row))
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.operate(|engine| engine.remove(kind, key))
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.operate(|engine| engine.select(kind, query))
    }
}
