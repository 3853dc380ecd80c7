//! The reports of an interrupted run, one file for each benchmark.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(super) struct Left {
    folder: PathBuf,
}

impl Left {
    pub(super) fn new(root: &Path) -> Self {
        Self { folder: root.join("target").join("bench-left") }
    }

    /// The lines of a benchmark that had ended.
    pub(super) fn of(&self, package: &str, bench: &str) -> Result<Option<Vec<String>>> {
        match fs::read_to_string(self.file(package, bench)) {
            Ok(text) => Ok(Some(text.lines().map(str::to_owned).collect())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", self.folder.display())),
        }
    }

    /// Keeps the lines of a benchmark that has ended.
    pub(super) fn keep(&self, package: &str, bench: &str, lines: &[String]) -> Result<()> {
        let write = || {
            fs::create_dir_all(&self.folder)?;
            // Renamed, so that an existing file is complete.
            let unfinished = self.folder.join("unfinished");
            fs::write(&unfinished, lines.join("\n"))?;
            fs::rename(&unfinished, self.file(package, bench))
        };
        write().with_context(|| format!("{} cannot be written", self.folder.display()))
    }

    /// Removes everything.
    pub(super) fn forget(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(error).with_context(|| format!("{} cannot be removed", self.folder.display()))
            }
            _ => Ok(()),
        }
    }

    fn file(&self, package: &str, bench: &str) -> PathBuf {
        self.folder.join(format!("{package}.{bench}.txt"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_kept_until_they_are_removed() {
        let root = tempfile::tempdir().unwrap();
        let left = Left::new(root.path());
        left.forget().unwrap();
        assert_eq!(left.of("pg-x", "sign").unwrap(), None);
        let lines = ["ratio\ta\t1\t-\t-".to_owned(), "note\tb".to_owned()];
        left.keep("pg-x", "sign", &lines).unwrap();
        assert_eq!(left.of("pg-x", "sign").unwrap().unwrap(), lines);
        assert_eq!(left.of("pg-x", "other").unwrap(), None);
        left.forget().unwrap();
        assert_eq!(left.of("pg-x", "sign").unwrap(), None);
    }
}
