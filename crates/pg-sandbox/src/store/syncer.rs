//! Makes commits durable.

use std::{fs::File, sync::Arc};

use super::StoreError;

/// Makes all commits of its store durable. Clones do the same, on any thread.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<File>);

impl Syncer {
    /// Creates a syncer of a store that commits to this file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Arc::new(file))
    }

    /// Waits until all earlier commits are on disk.
    ///
    /// # Errors
    /// [`StoreError::Unsynced`]: it is unknown which commits are on disk, and a retry would not show it.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.0.sync_data().map_err(|error| StoreError::Unsynced(error.to_string()))
    }
}
