//! Registered addresses that receive an account's callbacks instead of the addresses in requests.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{records::CallbackKind, secret_parameter};

/// A registered address: it receives the callbacks of one kind of one account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackDestination {
    /// Its number, by which it is removed.
    pub id: String,
    /// The account's name.
    pub merchant: String,
    /// The kind of callbacks.
    pub kind: CallbackKind,
    /// The address.
    pub url: String,
    /// How often a callback that is not acknowledged is sent again.
    pub retries: u32,
}

impl CallbackDestination {
    /// Returns the destination as the control interface shows it. Text that looks like a card number is masked.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "id": self.id,
            "merchant": self.merchant,
            "kind": self.kind,
            "url": secret_parameter::masked(&self.url),
            "retries": self.retries,
        })
    }
}
