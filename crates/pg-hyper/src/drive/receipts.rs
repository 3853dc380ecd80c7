//! The receipts of what a machine was told and is not stored with yet.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ReceiptHandle;

/// A receipt that is not to be given yet. Dropped, it refuses: what was told is lost with it.
pub(super) struct Held(Option<ReceiptHandle>);

/// The receipts of what a machine has heard. Clones share them.
#[derive(Clone, Default)]
pub(super) struct ReceiptHandles(Arc<Mutex<Vec<Held>>>);

impl Held {
    pub(super) const fn new(receipt: ReceiptHandle) -> Self {
        Self(Some(receipt))
    }

    fn give(mut self) {
        drop(self.0.take());
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(receipt) = self.0.take() {
            receipt.refuse();
        }
    }
}

impl ReceiptHandles {
    /// The machine has heard.
    pub(super) fn add(&self, held: Held) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(held);
    }

    /// The machine is stored with its inputs: answers the callbacks.
    pub(super) fn give(&self) {
        let heard = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        heard.into_iter().for_each(Held::give);
    }
}
