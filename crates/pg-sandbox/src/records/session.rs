//! Client sessions (spec 2 §2.1, §3.1).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Details, HeldCard, due_column};
use crate::{
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// How long a session key is valid after initiation (spec 2 §8).
pub const SESSION_LIFETIME: Duration = Duration::from_secs(30 * 60);

/// A session to which a customer's browser posts card data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// `sessionKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The address for the browser if a required field is missing.
    pub error_page_url: String,
    /// `merchantCustomerReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_reference: Option<String>,
    /// When it was initiated.
    pub created: Timestamp,
    /// When its key expires.
    pub expires: Timestamp,
    /// The card of the last valid post; its CV2 is in memory only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<HeldCard>,
    /// Card, customer and address texts of the posts by wire name.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// Inputs of the posts with names that begin with `collect`, in the order of their first occurrence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub collected: Vec<(String, String)>,
    /// Whether its account has its own clock.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub own_clock: bool,
}

impl Session {
    /// The index column for [`crate::store::Query::at_most`]: when the card must be erased.
    pub const CARD_UNTIL: &'static str = "card_until";

    /// Erases everything that was posted. The session key is kept, so that its use is error 136.
    pub fn erase(&mut self) {
        self.card = None;
        self.details.clear();
        self.collected.clear();
    }

    /// Whether the session key has expired (error 136).
    #[must_use]
    pub fn expired(&self, now: Timestamp) -> bool {
        now >= self.expires
    }
}

impl StoredRecord for Session {
    const KIND: &'static Kind = &Kind { table: "sessions", columns: &[Self::CARD_UNTIL] };

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [self.card.as_ref().map(|_| due_column(&self.merchant, self.own_clock, self.expires).into()), None, None]
    }
}
