//! Makes commits durable.

use std::{
    fmt,
    fs::File,
    sync::{Arc, Mutex, PoisonError},
};

use super::StoreError;

/// Makes all commits of its store durable. Clones do the same, on any thread. After an error, each of them returns it: a
/// system may report a lost write once, to whichever thread asks first.
#[derive(Clone, Debug)]
pub struct Syncer(Arc<Shared>);

struct Shared {
    file: File,
    log: Option<Arc<dyn Synced>>,
    /// The first error. Held while the disk is waited for, so that no other thread misses it.
    failure: Mutex<Option<StoreError>>,
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
        Self(Arc::new(Shared { file, log: None, failure: Mutex::default() }))
    }

    /// Creates a syncer that tells a log what is on the disk, before [`sync`](Self::sync) returns.
    pub(super) fn of(log: Arc<dyn Synced>, file: File) -> Self {
        Self(Arc::new(Shared { file, log: Some(log), failure: Mutex::default() }))
    }

    /// Waits until all earlier commits are on disk.
    ///
    /// # Errors
    /// [`StoreError::Unsynced`]: it is unknown which commits are on disk, and a retry would not show it.
    pub fn sync(&self) -> Result<(), StoreError> {
        let Shared { file, log, failure } = &*self.0;
        let mut failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = &*failure {
            return Err(error.clone());
        }
        let written = log.as_ref().map(|log| log.written());
        if let Err(error) = file.sync_data() {
            return Err(failure.insert(StoreError::Unsynced(error.to_string())).clone());
        }
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

#[cfg(all(test, unix))]
mod tests {
    use std::{
        os::fd::OwnedFd,
        sync::atomic::{AtomicU64, Ordering::Relaxed},
    };

    use super::*;

    /// How often the disk was asked.
    #[derive(Default)]
    struct Asked(AtomicU64);

    impl Synced for Asked {
        fn written(&self) -> u64 {
            self.0.fetch_add(1, Relaxed)
        }

        fn is_on_disk(&self, _: u64) {}
    }

    /// A system reports a lost write once, to the first thread that asks. The next thread may not take success for an answer.
    #[test]
    fn after_an_error_the_disk_is_not_asked_again_and_every_thread_gets_the_error() {
        let (_reader, pipe) = std::io::pipe().unwrap();
        let asked = Arc::<Asked>::default();
        let one = Syncer::of(Arc::<Asked>::clone(&asked), File::from(OwnedFd::from(pipe)));
        let other = one.clone();
        for syncer in [&one, &other, &one] {
            assert!(matches!(syncer.sync(), Err(StoreError::Unsynced(_))));
        }
        assert_eq!(asked.0.load(Relaxed), 1);
    }
}
