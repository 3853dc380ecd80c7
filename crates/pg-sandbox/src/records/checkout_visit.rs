//! Visits of the hosted payment page: each form that was shown can be paid once.

use serde::{Deserialize, Serialize};

use super::AuthenticationEnd;
use crate::{
    store::{Index, Kind, StoredRecord},
    timestamp::Timestamp,
};

/// A form that a customer was shown, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckoutVisit {
    /// The form's own key, which it posts back.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The `tokenid` that was visited.
    pub token: String,
    /// What came of posting it; nothing until it was posted with a card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<FormOutcome>,
    /// When the form was shown.
    pub created: Timestamp,
}

/// What became of a form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FormOutcome {
    /// The customer was sent to authenticate first (spec 3 §4.1), and has not come back.
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
        /// The visit whose form was shown next, for another attempt.
        next: String,
        /// How the challenge ended that came before the payment, if there was one (assumption 181).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        challenge: Option<AuthenticationEnd>,
    },
    /// The bank did not answer, and nothing was charged.
    Unanswered {
        /// The visit whose form was shown next, for another attempt.
        next: String,
    },
}

impl CheckoutVisit {
    /// The index column of the token's key for [`crate::store::Query::equal`].
    pub const TOKEN: &'static str = "token";
}

impl StoredRecord for CheckoutVisit {
    const KIND: &'static Kind = &Kind { table: "checkout_visits", columns: &[Self::TOKEN] };

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }

    fn index(&self) -> Index<'_> {
        [Some(self.token.as_str().into()), None, None]
    }
}
