//! A file that is replaced atomically, and is on disk before its writer continues.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use pg_proto::machine::SavedState;

/// A file with one text that must survive a crash, such as a machine or an order.
///
/// [`write`](Self::write) writes a second file, syncs it to disk, and renames it to the first. So the file contains
/// the complete old or new text, whenever the process or the computer stops. Writers exclude each other, also in other
/// processes: each locks a file beside it, whose name ends with `.lock`.
///
/// ```no_run
/// use pg_hyper::{Client, DurableFile, proto::{machine::charge::ChargeOutcome, model::AuthCardKey}};
///
/// # async fn pay(client: Client, payment: AuthCardKey) -> Result<ChargeOutcome, Box<dyn std::error::Error>> {
/// let file = DurableFile::new("order-7.json");
/// let charging = match file.saved()? {
///     Some(saved) => client.resume_charge(&saved, Some(payment))?,
///     None => client.charge(payment)?,
/// };
/// let charged = charging.store_in(file.clone()).await;
/// // … record the outcome in the order, durably …
/// if !matches!(charged, ChargeOutcome::Unknown { .. }) {
///     // After an unknown outcome, the state is kept, so that the next run looks the payment up.
///     file.remove()?;
/// }
/// # Ok(charged)
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableFile(PathBuf);

impl DurableFile {
    /// Uses the file at this path. The file need not exist, but its folder must.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the text that was written last; `None` if there is no file.
    ///
    /// # Errors
    ///
    /// If the file exists and cannot be read. Do not start again then: the file may record a payment in progress.
    pub fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.0) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the text as the state of a machine.
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read).
    pub fn saved(&self) -> io::Result<Option<SavedState>> {
        Ok(self.read()?.map(SavedState::from_text))
    }

    /// Replaces the text. Returns when the new text is on disk.
    ///
    /// # Errors
    ///
    /// If it cannot be locked, written, synced or renamed. The file then contains the old text, or perhaps the new text if the
    /// sync of its folder failed.
    pub fn write(&self, text: &str) -> io::Result<()> {
        let _lock = self.lock()?;
        self.write_locked(text)
    }

    fn write_locked(&self, text: &str) -> io::Result<()> {
        let beside = self.beside(".new");
        let mut file = owner_only().truncate(true).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.0)?;
        self.sync_folder()
    }

    /// Replaces the state `previous`, or nothing, by another one, and returns whether it did. Another state is not
    /// overwritten: it may be the only record of a payment in progress.
    pub(crate) fn replace(&self, previous: Option<&SavedState>, saved: &SavedState) -> io::Result<bool> {
        let _lock = self.lock()?;
        let is_known = self.saved()?.as_ref() == previous;
        if is_known {
            self.write_locked(saved.text())?;
        }
        Ok(is_known)
    }

    /// Removes the file. A missing file is not an error.
    ///
    /// # Errors
    ///
    /// If it exists and cannot be removed, or if it cannot be locked.
    pub fn remove(&self) -> io::Result<()> {
        let _lock = self.lock()?;
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        }
    }

    /// In the same folder, so that it can be renamed. It is named after the whole file name, so that `a.json` and
    /// `a.txt` do not conflict.
    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(self.0.as_os_str());
        name.push(ending);
        PathBuf::from(name)
    }

    /// Waits until no other writer has the lock. The lock has a file of its own, since a write replaces the other one.
    fn lock(&self) -> io::Result<Lock> {
        let path = self.beside(".lock");
        loop {
            let file = owner_only().truncate(false).open(&path)?;
            file.lock()?;
            // The writer before may have removed it, and another one may have created and locked a new one.
            if is_at(&file, &path)? {
                return Ok(Lock { path, _file: file });
            }
        }
    }

    /// A name is on disk when its folder is synced.
    fn sync_folder(&self) -> io::Result<()> {
        if cfg!(unix) {
            let folder = self.0.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }
}

/// The right to write a file. It ends when the lock file is closed.
struct Lock {
    path: PathBuf,
    _file: File,
}

impl Drop for Lock {
    /// Removes the lock file, while it is still locked. Where files have no inodes to compare, the file stays.
    fn drop(&mut self) {
        if cfg!(unix)
            && let Err(error) = fs::remove_file(&self.path)
        {
            tracing::debug!(target: "pg.drive", %error, "a lock file was not removed");
        }
    }
}

/// Whether this open file is the one at the path.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = file.metadata()?;
    match fs::metadata(path) {
        Ok(found) => Ok((found.dev(), found.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Creates files for writing that other users cannot read.
fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;

    #[test]
    fn the_file_contains_the_last_write_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = DurableFile::new(folder.path().join("order-7.json"));
        assert_eq!(file.read().unwrap(), None);
        for text in ["one", "another"] {
            file.write(text).unwrap();
            assert_eq!(file.read().unwrap().as_deref(), Some(text));
        }
        assert_eq!(file.saved().unwrap().unwrap().text(), "another");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        file.remove().unwrap();
        file.remove().unwrap();
        assert_eq!(file.read().unwrap(), None);
    }

    #[test]
    fn an_interrupted_write_leaves_the_previous_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = DurableFile::new(folder.path().join("order-7.json"));
        file.write("before").unwrap();
        // The process was killed before the rename: half of the next text is in the second file.
        fs::write(folder.path().join("order-7.json.new"), "aft").unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("before"));
        file.write("after").unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("after"));
    }

    #[test]
    fn a_state_replaces_only_the_one_before_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = DurableFile::new(folder.path().join("order-7.json"));
        let [one, two, three] = ["one", "two", "three"].map(SavedState::from_text);
        assert!(file.replace(None, &one).unwrap());
        assert!(file.replace(Some(&one), &two).unwrap());
        assert!(!file.replace(None, &three).unwrap());
        assert!(!file.replace(Some(&one), &three).unwrap());
        assert_eq!(file.saved().unwrap(), Some(two.clone()));
        file.remove().unwrap();
        assert!(!file.replace(Some(&two), &three).unwrap());
        assert_eq!(file.saved().unwrap(), None);
    }

    #[test]
    fn of_two_writers_at_once_only_one_replaces_a_state() {
        const WRITERS: usize = 4;
        let folder = tempfile::tempdir().unwrap();
        let file = DurableFile::new(folder.path().join("order-7.json"));
        let first = SavedState::from_text("first");
        for round in 0..50 {
            file.write(first.text()).unwrap();
            let start = Barrier::new(WRITERS);
            let replaced = thread::scope(|scope| {
                let writers: Vec<_> = (0..WRITERS)
                    .map(|writer| {
                        let (file, first, start) = (&file, &first, &start);
                        let next = SavedState::from_text(format!("{writer}"));
                        scope.spawn(move || {
                            start.wait();
                            file.replace(Some(first), &next).unwrap()
                        })
                    })
                    .collect();
                writers.into_iter().map(|writer| writer.join().unwrap()).filter(|done| *done).count()
            });
            assert_eq!(replaced, 1, "round {round}");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no lock file is left");
    }

    #[test]
    fn unreadable_files_are_not_taken_for_missing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DurableFile::new(folder.path()).read().is_err());
        assert!(DurableFile::new(folder.path().join("no/folder")).write("text").is_err());
    }
}
