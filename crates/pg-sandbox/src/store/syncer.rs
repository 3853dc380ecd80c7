//! Makes commits durable.

use std::{fmt, fs::File, sync::Arc};

use super::StoreError;

/// Makes all commits of its store durable. Clones do the same, on any thread.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<Shared>);

struct Shared {
    file: File,
    log: Option<Arc<dyn Synced>>,
}

/// A log that records how much of it is on the disk.
pub(super) trait Synced: Send + Sync {
    /// Returns the number of bytes written so far.
    fn written(&self) -> u64;

    /// Records that this number of bytes is on the disk.
    fn is_on_disk(&self, written: u64);
}

impl Syncer {
    /// Creates a syncer of a store that commits to this file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Arc::new(Shared { file, log: None }))
    }

    /// Creates a syncer that tells a log what is on the disk, before [`sync`](Self::sync) returns.
    pub(super) fn of(log: Arc<dyn Synced>, file: File) -> Self {
        Self(Arc::new(Shared { file, log: Some(log) }))
    }

    /// Waits until all earlier commits are on disk.
    ///
    /// # Errors
    /// [`StoreError::Unsynced`]: it is unknown which commits are on disk, and a retry would not show it.
    pub fn sync(&self) -> Result<(), StoreError> {
        let Shared { file, log } = &*self.0;
        let written = log.as_ref().map(|log| log.written());
        file.sync_data().map_err(|error| StoreError::Unsynced(error.to_string()))?;
        if let (Some(log), Some(written)) = (log, written) {
            log.is_on_disk(written);
        }
        Ok(())
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Syncer").field("file", &self.file).finish_non_exhaustive()
    }
}
