//! The changes of one group of requests, as the redo log has them: sealed.

use std::ops::Range;

use rusqlite::{Connection, ToSql};

use super::{
    super::{
        INDEX_COLUMNS, StoreError,
        seal::{Change, Place},
    },
    table,
    table::Table,
};

/// Changes one after the other, as [`Change::write`] writes them.
#[derive(Default)]
pub(super) struct Group {
    bytes: Vec<u8>,
    changes: Vec<Noted>,
}

/// Where a change is.
pub(super) struct Noted {
    pub(super) hash: u64,
    range: Range<usize>,
    /// What the row adds to the sum of all rows; nothing if the change removes it.
    pub(super) share: Option<u64>,
    /// The change before it whose key has the same hash.
    pub(super) before: Option<At>,
}

/// A change among those of all groups.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) group: u64,
    pub(super) place: usize,
}

impl Group {
    /// An empty one with memory for as many changes as another one.
    pub(super) fn as_large_as(other: &Self) -> Self {
        Self { bytes: Vec::with_capacity(other.bytes.len()), changes: Vec::with_capacity(other.changes.len()) }
    }

    pub(super) const fn size(&self) -> usize {
        self.bytes.len()
    }

    pub(super) const fn len(&self) -> usize {
        self.changes.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a change of a key with this hash.
    pub(super) fn push(&mut self, change: &Change<'_>, hash: u64, share: Option<u64>, before: Option<At>) {
        let start = self.bytes.len();
        change.write(&mut self.bytes);
        self.changes.push(Noted { hash, range: start..self.bytes.len(), share, before });
    }

    /// Takes the latest change away.
    pub(super) fn pop(&mut self) -> Option<Noted> {
        let noted = self.changes.pop()?;
        self.bytes.truncate(noted.range.start);
        Some(noted)
    }

    /// The bytes of the latest change.
    pub(super) fn last(&self) -> &[u8] {
        self.changes.last().and_then(|noted| self.bytes.get(noted.range.clone())).unwrap_or_default()
    }

    pub(super) fn noted(&self) -> impl Iterator<Item = &Noted> {
        self.changes.iter()
    }

    /// A change, and where it was noted.
    pub(super) fn get(&self, place: usize) -> Option<(Change<'_>, &Noted)> {
        let noted = self.changes.get(place)?;
        Some((self.read(noted)?, noted))
    }

    /// All changes, in their order.
    pub(super) fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.changes.iter().filter_map(|noted| self.read(noted))
    }

    fn read(&self, noted: &Noted) -> Option<Change<'_>> {
        Change::read(&mut self.bytes.get(noted.range.clone())?)
    }
}

/// Makes a change in SQLite's tables. To make it twice is to make it once.
pub(super) fn make(connection: &Connection, tables: &[Table], change: &Change<'_>) -> Result<(), StoreError> {
    match change {
        Change::Put(place, sealed) => write(connection, table(tables, place.table)?, place, sealed),
        Change::Remove(name, key) => {
            Ok(connection.prepare_cached(&table(tables, name)?.remove)?.execute([key]).map(drop)?)
        }
    }
}

/// Inserts or replaces a sealed row.
fn write(connection: &Connection, table: &Table, place: &Place<'_>, sealed: &[u8]) -> Result<(), StoreError> {
    let [one, two, three] = &place.index;
    let values: [&dyn ToSql; 3 + INDEX_COLUMNS] = [&place.key, &place.merchant, &sealed, one, two, three];
    // Nearly every row is new, and one that is not says so without being looked for.
    for statement in [&table.insert, &table.update] {
        if connection.prepare_cached(statement)?.execute(&values[..3 + table.width()])? > 0 {
            return Ok(());
        }
    }
    Err(StoreError::Damaged(format!("a record of {} both exists and does not", table.name)))
}
