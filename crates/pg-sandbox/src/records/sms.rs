//! Text messages, which the sandbox only lists (spec 3 §4.6; assumption 127).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// A text message that a merchant wanted to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextMessage {
    /// Its place in the list.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The number in digits, with its country code.
    pub msisdn: String,
    /// What it says.
    pub message: String,
    /// `messid`; nothing when it was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// When it came.
    pub created: Timestamp,
}

impl TextMessage {
    /// The message as `GET /_sandbox/sms` shows it. What looks like a card number is masked.
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

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }
}
