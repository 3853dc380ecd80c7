//! A file that is replaced as a whole, and on the disk before its writer goes on.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use pg_proto::machine::SavedState;

/// A file with one text, for what has to survive a crash: a machine, an order.
///
/// [`write`](Self::write) writes a second file, syncs it to the disk, and gives it the name of the first. So the file holds
/// the text before or the text after, whole, whenever the process or the machine stops. One writer at a time.
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
/// // … note in the order, durably, what became of it …
/// file.remove()?;
/// # Ok(charged)
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DurableFile(PathBuf);

impl DurableFile {
    /// The file at this path, which need not exist. Its folder has to.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// What was written last; `None` if there is no file.
    ///
    /// # Errors
    /// If the file exists and cannot be read. Do not begin anew then: it may say that a payment is under way.
    pub fn read(&self) -> io::Result<Option<String>> {
        match fs::read_to_string(&self.0) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same, as the state of a machine.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn saved(&self) -> io::Result<Option<SavedState>> {
        Ok(self.read()?.map(SavedState::from_text))
    }

    /// Replaces the text. Returns when the new text is on the disk.
    ///
    /// # Errors
    /// If it cannot be written, synced or renamed. The file then holds the text before, or after a failed sync of its folder
    /// perhaps the new one.
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

    /// Removes the file. It is no error if there is none.
    ///
    /// # Errors
    /// If it exists and cannot be removed.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => self.sync_folder(),
        }
    }

    /// In the same folder, so that it can be renamed; after the whole name, so that `a.json` and `a.txt` do not meet.
    fn beside(&self) -> PathBuf {
        let mut name = OsString::from(self.0.as_os_str());
        name.push(".new");
        PathBuf::from(name)
    }

    /// A name is on the disk once its folder is.
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
    fn it_holds_what_was_written_last_and_leaves_nothing_beside() {
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
    fn what_stops_half_way_leaves_the_text_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = DurableFile::new(folder.path().join("order-7.json"));
        file.write("before").unwrap();
        // The process is killed before the rename: a half of the next text lies beside.
        fs::write(folder.path().join("order-7.json.new"), "aft").unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("before"));
        file.write("after").unwrap();
        assert_eq!(file.read().unwrap().as_deref(), Some("after"));
    }

    #[test]
    fn what_cannot_be_read_is_not_taken_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(DurableFile::new(folder.path()).read().is_err());
        assert!(DurableFile::new(folder.path().join("no/folder")).write("text").is_err());
    }
}
