//! Hosted checkout tokens (spec 3 §2.1, §3.1).

use serde::{Deserialize, Serialize};

use super::{Details, PaymentKind};
use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// The count of a token that allows any number of payments or visits (spec 3 §8).
pub const UNLIMITED: i64 = -1;

/// A checkout that a merchant has set up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutToken {
    /// `tokenid`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// When it becomes valid.
    pub start: Timestamp,
    /// When it expires.
    pub expires: Timestamp,
    /// Remaining number of approved transactions; [`UNLIMITED`] for any number.
    pub uses: i64,
    /// Remaining number of visits; [`UNLIMITED`] for any number.
    pub redemptions: i64,
    /// Whether a transaction was approved.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paid: bool,
    /// Whether the bank did not answer a payment since the last approval that the customer knows of: it may have charged
    /// (assumption A93).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unheard: bool,
    /// The address for the customer after an approval.
    pub success_url: String,
    /// The address for a customer who does not pay.
    pub cancel_url: String,
    /// The address that is called after an approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_url: Option<String>,
    /// The address to which the sandbox's own page sends the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redemption_redirect_url: Option<String>,
    /// Whether the customer is redirected without a page of the sandbox.
    pub auto_redirect: bool,
    /// ISO 4217.
    pub currency: String,
    /// The sum of the items in minor units.
    pub amount: u64,
    /// The items, in order.
    pub items: Vec<CheckoutItem>,
    /// A payment or a reservation.
    pub kind: PaymentKind,
    /// `trans_reference`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// `trans_cat`.
    pub category: String,
    /// `applet`.
    pub applet: String,
    /// `trans_class`, `payment_source` and `terminal_key` by wire name, if they were sent.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub options: Details,
    /// Whether the customer must pass 3-D Secure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub three_d_secure: bool,
    /// Customer and billing address by wire name, without the date of birth.
    #[serde(default, skip_serializing_if = "Details::is_empty")]
    pub user: Details,
    /// When the merchant cancelled it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled: Option<Timestamp>,
    /// When it was created.
    pub created: Timestamp,
}

/// One item of a checkout as it was sent (spec 3 §4.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutItem {
    /// The name of the item.
    pub name: String,
    /// The price of one unit, in currency units.
    pub price: String,
    /// The quantity; 0 counts as 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<u64>,
    /// The merchant's reference for the item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

impl CheckoutItem {
    /// Returns the quantity (spec 3 §4.1).
    #[must_use]
    pub fn pieces(&self) -> u64 {
        self.quantity.unwrap_or(1).max(1)
    }
}

/// Why a token cannot be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenEnd {
    /// The merchant cancelled it.
    Cancelled,
    /// It is not valid yet.
    NotStarted,
    /// It has expired.
    Expired,
    /// Its number of payments is used up; the number may be zero.
    UsedUp,
}

impl CheckoutToken {
    /// Returns why the token cannot be paid now; `None` if it can be paid (spec 3 §3.1).
    #[must_use]
    pub fn end(&self, now: Timestamp) -> Option<TokenEnd> {
        if self.cancelled.is_some() {
            Some(TokenEnd::Cancelled)
        } else if now < self.start {
            Some(TokenEnd::NotStarted)
        } else if now >= self.expires {
            Some(TokenEnd::Expired)
        } else if self.uses == 0 {
            Some(TokenEnd::UsedUp)
        } else {
            None
        }
    }

    /// Counts a visit, and returns whether a visit was left.
    pub fn visit(&mut self) -> bool {
        count_down(&mut self.redemptions)
    }

    /// Counts an approved transaction; `unheard` says that the bank's answer to it was lost.
    pub fn pay(&mut self, unheard: bool) {
        self.paid = true;
        self.unheard = unheard;
        count_down(&mut self.uses);
    }
}

/// Decrements a remaining number, down to 0 (assumption A117).
fn count_down(left: &mut i64) -> bool {
    match *left {
        UNLIMITED => true,
        count if count > 0 => {
            *left = count - 1;
            true
        }
        _ => false,
    }
}

impl StoredRecord for CheckoutToken {
    const KIND: &'static Kind = &Kind { table: "checkout_tokens", columns: &[] };

    key_and_merchant!();
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 3 §3.1
    #[test]
    fn counts_end_at_zero_and_unlimited_ones_do_not_change() {
        for (start, wanted) in [(-1, [true, true, true]), (0, [false; 3]), (2, [true, true, false])] {
            let mut left = start;
            let counted = [(); 3].map(|()| count_down(&mut left));
            assert_eq!(counted, wanted);
            assert_eq!(left, start.min(0));
        }
    }
}
