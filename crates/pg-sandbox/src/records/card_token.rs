//! Card tokens (spec 1 §2.1). A deleted token is removed: deletion cannot be undone (spec 1 §3.1).

use serde::{Deserialize, Serialize};

use super::{Details, HeldCard};
use crate::{
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// A stored card that a merchant charges by its key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardToken {
    /// `cardKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// `cardUniqueIdentifier`: the same for every token of one card.
    pub unique_identifier: u64,
    /// `merchantCustomerReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_reference: Option<String>,
    /// Whether payments with the token are accepted.
    pub enabled: bool,
    /// The card.
    pub card: HeldCard,
    /// Card, customer and address texts by wire name. A cleared text is removed.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// The transaction that the token was created from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was created.
    pub created: Timestamp,
}

impl CardToken {
    /// The index column of `merchantCustomerReference` for [`crate::store::Query::equal`].
    pub const CUSTOMER_REFERENCE: &'static str = "customer_reference";
    /// The index column of the parent's key for [`crate::store::Query::equal`].
    pub const PARENT: &'static str = "parent";
}

impl StoredRecord for CardToken {
    const KIND: &'static Kind = &Kind { table: "card_tokens", columns: &[Self::CUSTOMER_REFERENCE, Self::PARENT] };

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [self.customer_reference.as_deref().map(Into::into), self.parent.as_deref().map(Into::into), None]
    }
}
