//! The key file beside a store.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use zeroize::Zeroizing;

use crate::private_file::{self, beside};

/// The second line of the file of a key whose store is being created.
const NEW: &str = "new";
/// The second line of the file of a key whose store is sealed.
const SEALED: &str = "sealed";

/// A key, and the known state of its store.
pub struct KeyFile {
    /// The key.
    pub key: Zeroizing<[u8; 32]>,
    /// The state of the store.
    pub stage: Stage,
}

/// The state of the store beside a key. It prevents an empty store, or a store of an earlier format, from being
/// accepted in place of the key's own store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The store may not exist yet.
    New,
    /// The store exists, and may have an unencrypted format: an earlier version created the key.
    InClear,
    /// The store exists, and its rows are sealed.
    Sealed,
}

/// Returns the path of the key of a store file: beside it, with `.key` appended to its name.
#[must_use]
pub fn key_path(store: &Path) -> PathBuf {
    beside(store, ".key")
}

/// Reads a key file that only its owner can read: 64 hexadecimal digits, and a line about the store. `None` if there is
/// no file.
///
/// # Errors
///
/// [`KeyFileError`] says what is wrong with the file and what to do.
pub fn load_key(path: &Path) -> Result<Option<KeyFile>, KeyFileError> {
    // Reading a pipe would wait for its other end.
    let text = fs::metadata(path).and_then(|metadata| {
        if metadata.is_file() { fs::read_to_string(path) } else { Err(io::Error::other("it is not a regular file")) }
    });
    match text {
        Ok(text) => {
            let text = Zeroizing::new(text);
            refuse_shared(path)?;
            let file = parse(text.trim()).ok_or_else(|| KeyFileError::Unreadable(path.to_owned()))?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(KeyFileError::Unreadable(path.to_owned())),
        Err(error) => Err(KeyFileError::Io(path.to_owned(), error)),
    }
}

/// Creates a key file for a new store. The file is durable before this function returns, and no other process sees a
/// part of it. Returns false if the file exists; then it is unchanged.
///
/// # Errors
///
/// [`KeyFileError::NoFolder`] and [`KeyFileError::Io`].
pub(crate) fn create_key(path: &Path, key: &[u8; 32]) -> Result<bool, KeyFileError> {
    let whole = beside(path, &format!(".new-{}", std::process::id()));
    let create = || {
        remove(&whole)?;
        write(&whole, key, NEW)?;
        let created = match fs::hard_link(&whole, path) {
            // Some file systems have no links.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write(path, key, NEW),
            created => created,
        };
        remove(&whole)?;
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            created => created.and_then(|()| private_file::sync_folder(path)).map(|()| true),
        }
    };
    create().map_err(|error| {
        // A partial file would stay on a full disk.
        drop(fs::remove_file(&whole));
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
        match folder.filter(|_| error.kind() == io::ErrorKind::NotFound) {
            Some(folder) => KeyFileError::NoFolder(folder.to_owned()),
            None => KeyFileError::Io(path.to_owned(), error),
        }
    })
}

/// Records that the store beside the key exists and is sealed. The record is durable before this returns.
///
/// # Errors
///
/// [`KeyFileError::Io`]; the file is then unchanged.
pub(crate) fn mark_sealed(path: &Path, key: &[u8; 32]) -> Result<(), KeyFileError> {
    let fresh = beside(path, ".new");
    let replace = || {
        // Processes that share the key take turns here. The first one replaces the file, so the next one locks the new
        // file.
        let held = fs::File::open(path)?;
        held.lock()?;
        if fs::read_to_string(path)?.ends_with(&format!("{SEALED}\n")) {
            return Ok(());
        }
        // A killed process may have left such a file.
        remove(&fresh)?;
        write(&fresh, key, SEALED)?;
        fs::rename(&fresh, path)?;
        private_file::sync_folder(path)
    };
    replace().map_err(|error| KeyFileError::Io(path.to_owned(), error))
}

/// Removes a file, if it exists.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn write(path: &Path, key: &[u8; 32], stage: &str) -> io::Result<()> {
    let mut file = private_file::create(path)?;
    let mut text = Zeroizing::new(String::with_capacity(80));
    for byte in key {
        text.push_str(&format!("{byte:02x}"));
    }
    text.push('\n');
    text.push_str(stage);
    text.push('\n');
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    // The name must be as durable as the content: a lost key loses every record.
    private_file::sync_folder(path)
}

#[cfg(unix)]
fn refuse_shared(path: &Path) -> Result<(), KeyFileError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(path).map_err(|error| KeyFileError::Io(path.to_owned(), error))?;
    if metadata.permissions().mode() & 0o077 == 0 { Ok(()) } else { Err(KeyFileError::Shared(path.to_owned())) }
}

#[cfg(not(unix))]
fn refuse_shared(_path: &Path) -> Result<(), KeyFileError> {
    Ok(())
}

fn parse(text: &str) -> Option<KeyFile> {
    let (digits, stage) = match text.split_once('\n') {
        None => (text, Stage::InClear),
        Some((digits, NEW)) => (digits, Stage::New),
        Some((digits, SEALED)) => (digits, Stage::Sealed),
        Some(_) => return None,
    };
    Some(KeyFile { key: parse_key(digits)?, stage })
}

/// Parses a key of 64 hexadecimal digits.
pub(crate) fn parse_key(text: &str) -> Option<Zeroizing<[u8; 32]>> {
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return None;
    }
    let mut key = Zeroizing::new([0_u8; 32]);
    for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
        let high = char::from(pair[0]).to_digit(16)?;
        let low = char::from(pair[1]).to_digit(16)?;
        *byte = u8::try_from(high * 16 + low).ok()?;
    }
    Some(key)
}

/// What is wrong with a key file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFileError {
    /// It cannot be read or created.
    #[error("cannot read or create the key file {path}: {problem}", path = .0.display(), problem = .1)]
    Io(PathBuf, #[source] io::Error),
    /// Its folder does not exist.
    #[error("the folder {folder} does not exist; create it", folder = .0.display())]
    NoFolder(PathBuf),
    /// Its content is not 64 hexadecimal digits.
    #[error("the key file {path} does not contain 64 hexadecimal digits; restore it", path = .0.display())]
    Unreadable(PathBuf),
    /// Other users can read or write it.
    #[error("the key file is accessible to other users; run: chmod 600 {path}", path = .0.display())]
    Shared(PathBuf),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_file_is_made_once_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = key_path(&folder.path().join("store.sqlite"));
        assert!(path.ends_with("store.sqlite.key"));
        assert!(load_key(&path).unwrap().is_none());
        assert!(create_key(&path, &[0xa5; 32]).unwrap());
        assert!(!create_key(&path, &[0; 32]).unwrap(), "another process has created it");
        let read = || load_key(&path).unwrap().map(|file| (*file.key, file.stage)).unwrap();
        assert_eq!(read(), ([0xa5; 32], Stage::New));
        fs::write(path.with_extension("key.new"), "left by a killed process").unwrap();
        mark_sealed(&path, &[0xa5; 32]).unwrap();
        assert_eq!(read(), ([0xa5; 32], Stage::Sealed));
        mark_sealed(&path, &[0; 32]).unwrap();
        assert_eq!(read(), ([0xa5; 32], Stage::Sealed), "another process has sealed it");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_that_is_no_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = load_key(folder.path()).err().unwrap().to_string();
        assert!(error.ends_with("it is not a regular file"), "{error}");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        if made.is_ok_and(|made| made.success()) {
            assert!(matches!(load_key(&pipe), Err(KeyFileError::Io(..))));
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_key_file_is_for_its_owner_only() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.key");
        assert!(create_key(&path, &[1; 32]).unwrap());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        mark_sealed(&path, &[1; 32]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(load_key(&path), Err(KeyFileError::Shared(_))));
    }

    #[test]
    fn a_damaged_key_file_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.key");
        let odd = format!("{}\nother", "0".repeat(64));
        for content in [&b"short"[..], b"\xff\xfe", &[b'g'; 64], odd.as_bytes()] {
            fs::write(&path, content).unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            }
            let error = load_key(&path).err().unwrap();
            assert!(matches!(error, KeyFileError::Unreadable(_)), "{error}");
            assert_eq!(fs::read(&path).unwrap(), content);
        }
    }
}
