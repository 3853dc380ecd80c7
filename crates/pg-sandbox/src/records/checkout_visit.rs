//! Visits of the hosted payment page. Each displayed form can be paid once.

use serde::{Deserialize, Serialize};

use super::AuthenticationEnd;
use crate::{
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// A form that was displayed to a customer, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutVisit {
    /// The key of the form, which it posts back.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The `tokenid` that was visited.
    pub token: String,
    /// The result of posting the form with a card; `None` before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<FormOutcome>,
    /// When the form was displayed.
    pub created: Timestamp,
}

/// The result of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FormOutcome {
    /// The customer must authenticate first (spec 3 §4.1), and has not returned.
    Challenged {
        /// The `authenticationKey`.
        authentication: String,
    },
    /// Paid or reserved.
    Approved {
        /// The `trans_key`.
        transaction: String,
    },
    /// Declined.
    Declined {
        /// The `trans_key`.
        transaction: String,
        /// The visit whose form was displayed next, for another attempt.
        next: String,
        /// How the challenge before the payment ended, if there was one (assumption A181).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<AuthenticationEnd>,
    },
    /// The bank did not answer: nothing was charged, or the answer to a charge was lost (assumption A93).
    Unanswered {
        /// The visit whose form was displayed next, for another attempt.
        next: String,
    },
}

impl CheckoutVisit {
    /// The index column of the token's key for [`crate::store::Query::equal`].
    pub const TOKEN: &'static str = "token";
}

impl StoredRecord for CheckoutVisit {
    const KIND: &'static Kind = &Kind { table: "checkout_visits", columns: &[Self::TOKEN] };

    key_and_merchant!();

    fn index(&self) -> Index<'_> {
        [Some(self.token.as_str().into()), None, None]
    }
}
