//! 3-D Secure authentications (spec 2 §2.5, §3.3).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Service;
use crate::{
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

/// How long a customer may take to answer a challenge (assumption 107).
pub const CHALLENGE_TIME: Duration = Duration::from_secs(15 * 60);

/// A customer's authentication, from its initiation to the payment that it is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Authentication {
    /// `authenticationKey`.
    pub key: String,
    /// The merchant's name.
    pub merchant: String,
    /// The service that asked for it, and through which alone it can be paid.
    pub service: Service,
    /// The key of its `3DSecureCheck` transaction, which holds the order and the card.
    pub check: String,
    /// Where the customer goes afterwards, as a `Location` header says it; nothing when the merchant
    /// gave no address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub return_to: Option<String>,
    /// The session whose card it is; its CV2 is dropped with the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// How it ended, once it has; see [`Authentication::ended`] for the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<AuthenticationEnd>,
    /// The transaction that it was used up by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
    /// When it was initiated.
    pub created: Timestamp,
}

/// How an authentication ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum AuthenticationEnd {
    /// The customer is who they say.
    Authenticated,
    /// The customer's bank says that they are not.
    Failed,
    /// The customer came back without answering.
    Abandoned,
    /// The customer did not answer in time.
    TimedOut,
    /// The card does not support 3-D Secure: the customer was not asked.
    NotEnrolled,
}

impl Authentication {
    /// The path of the page on which the customer authenticates (assumption 107).
    #[must_use]
    pub fn page(&self) -> String {
        format!("/3ds/{}", self.key)
    }

    /// How it has ended at this instant; nothing while the customer may still answer.
    #[must_use]
    pub fn ended(&self, now: Timestamp) -> Option<AuthenticationEnd> {
        let late = now.since(self.created) >= CHALLENGE_TIME;
        self.end.or(late.then_some(AuthenticationEnd::TimedOut))
    }
}

impl StoredRecord for Authentication {
    const KIND: &'static Kind = &Kind { table: "authentications", columns: &[] };

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }
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
        // A clock that is set back gives the time back.
        assert_eq!(pending.ended(Timestamp::MIN), None);
        let failed = Authentication { end: Some(AuthenticationEnd::Failed), ..pending };
        assert_eq!(failed.ended(after(9_000_000)), Some(AuthenticationEnd::Failed));
    }
}
