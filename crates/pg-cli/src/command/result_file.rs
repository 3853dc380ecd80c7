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
    } else if is_named_pipe(path) {
        NAMED_PIPE.to_owned()
    } else if let Err(error) = fs::symlink_metadata(path)
        && error.kind() != ErrorKind::NotFound
    {
        error.to_string()
    } else {
        return Ok(());
    };
    Err(Failure::misuse(format!("{} cannot be written: {why}", path.display())))
}

/// The problem of a result file that is a named pipe.
pub(super) const NAMED_PIPE: &str = "it is a named pipe; name a file";

/// Whether it is a named pipe: opening it would wait for the other end, deaf to every signal. A pipe that a shell has opened
/// (`/dev/fd/63`) is none.
#[cfg(unix)]
pub(super) fn is_named_pipe(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;

    fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) && path.canonicalize().is_ok()
}

/// Named pipes of these systems are no files.
#[cfg(not(unix))]
pub(super) fn is_named_pipe(_: &Path) -> bool {
    false
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

/// Refuses to overwrite a file that the command reads, and to write two results to one file. Each file has the option that names it.
///
/// # Errors
/// Names both options.
pub(super) fn check_apart(written: &[(&str, Option<&Path>)], read: &[(&str, Option<&Path>)]) -> Result<(), Failure> {
    for (at, (option, file)) in written.iter().enumerate() {
        let Some(path) = file.map(located) else { continue };
        let mut others = written[at + 1..].iter().chain(read);
        if let Some((other, _)) = others.find(|(_, other)| other.map(located).as_ref() == Some(&path)) {
            return Err(Failure::misuse(format!(
                "{other} and {option} name the same file; choose another for one of them"
            )));
        }
    }
    Ok(())
}
