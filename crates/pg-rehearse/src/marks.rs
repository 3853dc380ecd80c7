//! What log files had before: a secret in one that nothing was written to is not new.

use std::{
    fs::{File, Metadata},
    hash::{DefaultHasher, Hasher as _},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// The maximum number of bytes read from all files of a search.
pub(crate) const MOST: u64 = 256 << 20;
/// How many of them are in memory at a time.
pub(crate) const PIECE: u64 = 16 << 20;

/// The contents of files at one moment.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<Mark>);

#[derive(Debug)]
struct Mark {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
    hash: u64,
}

impl Marks {
    /// Marks the ends of files. Those that are too large are left out, and are new as a whole.
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let mut left = MOST;
        let mut mark = |path: &PathBuf| {
            let file = path.metadata().ok()?;
            left = left.checked_sub(file.len())?;
            let hash = hash(path, file.len()).ok()??;
            Some(Mark { path: path.clone(), length: file.len(), modified: file.modified().ok(), hash })
        };
        Self(paths.iter().filter_map(&mut mark).collect())
    }

    /// Returns how many of the first bytes of a file are as before. All of them only if nothing was written since, though it may
    /// have been renamed: one that grew may also have been truncated, and have been given the same beginning again.
    pub(crate) fn old_in(&self, path: &Path, file: &Metadata) -> u64 {
        self.0.iter().filter(|mark| mark.is_old_in(path, file)).map(|mark| mark.length).max().unwrap_or_default()
    }
}

impl Mark {
    fn is_old_in(&self, path: &Path, file: &Metadata) -> bool {
        let is_meant = if file.len() == self.length {
            self.modified.is_some() && self.modified == file.modified().ok()
        } else {
            self.path == path && file.len() > self.length
        };
        is_meant && hash(path, self.length).is_ok_and(|hash| hash == Some(self.hash))
    }
}

/// Returns a hash of the first bytes of a file, if it has so many.
fn hash(path: &Path, length: u64) -> io::Result<Option<u64>> {
    let mut file = File::open(path)?.take(length);
    let (mut hasher, mut bytes, mut left) = (DefaultHasher::new(), Vec::new(), length);
    while file.by_ref().take(PIECE).read_to_end(&mut bytes)? > 0 {
        hasher.write(&bytes);
        left = left.saturating_sub(bytes.len() as u64);
        bytes.clear();
    }
    Ok((left == 0).then(|| hasher.finish()))
}

#[cfg(test)]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    /// Writes a file, at this second.
    fn write(path: &Path, text: &str, at: u64) {
        fs::write(path, text).unwrap();
        let file = File::options().append(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(at)).unwrap();
    }

    #[test]
    fn only_what_was_there_and_still_is_there_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.log");
        write(&path, "leak", 1);
        let marks = Marks::of(std::slice::from_ref(&path));
        let old_in = |path: &Path| marks.old_in(path, &path.metadata().unwrap());
        assert_eq!(old_in(&path), 4);
        for (text, old) in [("leak, leak", 4), ("leak", 0), ("kael", 0), ("kael, leak", 0), ("le", 0)] {
            write(&path, text, 2);
            assert_eq!(old_in(&path), old, "{text}");
        }
        // Rotated, and the new file has the same text.
        write(&path, "leak", 1);
        let rotated = folder.path().join("shop.log.1");
        fs::rename(&path, &rotated).unwrap();
        write(&path, "leak", 2);
        assert_eq!((old_in(&rotated), old_in(&path)), (4, 0));
        write(&rotated, "leak, leak", 3);
        assert_eq!(old_in(&rotated), 0, "a file that is new at this path");
    }
}
