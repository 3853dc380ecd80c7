//! Reads rows before requests need them: all that a group of requests will probably read, in one round trip.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;

use super::{
    super::{StoreError, seal::Sealer},
    table::{Batch, Table},
};

/// Keys by table.
pub(super) type Keys = BTreeMap<&'static str, BTreeSet<String>>;

/// The body of a row, if it exists.
pub(super) type Body = Result<Option<String>, StoreError>;

/// The rows that a transaction will probably read, and those that it has read and not written.
#[derive(Default)]
pub(super) struct Ahead {
    expected: Keys,
    read: BTreeMap<&'static str, BTreeMap<String, Body>>,
}

impl Ahead {
    /// Adds a row to those that are read next.
    pub(super) fn expect(&mut self, table: &'static str, key: String) {
        self.expected.entry(table).or_default().insert(key);
    }

    /// Whether a row is among those that are read next.
    pub(super) fn expects(&self, table: &str, key: &str) -> bool {
        self.expected.get(table).is_some_and(|keys| keys.contains(key))
    }

    /// Returns the rows to read now.
    pub(super) fn take(&mut self) -> Keys {
        std::mem::take(&mut self.expected)
    }

    /// Returns the row if it was read.
    pub(super) fn get(&self, table: &str, key: &str) -> Option<&Body> {
        self.read.get(table)?.get(key)
    }

    /// Drops rows of a table that the transaction has written.
    pub(super) fn written<'a>(&mut self, table: &str, keys: impl Iterator<Item = &'a String>) {
        let Some(read) = self.read.get_mut(table) else { return };
        keys.for_each(|key| drop(read.remove(key)));
    }

    /// Drops all rows, at the end of a transaction.
    pub(super) fn forget(&mut self) {
        self.read.clear();
    }

    /// Records the rows that the statements of [`statements`] found; a row that they did not find does not exist.
    pub(super) fn note(
        &mut self,
        tables: &[Table],
        sealer: &mut Sealer,
        keys: Keys,
        found: &[Vec<Row>],
    ) -> Result<(), StoreError> {
        for ((name, keys), rows) in keys.into_iter().zip(found) {
            let table = Table::named(tables, name)?;
            let read = self.read.entry(name).or_default();
            for key in keys {
                let row = if table.can_hold(&key) { table.row_of(sealer, &key, rows) } else { None };
                // Only the request that reads a damaged row fails.
                let body = row.map(|row| table.open(sealer, row)).transpose();
                read.insert(key, body);
            }
        }
        Ok(())
    }
}

/// The statements that read these rows, table by table.
pub(super) fn statements(tables: &[Table], sealer: &Sealer, keys: &Keys) -> Result<Vec<Batch>, StoreError> {
    let batch = |(name, keys): (&&'static str, &BTreeSet<String>)| {
        let table = Table::named(tables, name)?;
        Ok(table.with_keys(sealer, keys.iter().map(|key| &**key).filter(|key| table.can_hold(key))))
    };
    keys.iter().map(batch).collect()
}
