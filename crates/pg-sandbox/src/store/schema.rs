//! The tables, version by version.

use rusqlite::Connection;

use super::StoreError;

/// The application id in SQLite's header that marks our files: the letters `pgSB`.
const APPLICATION_ID: i64 = 0x7067_5342;

/// The formats with unencrypted rows; each script adds to the earlier ones. A published script is never changed.
const IN_CLEAR: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];
/// The formats with sealed rows. The first script creates all tables again, and each further one adds to the earlier ones.
const SEALED: [&str; 2] = [include_str!("schema/6.sql"), include_str!("schema/7.sql")];
/// The first of these formats.
pub(super) const FIRST_SEALED: i64 = 6;
/// The newest format.
pub(super) const NEWEST: i64 = 7;

/// Whether the rows of a format are sealed.
pub(super) const fn is_sealed(format: i64) -> bool {
    format >= FIRST_SEALED
}

/// Returns the format of a file, 0 if it is empty.
///
/// # Errors
/// If the file is not ours, is newer than this program, or has other tables than its format: SQLite would run an added
/// trigger, view or index with our statements.
pub(super) fn format(connection: &Connection) -> Result<i64, StoreError> {
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if application == 0 && found == 0 && objects == 0 {
        return Ok(0);
    }
    if application != APPLICATION_ID {
        return Err(StoreError::Foreign);
    }
    if found > NEWEST {
        return Err(StoreError::Newer { found, known: NEWEST });
    }
    let expected = Connection::open_in_memory()?;
    for script in scripts(found)? {
        expected.execute_batch(script)?;
    }
    let (expected, found_here) = (self::objects(&expected)?, self::objects(connection)?);
    match found_here.iter().find(|object| !expected.contains(object)) {
        None if found_here.len() == expected.len() => Ok(found),
        None => Err(StoreError::Damaged(format!("tables of format {found} are missing"))),
        Some(Object { kind, name, .. }) => {
            Err(StoreError::Damaged(format!("the {kind} {name} is not one that format {found} has")))
        }
    }
}

/// Creates the tables of the first format with sealed rows.
pub(super) fn create(connection: &Connection) -> Result<(), StoreError> {
    connection.execute_batch(SEALED[0])?;
    Ok(connection.pragma_update(None, "application_id", APPLICATION_ID)?)
}

/// Upgrades a file with sealed rows to the newest format.
pub(super) fn add(connection: &Connection, format: i64) -> Result<(), StoreError> {
    let known = scripts(format)?.len();
    SEALED[known..].iter().try_for_each(|script| connection.execute_batch(script))?;
    Ok(connection.pragma_update(None, "user_version", NEWEST)?)
}

/// Returns the scripts that create the tables of a format.
fn scripts(format: i64) -> Result<&'static [&'static str], StoreError> {
    let (all, first): (&[&str], i64) = if is_sealed(format) { (&SEALED, FIRST_SEALED) } else { (&IN_CLEAR, 1) };
    let known = usize::try_from(format - first + 1).ok().filter(|known| *known > 0);
    let scripts = known.and_then(|known| all.get(..known));
    scripts.ok_or_else(|| StoreError::Damaged(format!("there is no format {format}")))
}

/// A table, an index, a view or a trigger.
#[derive(PartialEq, Eq)]
struct Object {
    kind: String,
    name: String,
    table: String,
    sql: Option<String>,
}

fn objects(connection: &Connection) -> Result<Vec<Object>, StoreError> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let objects = statement.query_map([], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    })?;
    Ok(objects.collect::<Result<_, _>>()?)
}
