//! The response to a callback, which waits until the notification is stored.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::oneshot;

/// Acknowledges or refuses a callback. Until then the service has no response, and may send the callback again.
///
/// Once the notification is stored, [acknowledge](Self::acknowledge) it, or pass the handle on to
/// [`Drive::handle_received_input`](crate::Drive::handle_received_input) or
/// [`AccountUpdateDrive::receive`](crate::AccountUpdateDrive::receive), which do that. If the handle and all its clones
/// are dropped before, for example because of an error, a panic or a cancelled task, the callback is refused.
#[derive(Clone)]
pub struct ReceiptHandle {
    /// `None` if the request was answered at once.
    waiting: Option<Arc<Mutex<Option<oneshot::Sender<bool>>>>>,
}

impl ReceiptHandle {
    /// Acknowledges the callback, whose notification is stored. The first answer of all clones counts.
    pub fn acknowledge(self) {
        self.answer(true);
    }

    /// Refuses the callback, which was not stored, at once: the service may send it again.
    pub fn refuse(self) {
        self.answer(false);
    }

    fn answer(self, is_stored: bool) {
        let Some(waiting) = self.waiting else { return };
        if let Some(answer) = waiting.lock().unwrap_or_else(PoisonError::into_inner).take() {
            // The connection may be closed.
            let _ = answer.send(is_stored);
        }
    }

    /// Returns a handle for a request that was answered at once.
    pub(super) const fn none() -> Self {
        Self { waiting: None }
    }

    /// Returns a handle, and a future that tells whether the callback was acknowledged.
    pub(super) fn awaited() -> (Self, impl Future<Output = bool>) {
        let (answer, received) = oneshot::channel();
        let handle = Self { waiting: Some(Arc::new(Mutex::new(Some(answer)))) };
        (handle, async { received.await.unwrap_or(false) })
    }
}

impl fmt::Debug for ReceiptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiptHandle")
    }
}
