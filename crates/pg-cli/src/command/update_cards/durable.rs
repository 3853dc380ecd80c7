//! Files that survive a crash.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::command::result_file::folder_of;

/// Replaces a file's text atomically: after a crash at any moment the file has the old or the new text. Only its owner
/// can read it.
pub(super) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = new_of(path);
    let replaced = write(&new, text).and_then(|()| fs::rename(&new, path));
    if replaced.is_err() {
        // A partial file would use space on a full disk.
        drop(fs::remove_file(&new));
    }
    replaced?;
    sync_folder(path)
}

/// Returns the path where the new text of a file is written before it replaces the old one.
pub(super) fn new_of(path: &Path) -> PathBuf {
    beside(path, ".new")
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    let mut file = private().create(true).truncate(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Opens files for writing. A new file is readable only by its owner, where files have owners; an existing file keeps
/// its permissions.
pub(super) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Returns the path with a suffix after its name.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}

/// Syncs the folder of a file that was created or renamed.
#[cfg(unix)]
pub(super) fn sync_folder(path: &Path) -> io::Result<()> {
    let folder = folder_of(path);
    File::open(folder)?.sync_all()
}

/// These systems cannot open folders; they write a name together with its file.
#[cfg(not(unix))]
pub(super) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cards.txt.pg-state");
        for text in ["a longer text", "short"] {
            replace(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace(&folder.path().join("none/state"), "").is_err());
    }
}
