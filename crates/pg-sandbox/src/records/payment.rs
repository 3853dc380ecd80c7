//! Transactions of both services (spec 2 §2.3, spec 3 §2.2).
//!
//! The type is called a payment to distinguish it from a transaction of the store.

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

/// The effect of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PaymentKind {
    /// Authorised and settled at once.
    Auth,
    /// Reserved.
    PreAuth,
    /// Settled from a reservation.
    Capture,
    /// Released a reservation.
    CancelPreAuth,
    /// Credited the card.
    Refund,
    /// Checked whether the card supports 3-D Secure.
    ThreeDSecureCheck,
    /// Authenticated the customer without paying.
    ThreeDsAuthenticatedOnly,
}

impl PaymentKind {
    /// Returns the text of `transactionType` (spec 2 §2.3).
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

/// The service of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Service {
    /// The payment gateway.
    V3,
    /// The hosted checkout and its follow-up operations.
    V5,
}

/// A transaction. Amounts are whole minor units of its currency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Payment {
    /// `transactionKey`, `trans_key` in version 5.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// Its effect.
    pub kind: PaymentKind,
    /// The service through which it was made.
    pub service: Service,
    /// `transactionStatusCode`; 600 is approved.
    pub status_code: String,
    /// `transactionStatus`.
    pub status: String,
    /// Its amount.
    pub amount: u64,
    /// ISO 4217.
    pub currency: String,
    /// The transaction that this one captures, cancels, refunds or repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// `merchantReference`, `trans_reference` in version 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_reference: Option<String>,
    /// Whether an update set the `merchantReference`, here or on the original that it was copied from. Lookups only
    /// find transactions that were created with it (spec 2 §4.4).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reference_added: bool,
    /// `uniqueMerchantReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unique_reference: Option<String>,
    /// `merchantCustomerReference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer_reference: Option<String>,
    /// Captured amount of a reservation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub captured: u64,
    /// Cancelled amount of a reservation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cancelled: u64,
    /// Whether a reservation can no longer be captured or cancelled, even if an amount is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closed: bool,
    /// Refunded amount.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refunded: u64,
    /// The card of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<HeldCard>,
    /// The token of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card_key: Option<String>,
    /// The `bank*` parameters in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bank: Vec<(String, String)>,
    /// Items, cardholder and customer as they were sent, by wire name, without sensitive values.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub details: Details,
    /// Data about the recipient from merchants of category code 6012 (spec 2 §4.3), by wire name, sealed for this
    /// record.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub recipient: BTreeMap<String, Sealed>,
    /// When it was created.
    pub created: Timestamp,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(amount: &u64) -> bool {
    *amount == 0
}

impl Payment {
    /// The index column of `merchantReference` for [`crate::store::Query::equal`].
    pub const MERCHANT_REFERENCE: &'static str = "merchant_reference";
    /// The index column of the parent's key for [`crate::store::Query::equal`].
    pub const PARENT: &'static str = "parent";

    /// The detail that describes one transaction in free text (spec 3 §2.2).
    pub const TRANS_CLASS: &'static str = "trans_class";
    /// The detail that names the checkout token that was paid (spec 3 §4.8).
    pub const TOKEN_ID: &'static str = "tokenid";

    /// Whether the bank approved the transaction.
    #[must_use]
    pub fn approved(&self) -> bool {
        self.status_code == StatusCode::APPROVED.as_str()
    }

    /// Returns the `merchantReference` with which the transaction was created, by which lookups find it (spec 2 §4.4).
    #[must_use]
    pub fn found_by(&self) -> Option<&str> {
        self.merchant_reference.as_deref().filter(|_| !self.reference_added)
    }

    /// Returns the details that follow-up operations and repeats copy: all except items, which may differ, and
    /// `trans_class`, which describes one transaction (spec 3 §2.2).
    #[must_use]
    pub fn details_to_copy(&self) -> Details {
        let mut details = self.details.clone();
        details.retain(|name, _| !name.starts_with("item") && name != Self::TRANS_CLASS);
        details
    }

    /// Returns when a reservation expires (assumption A96).
    #[must_use]
    pub fn reserved_until(&self) -> Timestamp {
        let days = match self.service {
            Service::V3 => 5,
            Service::V5 => 10,
        };
        self.created.plus(DAY * days)
    }

    /// Returns the amount of a reservation that can still be captured or cancelled.
    #[must_use]
    pub fn reserved(&self) -> u64 {
        match self.kind {
            PaymentKind::PreAuth if self.approved() && !self.closed => {
                self.amount.saturating_sub(self.captured).saturating_sub(self.cancelled)
            }
            _ => 0,
        }
    }

    /// Whether a reservation was cancelled without any capture.
    #[must_use]
    pub fn released(&self) -> bool {
        let ended = self.closed || self.cancelled == self.amount;
        self.kind == PaymentKind::PreAuth && ended && self.captured == 0
    }

    /// Returns the amount that was paid or paid back, without failed, cancelled or merely reserved amounts (spec 3
    /// §4.8).
    #[must_use]
    pub fn paid(&self) -> u64 {
        match self.kind {
            PaymentKind::Auth | PaymentKind::Capture | PaymentKind::Refund if self.approved() => self.amount,
            PaymentKind::PreAuth if self.approved() => self.captured,
            _ => 0,
        }
    }

    /// Returns the amount of a debit that can still be refunded.
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

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [self.found_by().map(Into::into), self.parent.as_deref().map(Into::into), None]
    }
}
