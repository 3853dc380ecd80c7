//! A store whose operations fail when they are told to.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pg_sandbox::store::{Kind, Query, Row, Sqlite, Store, StoreError};

/// SQLite in memory; clones share it.
#[derive(Clone)]
pub struct FailingStore(Arc<Mutex<Shared>>);

struct Shared {
    engine: Sqlite,
    /// How many operations are still well, and how many after them are not.
    plan: Option<(usize, usize)>,
    failed: bool,
    /// Whether the engine gives the transaction up when it fails.
    gives_up: bool,
}

impl FailingStore {
    /// One that fails nowhere yet, and either gives its transaction up when it does or leaves it open.
    ///
    /// # Panics
    /// When SQLite cannot make a store in memory.
    #[must_use]
    pub fn new(gives_up: bool) -> Self {
        let engine = Sqlite::in_memory().expect("an empty store");
        Self(Arc::new(Mutex::new(Shared { engine, plan: None, failed: false, gives_up })))
    }

    /// After so many operations so many fail.
    pub fn fail(&self, after: usize, times: usize) {
        self.lock().plan = Some((after, times));
    }

    /// From now on none fails. Says whether any did since the last time.
    #[must_use]
    pub fn well(&self) -> bool {
        let mut shared = self.lock();
        shared.plan = None;
        std::mem::take(&mut shared.failed)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn operate<T>(&self, work: impl FnOnce(&mut Sqlite) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut shared = self.lock();
        match &mut shared.plan {
            Some((after, _)) if *after > 0 => *after -= 1,
            Some((_, times)) if *times > 0 => {
                *times -= 1;
                shared.failed = true;
                if !shared.gives_up {
                    return Err(StoreError::Engine("disk I/O error".to_owned()));
                }
                shared.engine.rollback();
                return Err(StoreError::Full);
            }
            _ => {}
        }
        work(&mut shared.engine)
    }
}

impl Store for FailingStore {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.operate(Store::begin)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let done = self.operate(Store::commit);
        if done.is_err() {
            self.rollback();
        }
        done
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
