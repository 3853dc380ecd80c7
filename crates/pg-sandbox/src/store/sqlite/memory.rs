//! Stores in memory: copies of an empty one, since copying its pages is faster than creating and describing its tables.

use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};

use super::{super::StoreError, Sealer, Table, Whole, upgrade};

/// The key of stores in memory, which are never written to disk.
const KEY: [u8; 32] = [0; 32];

/// The empty store that others are copied from, once the first is opened.
static EMPTY: Mutex<Option<EmptyStore>> = Mutex::new(None);

/// An empty store in memory in the newest format.
pub(super) struct EmptyStore {
    pub(super) connection: Connection,
    pub(super) tables: Arc<[Table]>,
    pub(super) sealer: Sealer,
    pub(super) whole: Whole,
}

/// Returns a new store.
pub(super) fn empty() -> Result<EmptyStore, StoreError> {
    let mut kept = EMPTY.lock().unwrap_or_else(PoisonError::into_inner);
    match &*kept {
        Some(empty) => empty.copy(),
        None => kept.insert(EmptyStore::create()?).copy(),
    }
}

impl EmptyStore {
    fn create() -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory()?;
        let mut sealer = Sealer::new(&KEY);
        let whole = upgrade::upgrade(&connection, &mut sealer)?;
        connection.execute_batch("COMMIT")?;
        let tables = Table::all(&connection)?.into();
        Ok(Self { connection, tables, sealer, whole })
    }

    /// Copies all pages.
    fn copy(&self) -> Result<Self, StoreError> {
        let mut connection = Connection::open_in_memory()?;
        let copied = Backup::new(&self.connection, &mut connection)?.step(-1)?;
        if copied != StepResult::Done {
            return Err(StoreError::Engine(format!("the empty store was not copied: {copied:?}")));
        }
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        Ok(Self { connection, tables: Arc::clone(&self.tables), sealer: self.sealer.clone(), whole: self.whole })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::super::schema, *};

    fn rows(connection: &Connection, table: &Table) -> i64 {
        connection.query_row(&format!("SELECT count(*) FROM {}", table.name), [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_new_store_is_of_the_newest_format_and_shares_nothing_with_others() {
        let first = empty().unwrap();
        first.connection.execute("INSERT INTO meta (key, merchant, body) VALUES ('k', 'm', x'00')", []).unwrap();
        let second = empty().unwrap();
        let tables = &second.tables;
        assert_eq!(schema::format(&second.connection).unwrap(), schema::NEWEST);
        assert!(tables.len() > 10);
        assert!(tables.iter().all(|table| rows(&second.connection, table) == 0));
        let meta = tables.iter().find(|table| table.name == "meta").unwrap();
        assert_eq!(rows(&first.connection, meta), 1);
    }
}
