//! Account updater batches (spec 1 §2.2, §3.2).

use std::{collections::BTreeMap, time::Duration};

use pg_model::Encoding;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::due_column;
use crate::{
    secret_parameter,
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// Time that the simulator takes for a batch (spec 1 §2.4).
pub const BATCH_TIME: Duration = Duration::from_secs(2 * 60);

/// A batch without its cards, which are [`BatchCards`] with the same key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// `batchKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// `createdOn`.
    pub created: Timestamp,
    /// When it will be processed.
    pub due: Timestamp,
    /// Whether it was processed.
    pub finished: bool,
    /// Whether its results can no longer be read (error 181).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spoiled: bool,
    /// `callbackUrl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// Whether the request asked for JSON rather than XML. The callback uses the same encoding.
    pub in_json: bool,
    /// Number of its cards.
    pub cards: usize,
    /// The number of cards with each response.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub responses: BTreeMap<String, u32>,
    /// Whether its account has its own clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_clock: bool,
}

impl Batch {
    /// The index column for [`crate::store::Query::at_most`]: when a pending batch is due.
    pub const DUE: &'static str = "due";

    /// Returns the encoding of the request.
    #[must_use]
    pub const fn encoding(&self) -> Encoding {
        if self.in_json { Encoding::Json } else { Encoding::Xml }
    }

    /// Returns the batch as the control interface shows it. Text that looks like a card number is masked.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({
            "batchKey": self.key,
            "merchant": self.merchant,
            "status": if self.finished { "finished" } else { "pending" },
            "spoiled": self.spoiled,
            "created": self.created.to_string(),
            "due": self.due.to_string(),
            "callbackUrl": self.callback_url.as_deref().map(secret_parameter::masked),
            "encoding": if self.in_json { "json" } else { "xml" },
            "cards": self.cards,
            "responses": self.responses,
        })
    }
}

impl StoredRecord for Batch {
    const KIND: &'static Kind = &Kind { table: "batches", columns: &[Self::DUE] };

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [(!self.finished).then(|| due_column(&self.merchant, self.own_clock, self.due).into()), None, None]
    }
}

/// The cards of a batch, in the order of submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchCards {
    /// `batchKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// One entry per card.
    pub entries: Vec<BatchEntry>,
}

impl StoredRecord for BatchCards {
    const KIND: &'static Kind = &Kind { table: "batch_cards", columns: &[] };

    key_and_merchant!();
}

/// A submitted card, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchEntry {
    /// `oldCardKey`.
    #[serde(rename = "old")]
    pub old_card_key: String,
    /// `response`; empty while the batch is pending.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// The new token when the batch finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Box<NewToken>>,
}

/// The part of a new token that a finished batch shows (spec 1 §2.1); its number is masked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the members have the names of the record's fields")]
pub struct NewToken {
    /// Missing in older records. Their new tokens were all enabled.
    #[serde(default = "enabled")]
    pub enabled: bool,
    pub card_key: String,
    pub card_unique_identifier: u64,
    pub merchant_customer_reference: String,
    pub card_description: String,
    pub cardholder_name: String,
    pub card_number: String,
    pub card_expiry_month: String,
    pub card_expiry_year: String,
    pub card_type: String,
    pub card_scheme: String,
    pub card_bank: String,
}

const fn enabled() -> bool {
    true
}
