//! A service whose store does one thing wrong.

use pg_sandbox::store::{Kind, Query, Row, Store, StoreError};

use crate::conduct::ClientBehaviour;

/// What may be wrong with a store; what is not overridden is right.
pub(super) trait Tamper: Send {
    fn begin(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.begin()
    }

    fn commit(&mut self, store: &mut dyn Store) -> Result<(), StoreError> {
        store.commit()
    }

    fn rollback(&mut self, store: &mut dyn Store) {
        store.rollback();
    }

    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        store.get(kind, key)
    }

    fn holds(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        store.holds(kind, key)
    }

    fn remove(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        store.remove(kind, key)
    }
}

/// Records of this kind are read as something else, or as if they were not there.
#[derive(Clone, Copy)]
pub(super) struct Misread {
    pub(super) kind: &'static Kind,
    pub(super) read: fn(String) -> Option<String>,
}

impl Tamper for Misread {
    fn get(&mut self, store: &mut dyn Store, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let found = store.get(kind, key)?;
        Ok(if kind.table == self.kind.table { found.and_then(self.read) } else { found })
    }
}

/// The service has a store with which this is wrong.
pub(super) struct Tampered<T>(pub(super) T);

impl<T: Tamper + Copy + Sync + 'static> ClientBehaviour for Tampered<T> {
    fn engine(&self, sqlite: Box<dyn Store>) -> Box<dyn Store> {
        Box::new(Tampering { store: sqlite, with: self.0 })
    }
}

struct Tampering<T> {
    store: Box<dyn Store>,
    with: T,
}

impl<T: Tamper> Store for Tampering<T> {
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

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.with.get(&mut *self.store, kind, key)
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.with.holds(&mut *self.store, kind, key)
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        self.store.put(kind, row)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        self.with.remove(&mut *self.store, kind, key)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.store.select(kind, query)
    }
}

/// A record with one number in it changed.
pub(super) fn with_number(body: &str, member: &str, number: u64) -> String {
    let Ok(mut record) = serde_json::from_str::<serde_json::Value>(body) else { return body.to_owned() };
    if let Some(held) = record.get_mut(member) {
        *held = number.into();
    }
    record.to_string()
}
