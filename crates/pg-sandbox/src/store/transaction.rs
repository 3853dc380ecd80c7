//! What one request may do with the store.

use super::{Kind, Query, Record, Row, Store, StoreError};

/// The records as one request sees and changes them: all of its changes are kept, or none.
///
/// It marks a place in the open transaction before its first write, so that a request that only
/// reads costs nothing and one that fails is undone alone.
pub struct Transaction<'a> {
    store: &'a mut dyn Store,
    marked: bool,
}

impl<'a> Transaction<'a> {
    /// A request's view of a store whose transaction is open.
    pub fn new(store: &'a mut dyn Store) -> Self {
        Self { store, marked: false }
    }

    /// The record with this key, whoever owns it.
    ///
    /// # Errors
    /// When the store fails.
    pub fn get<T: Record>(&mut self, key: &str) -> Result<Option<T>, StoreError> {
        self.store.get(T::KIND, key)?.map(|body| read(T::KIND, &body)).transpose()
    }

    /// The record with this key if this merchant owns it: nothing of one merchant is visible to
    /// another.
    ///
    /// # Errors
    /// When the store fails.
    pub fn get_of<T: Record>(&mut self, merchant: &str, key: &str) -> Result<Option<T>, StoreError> {
        Ok(self.get::<T>(key)?.filter(|record| record.merchant() == merchant))
    }

    /// The records that a query describes.
    ///
    /// # Errors
    /// When the store fails.
    pub fn find<T: Record>(&mut self, query: &Query<'_>) -> Result<Vec<T>, StoreError> {
        let bodies = self.store.select(T::KIND, query)?;
        bodies.iter().map(|body| read(T::KIND, body)).collect()
    }

    /// Writes a record, new or changed.
    ///
    /// # Errors
    /// When the store fails.
    pub fn put<T: Record>(&mut self, record: &T) -> Result<(), StoreError> {
        self.mark()?;
        let body = write(record)?;
        self.store.put(T::KIND, &row(record, &body))
    }

    /// Writes a record unless its key is taken, and says whether it was written.
    ///
    /// # Errors
    /// When the store fails.
    pub fn insert<T: Record>(&mut self, record: &T) -> Result<bool, StoreError> {
        self.mark()?;
        let body = write(record)?;
        self.store.insert(T::KIND, &row(record, &body))
    }

    /// Removes a record and says whether it was there.
    ///
    /// # Errors
    /// When the store fails.
    pub fn remove<T: Record>(&mut self, key: &str) -> Result<bool, StoreError> {
        self.mark()?;
        self.store.remove(T::KIND, key)
    }

    /// Keeps what was written so far even if the request is refused later: a failed attempt that is
    /// counted, a reference that is used up.
    ///
    /// # Errors
    /// When the store fails.
    pub fn keep(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.marked) { self.store.keep() } else { Ok(()) }
    }

    /// Undoes what was written since the start or the last [`Transaction::keep`].
    ///
    /// # Errors
    /// When the store fails, or has closed the transaction by itself.
    pub fn undo(&mut self) -> Result<(), StoreError> {
        if std::mem::take(&mut self.marked) { self.store.undo() } else { Ok(()) }
    }

    fn mark(&mut self) -> Result<(), StoreError> {
        if !self.marked {
            self.store.mark()?;
            self.marked = true;
        }
        Ok(())
    }
}

fn row<'a, T: Record>(record: &'a T, body: &'a str) -> Row<'a> {
    Row { key: record.key(), merchant: record.merchant(), index: record.index(), body }
}

fn write<T: Record>(record: &T) -> Result<String, StoreError> {
    serde_json::to_string(record).map_err(|error| unreadable(T::KIND, &error))
}

fn read<T: Record>(kind: &'static Kind, body: &str) -> Result<T, StoreError> {
    serde_json::from_str(body).map_err(|error| unreadable(kind, &error))
}

/// The class and place of a JSON error; its text may quote the record.
fn unreadable(kind: &'static Kind, error: &serde_json::Error) -> StoreError {
    let problem = format!("{:?} error at column {}", error.classify(), error.column());
    StoreError::Body { table: kind.table, problem }
}
