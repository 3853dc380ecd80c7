//! The tables, version by version.

use rusqlite::Connection;

use super::StoreError;

/// Marks a file as ours in SQLite's header: the letters `pgSB`.
const APPLICATION_ID: i64 = 0x7067_5342;

/// One script a format; the format of a file is how many of them it has had. A script that was
/// published is never changed: a new one is added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// Refuses a file that is not ours or newer than this program, without changing it.
pub(super) fn check(connection: &Connection) -> Result<(), StoreError> {
    let application: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let found = version(connection)?;
    let empty = application == 0 && found == 0 && tables == 0;
    let known = format_of(MIGRATIONS);
    if application != APPLICATION_ID && !empty {
        Err(StoreError::Foreign)
    } else if found > known {
        Err(StoreError::Newer { found, known })
    } else {
        Ok(())
    }
}

/// Brings a checked file to the newest format, whole or not at all.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    apply(connection, MIGRATIONS)
}

fn apply(connection: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or(0);
    for script in migrations.iter().skip(done) {
        transaction.execute_batch(script)?;
    }
    if done < migrations.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", format_of(migrations))?;
    }
    Ok(transaction.commit()?)
}

fn format_of(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_a_file_had_are_not_run_again() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, &["CREATE TABLE one (a)"]).unwrap();
        let two = ["CREATE TABLE one (a)", "CREATE TABLE two (b); INSERT INTO two VALUES (2)"];
        apply(&mut connection, &two).unwrap();
        apply(&mut connection, &two).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
        let rows: i64 = connection.query_row("SELECT count(*) FROM two", [], |row| row.get(0)).unwrap();
        assert_eq!(rows, 1);
    }

    #[test]
    fn a_script_that_fails_leaves_the_old_format() {
        let mut connection = Connection::open_in_memory().unwrap();
        apply(&mut connection, &["CREATE TABLE one (a)"]).unwrap();
        let broken = ["", "CREATE TABLE two (b)", "CREATE TABLE one (a)"];
        assert!(apply(&mut connection, &broken).is_err());
        assert_eq!(version(&connection).unwrap(), 1);
        assert!(connection.prepare("SELECT * FROM two").is_err());
    }
}
