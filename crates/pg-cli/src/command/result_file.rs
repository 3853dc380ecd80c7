//! Files for the results of a long-running command.

use std::{
    fs,
    io::{self, ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use crate::failure::{Exit, Failure};

/// Fails if a file certainly cannot be written. Checked before the work whose result goes to the file.
///
/// # Errors
/// Names the file and the reason.
pub(super) fn check(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    let why = if let Err(error) = check_dash(path) {
        error.to_string()
    } else if !folder.is_dir() {
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

/// Fails for a single dash: it means standard output elsewhere, and would be the name of a file or a folder here.
///
/// # Errors
/// Says how to write such a name.
pub(super) fn check_dash(path: &Path) -> io::Result<()> {
    match path.as_os_str() == "-" {
        true => Err(io::Error::other("it is no name of a file or a folder; ./- is one")),
        false => Ok(()),
    }
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

/// Writes a result. A file is replaced as a whole: if it cannot be written, it has its old text.
///
/// # Errors
/// If it cannot be written, with the exit code of a lost result.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    // A device takes no other file in its place, and what a shell has opened would be written elsewhere.
    let is_missing = |error: &io::Error| error.kind() == ErrorKind::NotFound && !path.is_symlink();
    let is_file = fs::metadata(path)
        .map_or_else(|error| is_missing(&error), |found| found.is_file() && !found.permissions().readonly());
    let place = located(path);
    let new = if is_file && !is_opened(path) { new_text(&place, text) } else { Ok(None) };
    let written = new.and_then(|new| match new.map(|new| new.persist(&place)) {
        Some(Ok(_)) => Ok(()),
        // Only the file itself may be written, or it is mounted alone.
        Some(Err(_)) | None => fs::write(path, text),
    });
    written.map_err(|error| Failure::new(Exit::Unknown, format!("{} cannot be written: {error}", path.display())))
}

/// Whether the path names what the shell has opened, such as `/dev/stdout`.
fn is_opened(path: &Path) -> bool {
    ["/dev", "/proc"].iter().any(|folder| path.starts_with(folder))
}

/// Removes a result of an earlier run. A device stays, and so does a file that the shell has opened.
///
/// # Errors
/// If a file cannot be removed.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() && !is_opened(path) => fs::remove_file(located(path)),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Writes the text beside a file, which may be missing, with its permissions; `None` if that is not possible there.
///
/// # Errors
/// If the disk has no room for it.
fn new_text(path: &Path, text: &str) -> io::Result<Option<tempfile::NamedTempFile>> {
    let folder = folder_of(path);
    let mut new = tempfile::Builder::new();
    new.prefix(".pg-result-");
    #[cfg(unix)]
    new.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let Ok(mut new) = new.tempfile_in(folder) else { return Ok(None) };
    if let Ok(old) = fs::metadata(path)
        && new.as_file().set_permissions(old.permissions()).is_err()
    {
        return Ok(None);
    }
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    Ok(Some(new))
}

/// Returns the folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the path of a file, which may be missing, without links: two names of one file have the same.
pub(super) fn located(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let folder = folder_of(path);
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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_permissions_and_behind_its_links() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link, new] = ["own.toml", "link.toml", "new.toml"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o604)).unwrap();
        symlink("own.toml", &link).unwrap();
        write(&link, "text").unwrap();
        write(&new, "text").unwrap();
        let text = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!((text(&file), text(&new)), ("text".to_owned(), "text".to_owned()));
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let as_usual = folder.path().join("usual");
        fs::write(&as_usual, "").unwrap();
        assert_eq!((mode(&file), mode(&new)), (0o604, mode(&as_usual)));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
        // What is read only is not replaced.
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        let place = fs::metadata(&file).unwrap().ino();
        drop(write(&file, "new"));
        assert_eq!(fs::metadata(&file).unwrap().ino(), place);
        // A link to a file that does not exist creates that file.
        let [dangling, target] = ["dangling.toml", "target.toml"].map(|name| folder.path().join(name));
        symlink("target.toml", &dangling).unwrap();
        write(&dangling, "text").unwrap();
        assert_eq!(text(&target), "text");
    }
}
