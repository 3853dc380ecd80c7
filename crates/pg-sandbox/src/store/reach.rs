//! Whether a process reaches its store.

use tokio::sync::watch;

/// Tells whether a process reaches its store at this moment. Clones tell the same, on any thread.
#[derive(Clone, Debug)]
pub struct Reach(watch::Receiver<bool>);

impl Reach {
    /// For a store whose connection says so.
    #[must_use]
    pub const fn new(reached: watch::Receiver<bool>) -> Self {
        Self(reached)
    }

    /// Returns once the store is reached, or away; false if it is closed before.
    pub(crate) async fn is(&mut self, wanted: bool) -> bool {
        self.0.wait_for(|reached| *reached == wanted).await.is_ok()
    }
}
