//! Errors of stores.

use std::path::PathBuf;

/// Why a store cannot be opened, or an operation failed.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another process, or another sandbox of this process, has the file open.
    #[error("the store is in use by another process")]
    InUse,
    /// This program did not create the file.
    #[error("this is not a sandbox store; it was not changed")]
    Foreign,
    /// A redo log at the path of the store's log belongs to another store, and may have commits that only it has.
    #[error("{path} is not this store's redo log, and may hold commits of another store: move it to its store, or away", path = .0.display())]
    ForeignLog(PathBuf),
    /// A later version of this program created the file.
    #[error(
        "the store has format {found}, this program supports formats up to {known}; it was not changed; update the program"
    )]
    Newer {
        /// The format of the file.
        found: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// The disk, or the quota of the file, is full.
    #[error("the disk is full")]
    Full,
    /// The engine rolled the whole transaction back by itself, after an error such as a full disk.
    #[error("the store rolled the transaction back, for example because the disk is full")]
    Lost,
    /// The disk reported an error after it had accepted a write.
    #[error("restart the sandbox: a write did not reach the disk ({0})")]
    Unsynced(String),
    /// The file is damaged, or another program has altered it.
    #[error("the store is damaged or was altered: {0}; restore a copy of all of its files")]
    Damaged(String),
    /// The file was sealed with another key.
    #[error("the store was sealed with another key; give it the key that it was made with")]
    WrongKey,
    /// Records are sealed with keys that were not given.
    #[error(
        "the store also holds records under another key, because its key was changed; give the newest key first, and every older \
         one that was not retired"
    )]
    MissingKey,
    /// The key was retired when all records were sealed with a newer one.
    #[error("this key was retired when the store was sealed with a newer one; give the newer key")]
    RetiredKey,
    /// The file, or one of those beside it, is a symbolic link.
    #[error("{path} is a symbolic link; name its target", path = .0.display())]
    Link(PathBuf),
    /// Another process changed the same records at the same time; the transaction changed nothing.
    #[error("other processes changed the same records again and again; send the request again")]
    Conflict,
    /// The connection broke during a commit, and the database could not be asked afterwards.
    #[error("the connection to the database broke during a commit; whether it was done is unknown")]
    Unknown,
    /// There is no connection to the database.
    #[error("cannot reach the database: {0}")]
    Unreachable(String),
    /// The database refuses this connection or this role.
    #[error(
        "the database refused the sandbox: {0}; check the database, role and password of the address, and what the role may do"
    )]
    Denied(String),
    /// The database accepts no writes.
    #[error("the database is read-only: connect to the primary server, as a role that may write")]
    ReadOnly,
    /// The path, or one beside it, is not a regular file.
    #[error("{path} is not a file; name a file for the store", path = .0.display())]
    NoFile(PathBuf),
    /// A record cannot be written or read as JSON.
    #[error("a record of {table} cannot be written or read: {problem}")]
    Body {
        /// The table of the record.
        table: &'static str,
        /// The error; the record itself is not shown.
        problem: String,
    },
    /// Any other error of the engine.
    #[error("the store failed: {0}")]
    Engine(String),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::InUse,
            Some(ErrorCode::NotADatabase) => Self::Foreign,
            Some(ErrorCode::DiskFull) => Self::Full,
            // SQLite has no other words for a file that it must not write.
            Some(ErrorCode::SystemIoFailure | ErrorCode::ReadOnly) => Self::Engine(format!(
                "{error}; check that the sandbox may write the store, the files beside it and their folder"
            )),
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged(error.to_string()),
            _ => Self::Engine(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    #[test]
    fn a_file_that_must_not_be_written_is_told_apart_from_a_foreign_one() {
        let told = |code| StoreError::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).to_string();
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_READONLY] {
            let said = told(code);
            assert!(said.ends_with("check that the sandbox may write the store, the files beside it and their folder"));
        }
        assert_eq!(told(ffi::SQLITE_NOTADB), StoreError::Foreign.to_string());
    }
}
