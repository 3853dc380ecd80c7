//! Makes commits durable.

use std::{
    fs::File,
    sync::{
        Arc,
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Release},
        },
    },
};

use super::StoreError;

/// Makes all commits of its store durable. Clones do the same, on any thread.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    file: File,
    /// The number of bytes that were written, and of those that are on the disk.
    written: AtomicU64,
    synced: AtomicU64,
}

impl Syncer {
    /// Creates a syncer of a store that commits to this file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Arc::new(Shared { file, written: AtomicU64::new(0), synced: AtomicU64::new(0) }))
    }

    /// Waits until all earlier commits are on disk.
    ///
    /// # Errors
    /// [`StoreError::Unsynced`]: it is unknown which commits are on disk, and a retry would not show it.
    pub fn sync(&self) -> Result<(), StoreError> {
        let written = self.0.written.load(Acquire);
        self.0.file.sync_data().map_err(|error| StoreError::Unsynced(error.to_string()))?;
        self.0.synced.fetch_max(written, Release);
        Ok(())
    }

    /// Records that these bytes were written, after all earlier ones.
    pub(super) fn wrote(&self, bytes: u64) {
        self.0.written.fetch_add(bytes, Release);
    }

    /// Returns how many of the bytes that were recorded are on the disk for certain.
    pub(super) fn synced(&self) -> u64 {
        self.0.synced.load(Acquire)
    }
}
