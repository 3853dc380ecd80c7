//! Receipts of inputs that are not saved yet.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ReceiptHandle;

/// A receipt that has not been given yet. Dropping it refuses the callback, because the callback's content is lost.
pub(super) struct Held(Option<ReceiptHandle>);

/// The receipts of a machine's inputs. Clones share them.
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
    /// Adds a receipt of an input that the machine has taken.
    pub(super) fn add(&self, held: Held) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(held);
    }

    /// Acknowledges the callbacks, because the machine is saved with its inputs.
    pub(super) fn give(&self) {
        let heard = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        heard.into_iter().for_each(Held::give);
    }
}
