//! The profile file: its path, and writing it so that other users can never read it.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use pg_model::mask;

use crate::{
    account::profile::{self, Mistake, Profiles},
    argument,
    command::result_file::{check_dash, folder_of},
    failure::Failure,
};

/// Returns the file that the flag names, else the environment, else the usual file.
///
/// # Errors
/// If the settings folder is unknown.
pub(super) fn path(flag: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let of_environment = || std::env::var_os("PG_PROFILE_FILE").filter(|file| !file.is_empty()).map(PathBuf::from);
    flag.or_else(of_environment)
        .or_else(profile::usual_file)
        .ok_or_else(|| Failure::misuse("the settings folder is unknown: set HOME or use --profile-file FILE"))
}

/// Checks that a profile name needs no quotation marks.
///
/// # Errors
/// If the name has other characters.
pub(super) fn check_name(name: &str) -> Result<(), Failure> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !name.is_empty() && name.bytes().all(plain) {
        Ok(())
    } else {
        let name = mask::text(name);
        Err(Failure::misuse(format!(
            "invalid profile name {name:?}: use letters, digits, - and _; settings follow the profile"
        )))
    }
}

/// Returns the file's text; `None` if there is no file.
///
/// # Errors
/// If it cannot be read.
pub(super) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::File::open(path) {
        Ok(mut file) => argument::read_text(&mut file).map(Some).map_err(|error| problem(path, &error.to_string())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(problem(path, &error.to_string())),
    }
}

/// Returns the profiles of the file, none if it is missing.
///
/// # Errors
/// If it cannot be read, or has mistakes.
pub(super) fn profiles(path: &Path) -> Result<Profiles, Failure> {
    let text = read(path)?.unwrap_or_default();
    profile::parse(&text).map_err(|found| mistakes(path, &found))
}

/// Returns a failure about the file.
pub(super) fn problem(path: &Path, problem: &str) -> Failure {
    Failure::misuse(format!("the profile file {}: {problem}", mask::text(&path.display().to_string())))
}

/// Returns a failure that lists mistakes in the file.
pub(super) fn mistakes(path: &Path, mistakes: &[Mistake]) -> Failure {
    let list: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    problem(path, &list.join("; "))
}

/// Fails if there is something else than a file, which a new file must not replace: a device, a pipe, a link to a missing file.
fn check_kind(path: &Path) -> Result<(), Failure> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(problem(path, "is not a regular file")),
        Err(_) if path.is_symlink() => {
            Err(problem(path, "is a link to a missing file; create that file, or remove the link"))
        }
        _ => Ok(()),
    }
}

/// Locks the file for a change: reading it, and writing it again. Another process that changes it waits for the end of the lock.
/// Its folder is locked, since the file itself is replaced; systems that cannot lock folders have no lock.
///
/// # Errors
/// If the folder cannot be created, the file is named by a single dash, or its place is taken by something else.
pub(super) fn lock(path: &Path) -> Result<Option<fs::File>, Failure> {
    check_dash(path).map_err(|error| not_written(path, &error))?;
    check_kind(path)?;
    let path = located(path);
    let folder = folder_of(&path);
    make(folder).map_err(|error| not_written(&path, &error))?;
    let folder = fs::File::open(folder).ok();
    Ok(folder.filter(|folder| folder.lock().is_ok()))
}

/// Returns where the file is. A symbolic link is kept, and its target is replaced.
fn located(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn not_written(path: &Path, error: &std::io::Error) -> Failure {
    problem(path, &format!("cannot be written: {error}"))
}

/// Replaces the file atomically; only its owner can read it.
///
/// # Errors
/// If the folder cannot be created or written.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| not_written(path, &error);
    let path = &located(path);
    let folder = folder_of(path);
    make(folder).map_err(failed)?;
    // Mode 0600 from the start.
    let mut file = tempfile::Builder::new().prefix(".profiles-").tempfile_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(unix)]
fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)
}
