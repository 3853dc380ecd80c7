//! The store's files: regular ones, which only their owner may read.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use super::super::StoreError;
use crate::private_file::{self, beside};

/// Suffixes of the files beside a store: SQLite's files, and the redo log.
const BESIDE: [&str; 4] = ["-wal", "-shm", "-journal", REDO];
const REDO: &str = "-redo";

/// Whether a non-empty file exists.
///
/// # Errors
/// If it, or a file beside it, is a link or not a regular file: SQLite would write to the target of a link.
pub(super) fn look(path: &Path) -> Result<bool, StoreError> {
    for suffix in BESIDE {
        plain(&beside(path, suffix))?;
    }
    Ok(plain(path)?.is_some_and(|length| length > 0))
}

/// Returns the length of a regular file; `None` if it does not exist.
fn plain(path: &Path) -> Result<Option<u64>, StoreError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => Err(StoreError::Link(path.to_owned())),
        Ok(found) if !found.is_file() => Err(StoreError::NoFile(path.to_owned())),
        Ok(found) => Ok(Some(found.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Creates the file if it does not exist. SQLite copies its permissions to the files beside it.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    match private_file::create(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::Engine(format!("cannot create the file: {error}"))),
    }
}

/// Removes the permissions of other users from a store that something else created, copied or changed.
pub(super) fn make_private(path: &Path) -> Result<(), StoreError> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        for file in std::iter::once(path.to_owned()).chain(BESIDE.map(|suffix| beside(path, suffix))) {
            match fs::set_permissions(&file, fs::Permissions::from_mode(0o600)) {
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(of_another_user(&file)),
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Engine(format!("{}: permissions: {error}", file.display())));
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn failed(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Engine(format!("{}: {error}", path.display()))
}

fn of_another_user(file: &Path) -> StoreError {
    StoreError::Engine(format!("{} belongs to another user; give it to the sandbox's user", file.display()))
}

/// Opens the redo log of a store, if it exists, and locks it until it is closed. SQLite locks the store itself, which may have been moved
/// while another sandbox has it open, and has left its log here.
pub(super) fn lock_redo(store: &Path) -> Result<Option<File>, StoreError> {
    let path = redo(store);
    match File::options().read(true).write(true).open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Err(of_another_user(&path)),
        Err(error) => Err(failed(&path, &error)),
        Ok(file) => match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Err(StoreError::InUse),
            Err(TryLockError::Error(error)) => Err(failed(&path, &error)),
        },
    }
}

/// Returns the redo log that was found and locked, unless it was removed since; otherwise a new one, locked too.
pub(super) fn own_redo(store: &Path, found: Option<File>) -> Result<File, StoreError> {
    let path = redo(store);
    if let Some(file) = found
        && names(&path, &file).map_err(|error| failed(&path, &error))?
    {
        return Ok(file);
    }
    create(&path)?;
    lock_redo(store)?.ok_or_else(|| failed(&path, &io::ErrorKind::NotFound.into()))
}

/// Whether a path still names an open file, which something may have moved or removed.
pub(super) fn names(path: &Path, file: &File) -> io::Result<bool> {
    let named = match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        named => named?,
    };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let open = file.metadata()?;
        Ok((named.dev(), named.ino()) == (open.dev(), open.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(named.is_file())
    }
}

/// Returns the path of the log.
pub(super) fn log(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// Returns the path of the redo log.
pub(super) fn redo(path: &Path) -> PathBuf {
    beside(path, REDO)
}
