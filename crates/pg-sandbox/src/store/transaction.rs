//! The operations of one request on the store.

use super::{Kind, Query, Store, StoreError, StoredRecord, pending::Pending};

/// The records as one request sees and changes them: all of its changes are kept, or none.
///
/// The engine receives a change only when it is kept, so a failed request has nothing to roll back.
pub struct Transaction<'a> {
    store: &'a mut dyn Store,
    pending: Pending,
    /// The engine accepted only part of the changes: only the whole transaction can be rolled back.
    failed: Option<StoreError>,
}

impl<'a> Transaction<'a> {
    /// Creates a request's view of a store whose transaction is open.
    pub fn new(store: &'a mut dyn Store) -> Self {
        Self { store, pending: Pending::default(), failed: None }
    }

    /// Returns the record with this key, of any owner.
    ///
    /// # Errors
    /// If the store fails.
    pub fn get<T: StoredRecord>(&mut self, key: &str) -> Result<Option<T>, StoreError> {
        match self.pending.get(T::KIND, key) {
            Some(held) => held.as_ref().map(|held| read(T::KIND, &held.body)).transpose(),
            None => self.store.get(T::KIND, key)?.map(|body| read(T::KIND, &body)).transpose(),
        }
    }

    /// Returns the record with this key if this merchant owns it: no record of a merchant is visible to another.
    ///
    /// # Errors
    /// If the store fails.
    pub fn get_of<T: StoredRecord>(&mut self, merchant: &str, key: &str) -> Result<Option<T>, StoreError> {
        Ok(self.get::<T>(key)?.filter(|record| record.merchant() == merchant))
    }

    /// Returns the records that a query describes.
    ///
    /// # Errors
    /// If the store fails.
    pub fn find<T: StoredRecord>(&mut self, query: &Query<'_>) -> Result<Vec<T>, StoreError> {
        let Some(rows) = self.pending.rows(T::KIND) else {
            let bodies = self.store.select(T::KIND, query)?;
            return bodies.iter().map(|body| read(T::KIND, body)).collect();
        };
        // Pending changes may replace or remove rows that the engine finds, so more rows are queried than the limit.
        let more = query.limit.saturating_add(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let mut found: Vec<T> = Vec::new();
        for body in self.store.select(T::KIND, &Query { limit: more, ..*query })? {
            let record: T = read(T::KIND, &body)?;
            if !rows.contains_key(record.key()) {
                found.push(record);
            }
        }
        for held in rows.values().flatten() {
            let record: T = read(T::KIND, &held.body)?;
            if query.describes(&record) {
                found.push(record);
            }
        }
        query.sort(&mut found);
        found.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Writes a record, new or changed.
    ///
    /// # Errors
    /// If JSON cannot represent the record.
    pub fn put<T: StoredRecord>(&mut self, record: &T) -> Result<(), StoreError> {
        self.pending.put(record, write(record)?);
        Ok(())
    }

    /// Writes a record unless its key is in use. Returns whether it was written.
    ///
    /// # Errors
    /// If the store fails.
    pub fn insert<T: StoredRecord>(&mut self, record: &T) -> Result<bool, StoreError> {
        let free = !self.holds(T::KIND, record.key())?;
        if free {
            self.put(record)?;
        }
        Ok(free)
    }

    /// Removes a record. Returns whether it existed.
    ///
    /// # Errors
    /// If the store fails.
    pub fn remove<T: StoredRecord>(&mut self, key: &str) -> Result<bool, StoreError> {
        let there = self.holds(T::KIND, key)?;
        if there {
            self.pending.remove(T::KIND, key);
        }
        Ok(there)
    }

    /// Keeps the changes so far even if the request is refused later: a counted failed attempt, a used reference.
    ///
    /// # Errors
    /// If the store fails. The transaction must not be committed then; every later call fails too.
    pub fn keep(&mut self) -> Result<(), StoreError> {
        self.check()?;
        // Set before the engine is called, in case it panics.
        self.failed = Some(StoreError::Lost);
        let written = self.pending.write(self.store);
        self.pending.clear();
        self.failed = written.err();
        self.check()
    }

    /// Drops the changes since the start or the last [`Transaction::keep`].
    ///
    /// # Errors
    /// If the transaction must not be committed.
    pub fn undo(&mut self) -> Result<(), StoreError> {
        self.pending.clear();
        self.check()
    }

    fn check(&self) -> Result<(), StoreError> {
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        match self.pending.get(kind, key) {
            Some(held) => Ok(held.is_some()),
            None => self.store.holds(kind, key),
        }
    }
}

/// The size of a payment; a growing body would be copied several times.
const BODY: usize = 1_024;

fn write<T: StoredRecord>(record: &T) -> Result<String, StoreError> {
    let mut body = Vec::with_capacity(BODY);
    serde_json::to_writer(&mut body, record).map_err(|error| unreadable(T::KIND, &error))?;
    String::from_utf8(body).map_err(|_| StoreError::Body { table: T::KIND.table, problem: "not UTF-8".to_owned() })
}

fn read<T: StoredRecord>(kind: &'static Kind, body: &str) -> Result<T, StoreError> {
    serde_json::from_str(body).map_err(|error| unreadable(kind, &error))
}

/// Returns the class and place of a JSON error; its text may quote the record.
fn unreadable(kind: &'static Kind, error: &serde_json::Error) -> StoreError {
    let problem = format!("{:?} error at column {}", error.classify(), error.column());
    StoreError::Body { table: kind.table, problem }
}
