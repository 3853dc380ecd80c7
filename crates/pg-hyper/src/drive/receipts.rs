//! Receipts of inputs that are not saved yet.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ReceiptHandle;

/// The receipts of a machine's inputs. Clones share them. Dropping them refuses the callbacks, because their content is
/// lost.
#[derive(Clone, Default)]
pub(super) struct ReceiptHandles(Arc<Mutex<Vec<ReceiptHandle>>>);

impl ReceiptHandles {
    /// Adds a receipt of an input that the machine has taken.
    pub(super) fn add(&self, receipt: ReceiptHandle) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }

    /// Acknowledges the callbacks, because the machine is saved with its inputs.
    pub(super) fn give(&self) {
        let heard = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        heard.into_iter().for_each(ReceiptHandle::acknowledge);
    }
}
