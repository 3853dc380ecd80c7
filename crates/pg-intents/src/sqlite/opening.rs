//! Opens a file: checks whose it is, and upgrades it.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use rusqlite::{Connection, config::DbConfig};

use super::operations;
use crate::StoreError;

/// The mark of a file that is a store of intents.
const APPLICATION: i64 = 0x7067_6931;
/// The migrations, in order; the version of a file is the number of those that were run.
pub const SQLITE_MIGRATIONS: &[&str] =
    &[include_str!("migration_1.sql"), include_str!("migration_2.sql"), include_str!("migration_3.sql")];
/// How long a change waits for a change of another process.
const PATIENCE: Duration = Duration::from_secs(5);

/// What happens to a file that lacks migrations.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Migrations {
    Run,
    /// They run with the first change.
    Later,
    Required,
}

pub(super) enum Unready {
    Engine(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for Unready {
    fn from(error: rusqlite::Error) -> Self {
        Self::Engine(error)
    }
}

impl Unready {
    pub(super) fn into_error(self) -> StoreError {
        match self {
            Self::Engine(error) => operations::unavailable(&error),
            Self::Refused(error) => error,
        }
    }
}

/// Makes the file readable only by its owner, since it may contain session keys.
pub(super) fn create(path: &Path) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// The file that a path led to when it was opened. SQLite finds the write-ahead log by the path, so that a process with a file that was
/// replaced would write into the log of the new one.
pub(super) struct OpenFile {
    path: PathBuf,
    id: (u64, u64),
}

impl OpenFile {
    /// To be called before the file is opened: if it is replaced in between, it is refused.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: std::path::absolute(path)?, id: id(&fs::metadata(path)?) })
    }

    /// Checks that the path still leads to the file.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let why = match fs::metadata(&self.path).map(|found| id(&found)) {
            Ok(found) if found == self.id => return Ok(()),
            Ok(_) => "another file is in its place",
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                "no file is there"
            }
            Err(error) => {
                let why =
                    format!("{}: whether this is still the open file cannot be checked: {error}", self.path.display());
                return Err(StoreError::Unavailable(why));
            }
        };
        Err(StoreError::Unavailable(format!(
            "{}: the file was moved, replaced or removed while this process has it open ({why}); stop every process of this store, and put \
             its file in place together with its own -wal, or a restored file without -wal and -shm",
            self.path.display()
        )))
    }
}

/// The device and the inode.
#[cfg(unix)]
fn id(file: &fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino())
}

/// Where an open file cannot be replaced.
#[cfg(not(unix))]
fn id(_: &fs::Metadata) -> (u64, u64) {
    (0, 0)
}

/// Makes a connection ready for use. Returns whether the file lacks migrations.
pub(super) fn ready(connection: &Connection, migrations: Migrations) -> Result<bool, Unready> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(64);
    // A plan does not depend on the values of parameters. Otherwise each query with a limit is prepared anew each time.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Under one lock: if several processes open a new file at the same time, one makes it a store, and the others then
    // find a store. A program that only looks needs no lock.
    let begin = if migrations == Migrations::Required { "BEGIN" } else { "BEGIN IMMEDIATE" };
    connection.execute_batch(&format!("PRAGMA synchronous = FULL; {begin}")).map_err(not_sqlite)?;
    let is_behind = prepare(connection, migrations).inspect_err(|_| {
        // The first error is the reason. If this fails too, closing the connection rolls back.
        let _ = connection.execute_batch("ROLLBACK");
    })?;
    switch_to_wal(connection)?;
    Ok(is_behind)
}

/// Checks whose file it is and runs the missing migrations, in the open transaction, which it commits. Returns whether some are still
/// missing.
fn prepare(connection: &Connection, migrations: Migrations) -> Result<bool, Unready> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id").map_err(not_sqlite)?;
    if application != APPLICATION && (application != 0 || number("SELECT count(*) FROM sqlite_schema")? != 0) {
        return Err(foreign("the file is the SQLite file of another program"));
    }
    let (at, known) = (version(connection)?, SQLITE_MIGRATIONS.len());
    let is_behind = at < known;
    if migrations == Migrations::Required {
        if is_behind {
            let [found, known] = [at, known].map(|number| i32::try_from(number).unwrap_or(i32::MAX));
            return Err(Unready::Refused(StoreError::Older { found, known }));
        }
        connection.execute_batch("COMMIT")?;
        return Ok(false);
    }
    // A new file has no older programs.
    let waits = is_behind && at > 0 && migrations == Migrations::Later;
    if !waits {
        upgrade(connection)?;
    }
    // A program that pays must be able to write.
    connection.execute_batch(&format!("PRAGMA application_id = {APPLICATION}; COMMIT"))?;
    Ok(waits)
}

/// Returns the number of migrations that were run.
fn version(connection: &Connection) -> Result<usize, Unready> {
    let found = connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0))?;
    let (at, known) = (usize::try_from(found).unwrap_or(usize::MAX), SQLITE_MIGRATIONS.len());
    if at > known {
        let [found, known] = [at, known].map(|number| i32::try_from(number).unwrap_or(i32::MAX));
        return Err(Unready::Refused(StoreError::Newer { found, known }));
    }
    Ok(at)
}

/// Runs the missing migrations in the open transaction. Returns whether there were any.
pub(super) fn upgrade(connection: &Connection) -> Result<bool, Unready> {
    let missing = &SQLITE_MIGRATIONS[version(connection)?..];
    for migration in missing {
        connection.execute_batch(migration)?;
    }
    connection.execute_batch(&format!("PRAGMA user_version = {}", SQLITE_MIGRATIONS.len()))?;
    Ok(!missing.is_empty())
}

/// Switches the file permanently to a write-ahead log. The file must not be in use for that, and SQLite does not wait
/// for other processes here, so this function retries after each of their transactions.
fn switch_to_wal(connection: &Connection) -> Result<(), Unready> {
    let end = operations::later(operations::now(connection)?, PATIENCE);
    loop {
        match connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            Err(error) if is_busy(&error) && operations::now(connection)? < end => {}
            switched => return Ok(switched?),
        }
        // Waits for the write lock, for as long as the busy timeout. Another process may have made the switch meanwhile.
        connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")?;
        thread::yield_now();
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
}

fn not_sqlite(error: rusqlite::Error) -> Unready {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) {
        foreign("the file is not a SQLite file")
    } else {
        Unready::Engine(error)
    }
}

fn foreign(why: &str) -> Unready {
    Unready::Refused(StoreError::Foreign(why.to_owned()))
}
