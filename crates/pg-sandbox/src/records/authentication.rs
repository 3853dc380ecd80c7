//! 3-D Secure authentications (spec 2 §2.5, §3.3).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Service;
use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// Time limit for a customer to answer a challenge (assumption A107).
pub const CHALLENGE_TIME: Duration = Duration::from_secs(15 * 60);

/// A customer's authentication, from its initiation to the payment that uses it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// `authenticationKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The service that initiated the authentication; no other service can use it for a payment.
    pub service: Service,
    /// The key of its `3DSecureCheck` transaction, which contains the order and the card.
    pub check: String,
    /// The address for the customer afterwards, as a `Location` header; `None` if the merchant sent none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_to: Option<String>,
    /// The session that has the card. Its CV2 is dropped with the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// How it ended, if it has; see [`Authentication::ended`] for timeouts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AuthenticationEnd>,
    /// The transaction that used it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
    /// When it was initiated.
    pub created: Timestamp,
}

/// How an authentication ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthenticationEnd {
    /// The customer was authenticated.
    Authenticated,
    /// The customer's bank rejected the authentication.
    Failed,
    /// The customer came back without answering.
    Abandoned,
    /// The customer did not answer in time.
    TimedOut,
    /// The card does not support 3-D Secure: the customer was not asked.
    NotEnrolled,
}

impl Authentication {
    /// Returns the path of the page on which the customer authenticates (assumption A107).
    #[must_use]
    pub fn page(&self) -> String {
        format!("/3ds/{}", self.key)
    }

    /// Returns how the authentication has ended by now; `None` while the customer can still answer.
    #[must_use]
    pub fn ended(&self, now: Timestamp) -> Option<AuthenticationEnd> {
        let late = now.since(self.created) >= CHALLENGE_TIME;
        self.end.or(late.then_some(AuthenticationEnd::TimedOut))
    }
}

impl StoredRecord for Authentication {
    const KIND: &'static Kind = &Kind { table: "authentications", columns: &[] };

    key_and_merchant!();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_within_fifteen_minutes_or_never() {
        let created = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        let pending = Authentication {
            key: "k".to_owned(),
            merchant: "main".to_owned(),
            service: Service::V3,
            check: "t".to_owned(),
            return_to: None,
            session_key: None,
            end: None,
            payment: None,
            created,
        };
        let after = |seconds| created.plus(Duration::from_secs(seconds));
        assert_eq!(pending.ended(created), None);
        assert_eq!(pending.ended(after(899)), None);
        assert_eq!(pending.ended(after(900)), Some(AuthenticationEnd::TimedOut));
        // If the clock is set back, the customer has more time again.
        assert_eq!(pending.ended(Timestamp::MIN), None);
        let failed = Authentication { end: Some(AuthenticationEnd::Failed), ..pending };
        assert_eq!(failed.ended(after(9_000_000)), Some(AuthenticationEnd::Failed));
    }
}
