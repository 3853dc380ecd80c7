//! Whether a process reaches its store.

use tokio::sync::watch;

/// Whether a process can reach its store at this moment. Clones share the state, on any thread.
#[derive(Clone, Debug)]
pub struct Reach(watch::Receiver<bool>);

impl Reach {
    /// Creates the state of a store from that of its connection.
    #[must_use]
    pub const fn new(reached: watch::Receiver<bool>) -> Self {
        Self(reached)
    }

    /// Waits until the store is reachable, or unreachable; returns false if it is closed first.
    pub(crate) async fn is(&mut self, wanted: bool) -> bool {
        self.0.wait_for(|reached| *reached == wanted).await.is_ok()
    }
}
