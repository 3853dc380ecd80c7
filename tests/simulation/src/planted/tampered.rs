//! A store that does one thing wrong.

use pg_sandbox::store::{Kind, Query, Row, Store, StoreError};

/// What may be wrong with a store; what is not overridden is right.
pub(super) trait Tamper: Send {
    fn commit(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.commit()
    }

    fn begin(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.begin()
    }

    fn rollback(&mut self, store: &mut dyn Store) {
        store.rollback();
    }

    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        store.get(kind, key)
    }

    fn insert(&mut self, store: &mut dyn Store, kind: &'static Kind, row: &Row<'_>) -> Result<bool, StoreError> {
        store.insert(kind, row)
    }
}

pub(super) struct Tampered<T> {
    pub(super) store: Box<dyn Store>,
    pub(super) with: T,
}

impl<T: Tamper + 'static> Tampered<T> {
    pub(super) fn store(store: Box<dyn Store>, with: T) -> Box<dyn Store> {
        Box::new(Self { store, with })
    }
}

impl<T: Tamper> Store for Tampered<T> {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.with.begin(&mut *self.store)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.with.commit(&mut *self.store)
    }

    fn rollback(&mut self) {
        self.with.rollback(&mut *self.store);
    }

    fn in_transaction(&self) -> bool {
        self.store.in_transaction()
    }

    fn mark(&mut self) -> Result<(), StoreError> {
        self.store.mark()
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        self.store.keep()
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.store.undo()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.with.get(&mut *self.store, kind, key)
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.store.put(kind, row)
    }

    fn insert(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<bool, StoreError> {
        self.with.insert(&mut *self.store, kind, row)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.store.remove(kind, key)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.store.select(kind, query)
    }
}

/// A record with one member set to 0.
pub(super) fn with_nought(body: &str, member: &str) -> String {
    let Ok(mut record) = serde_json::from_str::<serde_json::Value>(body) else { return body.to_owned() };
    if let Some(held) = record.get_mut(member) {
        *held = 0.into();
    }
    record.to_string()
}
