//! Files for the results of a long-running command.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::failure::{Exit, Failure};

/// Fails if a file certainly cannot be written. Checked before the work whose result goes to the file.
///
/// # Errors
/// Names the file and the reason.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let why = if !folder.is_dir() {
        format!("{} is not a folder", folder.display())
    } else if path.is_dir() {
        "it is a folder".to_owned()
    } else if let Err(error) = fs::symlink_metadata(path)
        && error.kind() != ErrorKind::NotFound
    {
        error.to_string()
    } else {
        return Ok(());
    };
    Err(Failure::misuse(format!("{} cannot be written: {why}", path.display())))
}

/// Writes a result.
///
/// # Errors
/// If it cannot be written, with the exit code of a lost result.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)
        .map_err(|error| Failure::new(Exit::Unknown, format!("{} cannot be written: {error}", path.display())))
}

/// Returns the path of a file, which may be missing, without links: two names of one file have the same.
pub(super) fn located(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    path.file_name().map_or_else(|| path.to_owned(), |name| folder.join(name))
}
