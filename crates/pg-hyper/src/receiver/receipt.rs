//! The answer that whoever brought news waits for.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::sync::oneshot;

/// Whoever brought the news is told that they were received when this and all its clones are dropped. Until then the
/// service has no reason to believe it, and may bring them again.
///
/// Dropped without a thought, it says that the owner has seen the news. To say that they are stored, pass it on:
/// [`Drive::tell_received`](crate::Drive::tell_received), [`AccountUpdateDrive::receive`](crate::AccountUpdateDrive::receive).
#[derive(Clone)]
pub struct ReceiptHandle {
    /// Nobody waits for it when it was answered already.
    waiting: Option<Arc<Waiting>>,
}

/// Whoever waits hears when this is dropped.
struct Waiting {
    refused: AtomicBool,
    answer: Option<oneshot::Sender<bool>>,
}

impl ReceiptHandle {
    /// The news were not kept: whoever brought them is told to come again, instead of that they were received.
    pub fn refuse(self) {
        if let Some(waiting) = self.waiting {
            waiting.refused.store(true, Ordering::Release);
        }
    }

    /// One that nobody waits for.
    pub(super) const fn none() -> Self {
        Self { waiting: None }
    }

    /// One, and whether the news were received.
    pub(super) fn awaited() -> (Self, impl Future<Output = bool>) {
        let (answer, received) = oneshot::channel();
        let waiting = Waiting { refused: AtomicBool::new(false), answer: Some(answer) };
        (Self { waiting: Some(Arc::new(waiting)) }, async { received.await.unwrap_or(false) })
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(answer) = self.answer.take() {
            // Whoever waited may have gone.
            let _ = answer.send(!self.refused.load(Ordering::Acquire));
        }
    }
}

impl fmt::Debug for ReceiptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiptHandle")
    }
}
