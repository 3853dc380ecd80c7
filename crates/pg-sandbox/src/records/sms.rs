//! Text messages, which the sandbox only lists (spec 3 §4.6; assumption A127).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// A text message from a merchant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextMessage {
    /// Its position in the list.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The number in digits, with country code.
    pub msisdn: String,
    /// The text.
    pub message: String,
    /// `messid`; `None` if it was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// When it arrived.
    pub created: Timestamp,
}

impl TextMessage {
    /// Returns the message as `GET /_sandbox/sms` shows it. Text that looks like a card number is masked.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "id": self.key,
            "merchant": self.merchant,
            "msisdn": self.msisdn,
            "message": pg_model::mask::text(&self.message),
            "status": if self.message_id.is_some() { "1" } else { "0" },
            "messid": self.message_id,
            "created": self.created.to_string(),
        })
    }
}

impl StoredRecord for TextMessage {
    const KIND: &'static Kind = &Kind { table: "text_messages", columns: &[] };

    key_and_merchant!();
}
