//! The response to a callback, which waits until the notification is stored.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::oneshot;

/// Acknowledges a callback when this and all its clones are dropped. Until then the service has no response, and may
/// send the callback again.
///
/// Dropping the handle means that the owner has seen the notification. To acknowledge a callback only when it is
/// stored, pass the handle on: [`Drive::handle_received_input`](crate::Drive::handle_received_input),
/// [`AccountUpdateDrive::receive`](crate::AccountUpdateDrive::receive).
#[derive(Clone)]
pub struct ReceiptHandle {
    /// `None` if the request was answered at once.
    waiting: Option<Arc<Waiting>>,
}

/// Sends the acknowledgement when dropped.
struct Waiting {
    refused: AtomicBool,
    answer: Option<oneshot::Sender<bool>>,
}

impl ReceiptHandle {
    /// Refuses the callback, which was not stored, and asks the service to send it again.
    pub fn refuse(self) {
        if let Some(waiting) = self.waiting {
            waiting.refused.store(true, Ordering::Release);
        }
    }

    /// Returns a handle for a request that was answered at once.
    pub(super) const fn none() -> Self {
        Self { waiting: None }
    }

    /// Returns a handle, and a future that tells whether the callback was acknowledged.
    pub(super) fn awaited() -> (Self, impl Future<Output = bool>) {
        let (answer, received) = oneshot::channel();
        let waiting = Waiting { refused: AtomicBool::new(false), answer: Some(answer) };
        (Self { waiting: Some(Arc::new(waiting)) }, async { received.await.unwrap_or(false) })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            // The connection may be closed.
            let _ = answer.send(!self.refused.load(Ordering::Acquire));
        }
    }
}

impl fmt::Debug for ReceiptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiptHandle")
    }
}
