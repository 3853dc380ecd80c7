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
/// the complete old or new text, whenever the process or the computer stops. Only one writer at a time is allowed.
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
    /// If it cannot be written, synced or renamed. The file then contains the old text, or perhaps the new text if the
    /// sync of its folder failed.
    pub fn write(&self, text: &str) -> io::Result<()> {
        let beside = self.beside();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        owner_only(&mut options);
        let mut file = options.open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.0)?;
        self.sync_folder()
    }

    /// Replaces the state `previous`, or nothing, by another one, and returns whether it did. Another state is not
    /// overwritten: it may be the only record of a payment in progress.
    pub(crate) fn replace(&self, previous: Option<&SavedState>, saved: &SavedState) -> io::Result<bool> {
        let found = self.saved()?;
        let is_known = found.as_ref() == previous;
        if is_known {
            self.write(saved.text())?;
        }
        Ok(is_known)
    }

    /// Removes the file. A missing file is not an error.
    ///
    /// # Errors
    ///
    /// If it exists and cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        }
    }

    /// In the same folder, so that it can be renamed. It is named after the whole file name, so that `a.json` and
    /// `a.txt` do not conflict.
    fn beside(&self) -> PathBuf {
        let mut name = OsString::from(self.0.as_os_str());
        name.push(".new");
        PathBuf::from(name)
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

#[cfg(unix)]
fn owner_only(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(0o600);
}

#[cfg(not(unix))]
fn owner_only(_: &mut OpenOptions) {}

#[cfg(test)]
mod tests {
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
    fn unreadable_files_are_not_taken_for_missing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DurableFile::new(folder.path()).read().is_err());
        assert!(DurableFile::new(folder.path().join("no/folder")).write("text").is_err());
    }
}
