//! Checks that a store is unchanged since it was closed.

use rusqlite::{Connection, OptionalExtension as _};

use super::{
    super::{
        StoreError,
        seal::{Sealer, Since, Whole},
    },
    known_keys::KnownKeys,
    table::Table,
};

/// The checked content of a store.
pub(super) struct Checked {
    /// The sum of all rows.
    pub(super) whole: Whole,
    /// What the tables do not contain.
    pub(super) since: Since,
    /// The keys of all rows.
    pub(super) keys: KnownKeys,
}

/// Reads everything: the structure of the file, every row, and whether these are all rows, each in its latest version.
///
/// # Errors
/// [`StoreError::WrongKey`] if the store was sealed with another key, [`StoreError::Damaged`] if anything differs from
/// what was written.
pub(super) fn check(connection: &Connection, sealer: &mut Sealer, tables: &[Table]) -> Result<Checked, StoreError> {
    let row: Option<Vec<u8>> =
        connection.query_row("SELECT body FROM whole WHERE id = 0", [], |row| row.get(0)).optional()?;
    let row = row.ok_or_else(|| StoreError::Damaged("the sum of all records is missing".to_owned()))?;
    let sealed = sealer.open_whole(&row);
    if sealed == Ok(None) {
        return Err(StoreError::WrongKey);
    }
    structure(connection)?;
    let (mut found, mut keys) = (Whole::default(), KnownKeys::default());
    for table in tables {
        let mut statement = connection.prepare(&table.all)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.add(table.open(sealer, row)?.1);
            table.note(&mut keys, row)?;
        }
    }
    match sealed {
        Ok(Some((whole, since))) if whole == found => Ok(Checked { whole, since, keys }),
        _ => Err(StoreError::Damaged("records are missing, or are older versions".to_owned())),
    }
}

/// Checks the pages, the order of the keys, and the indexes against their tables.
pub(super) fn structure(connection: &Connection) -> Result<(), StoreError> {
    let problem: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if problem == "ok" { Ok(()) } else { Err(StoreError::Damaged(problem.replace('\n', " "))) }
}
