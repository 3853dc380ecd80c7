//! Makes commits durable.

use std::{fs::File, sync::Arc};

use super::StoreError;

/// Makes everything durable that its store has committed. Clones do the same, on any thread.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<File>);

impl Syncer {
    /// For a store that commits to this file.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self(Arc::new(file))
    }

    /// Returns when everything that was committed before is on the disk.
    ///
    /// # Errors
    /// [`StoreError::Unsynced`]: how much of it is on disk is unknown, and another try would not show it.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.0.sync_data().map_err(|error| StoreError::Unsynced(error.to_string()))
    }
}
