//! Transactions of both services (spec 2 §2.3, spec 3 §2.2).
//!
//! The type is called a payment so that it is not taken for a transaction of the store.

use std::{collections::BTreeMap, time::Duration};

use pg_model::StatusCode;
use serde::{Deserialize, Serialize};

use super::{Details, HeldCard};
use crate::{
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
    vault::Sealed,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a transaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaymentKind {
    /// Authorised and settled at once.
    Auth,
    /// Reserved.
    PreAuth,
    /// Settled from a reservation.
    Capture,
    /// Gave a reservation back.
    CancelPreAuth,
    /// Credited the card.
    Refund,
    /// Asked whether the card takes part in 3-D Secure.
    ThreeDSecureCheck,
    /// Authenticated the customer without paying.
    ThreeDsAuthenticatedOnly,
}

impl PaymentKind {
    /// The text of `transactionType` (spec 2 §2.3).
    #[must_use]
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Auth => "Auth",
            Self::PreAuth => "PreAuth",
            Self::Capture => "Capture",
            Self::CancelPreAuth => "CancelPreAuth",
            Self::Refund => "Refund",
            Self::ThreeDSecureCheck => "3DSecureCheck",
            Self::ThreeDsAuthenticatedOnly => "3DSAuthenticatedOnly",
        }
    }
}

/// Which service a transaction was made through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Service {
    /// The payment gateway.
    V3,
    /// The hosted checkout and its later operations.
    V5,
}

/// A transaction. Amounts are whole minor units of its currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// `transactionKey`, `trans_key` in version 5.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// What it did.
    pub kind: PaymentKind,
    /// The service it was made through.
    pub service: Service,
    /// `transactionStatusCode`; 600 is approved.
    pub status_code: String,
    /// `transactionStatus`.
    pub status: String,
    /// How much it was for.
    pub amount: u64,
    /// ISO 4217.
    pub currency: String,
    /// The transaction that this one captures, cancels, refunds or repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// `merchantReference`, `trans_reference` in version 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_reference: Option<String>,
    /// Whether an update set the `merchantReference`, here or on the original that it was taken over from: lookups by it find
    /// only what was created with it (spec 2 §4.4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference_added: bool,
    /// `uniqueMerchantReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_reference: Option<String>,
    /// `merchantCustomerReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_reference: Option<String>,
    /// How much of a reservation was captured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub captured: u64,
    /// How much of a reservation was cancelled.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cancelled: u64,
    /// Whether nothing of a reservation can be captured or cancelled any more, whatever is left of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// How much was refunded.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refunded: u64,
    /// The card that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<HeldCard>,
    /// The token that paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_key: Option<String>,
    /// The `bank*` parameters in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bank: Vec<(String, String)>,
    /// Items, cardholder and customer as they were sent, by wire name; nothing that is sensitive.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// What merchants of category code 6012 send about the recipient (spec 2 §4.3), by wire name,
    /// sealed for this record.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recipient: BTreeMap<String, Sealed>,
    /// When it was made.
    pub created: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl Payment {
    /// The index column of `merchantReference` for [`crate::store::Query::equal`].
    pub const MERCHANT_REFERENCE: &'static str = "merchant_reference";
    /// The index column of the parent's key for [`crate::store::Query::equal`].
    pub const PARENT: &'static str = "parent";

    /// The detail that describes one transaction in free words (spec 3 §2.2).
    pub const TRANS_CLASS: &'static str = "trans_class";
    /// The detail that names the checkout token that was paid (spec 3 §4.8).
    pub const TOKEN_ID: &'static str = "tokenid";

    /// Whether the bank accepted it.
    #[must_use]
    pub fn approved(&self) -> bool {
        self.status_code == StatusCode::APPROVED.as_str()
    }

    /// The `merchantReference` that it was made with, by which lookups find it (spec 2 §4.4).
    #[must_use]
    pub fn found_by(&self) -> Option<&str> {
        self.merchant_reference.as_deref().filter(|_| !self.reference_added)
    }

    /// What operations on it and repeats of it take over of its details: its items may not be theirs,
    /// and `trans_class` describes one transaction (spec 3 §2.2).
    #[must_use]
    pub fn details_to_copy(&self) -> Details {
        let mut details = self.details.clone();
        details.retain(|name, _| !name.starts_with("item") && name != Self::TRANS_CLASS);
        details
    }

    /// When a reservation ends by itself (assumption 96).
    #[must_use]
    pub fn reserved_until(&self) -> Timestamp {
        let days = match self.service {
            Service::V3 => 5,
            Service::V5 => 10,
        };
        self.created.plus(DAY * days)
    }

    /// What is left of a reservation to capture or cancel.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        match self.kind {
            PaymentKind::PreAuth if self.approved() && !self.closed => {
                self.amount.saturating_sub(self.captured).saturating_sub(self.cancelled)
            }
            _ => 0,
        }
    }

    /// Whether a reservation was given back and nothing of it was captured.
    #[must_use]
    pub fn released(&self) -> bool {
        let ended = self.closed || self.cancelled == self.amount;
        self.kind == PaymentKind::PreAuth && ended && self.captured == 0
    }

    /// How much was paid, or paid back: not what failed, was cancelled or is only reserved (spec 3 §4.8).
    #[must_use]
    pub fn paid(&self) -> u64 {
        match self.kind {
            PaymentKind::Auth | PaymentKind::Capture | PaymentKind::Refund if self.approved() => self.amount,
            PaymentKind::PreAuth if self.approved() => self.captured,
            _ => 0,
        }
    }

    /// What is left of a debit to refund.
    #[must_use]
    pub fn refundable(&self) -> u64 {
        match self.kind {
            PaymentKind::Auth | PaymentKind::Capture if self.approved() => self.amount.saturating_sub(self.refunded),
            _ => 0,
        }
    }
}

impl StoredRecord for Payment {
    const KIND: &'static Kind = &Kind { table: "transactions", columns: &[Self::MERCHANT_REFERENCE, Self::PARENT] };

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }

    fn index(&self) -> Index<'_> {
        [self.found_by().map(Into::into), self.parent.as_deref().map(Into::into), None]
    }
}
