//! Browsers of finished tests, for the next tests: starting one takes longer than most tests.
//!
//! They live as long as any test uses one: when the last test ends, all browsers end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tempfile::TempDir;

use super::{
    Scripts,
    driver::{Driver, Extent},
};

/// What a test asks of a browser.
pub(super) type Kind = (Scripts, Extent);

/// A browser with its driver and its profile.
pub(super) struct Running {
    /// The address of the WebDriver session.
    pub(super) session: String,
    // In this order: the browser ends before its profile is removed.
    pub(super) _driver: Driver,
    pub(super) _profile: TempDir,
}

/// The browsers that wait for a test.
#[derive(Default)]
pub(super) struct Pool {
    idle: Mutex<Vec<(Kind, Running)>>,
}

static POOL: Mutex<Weak<Pool>> = Mutex::new(Weak::new());

impl Pool {
    /// The pool of the tests that run now.
    pub(super) fn shared() -> Arc<Self> {
        let mut pool = locked(&POOL);
        let shared = pool.upgrade().unwrap_or_default();
        *pool = Arc::downgrade(&shared);
        shared
    }

    /// A browser of this kind that waits, if any.
    pub(super) fn take(&self, wanted: Kind) -> Option<Running> {
        let mut idle = locked(&self.idle);
        let place = idle.iter().position(|(kind, _)| *kind == wanted)?;
        Some(idle.swap_remove(place).1)
    }

    /// Keeps a browser for the next test.
    pub(super) fn keep(&self, kind: Kind, running: Running) {
        locked(&self.idle).push((kind, running));
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
