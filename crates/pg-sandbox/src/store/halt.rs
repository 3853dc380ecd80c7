//! Ends all waits for a store.

use std::sync::Arc;

use tokio::sync::watch;

/// Ends every wait for a store, now and later: the process stops. Clones share the state, on any thread.
#[derive(Clone, Debug, Default)]
pub struct Halt(Arc<watch::Sender<bool>>);

impl Halt {
    /// Ends every wait.
    pub fn end_waits(&self) {
        self.0.send_replace(true);
    }

    /// Whether no wait may begin.
    #[cfg(feature = "postgres")]
    pub(super) fn is_ended(&self) -> bool {
        *self.0.borrow()
    }

    /// Returns once waits have to end.
    #[cfg(feature = "postgres")]
    pub(super) async fn ended(&self) {
        // The sender is this one, so it cannot be gone.
        let _ = self.0.subscribe().wait_for(|ended| *ended).await;
    }
}
