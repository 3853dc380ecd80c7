//! The outcome of a payment. A decline is an outcome, not an error.

use crate::{EnterpriseResult, Flag, StatusCode, ThreeDSecureInitiation, Transaction, dialect::Dialect};

/// The outcome of a payment.
///
/// ```
/// use pg_model::{Dialect, Outcome, Transaction};
///
/// let documented = Dialect::documented();
/// let reply = Transaction::default().with(|reply| reply.transaction_status_code = "600".into());
/// assert!(matches!(Outcome::read(reply, &documented), Outcome::Approved(_)));
/// // A status that neither the documents nor the dialect list is neither approved nor declined.
/// let reply = Transaction::default().with(|reply| reply.transaction_status_code = "699".into());
/// assert!(matches!(Outcome::read(reply, &documented), Outcome::Other(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome<T> {
    /// Approved: status 600, or `1` in version 5.
    Approved(T),
    /// Declined: the status means so according to the documents or the dialect.
    Declined(T),
    /// A status that neither the documents nor the dialect list. The payment counts neither as approved nor as
    /// declined: look the transaction up, or ask the operator. An entry of the dialect settles it for the future.
    Other(T),
}

/// The meaning of a record's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusMeaning {
    /// The status means success.
    Approved,
    /// The status means failure.
    Declined,
    /// The status is unknown.
    Other,
}

/// A record with the status of a payment.
pub trait StatusRecord {
    /// Returns the meaning of its status, according to the documents and the dialect.
    fn status_meaning(&self, dialect: &Dialect) -> StatusMeaning;
}

/// The result of a reply for the caller: the reply itself, or its outcome.
pub trait FromReply<R> {
    /// Reads a reply under a dialect.
    fn from_reply(reply: R, dialect: &Dialect) -> Self;
}

impl<R> FromReply<R> for R {
    fn from_reply(reply: R, _: &Dialect) -> Self {
        reply
    }
}

impl<R: StatusRecord> FromReply<R> for Outcome<R> {
    fn from_reply(reply: R, dialect: &Dialect) -> Self {
        Self::read(reply, dialect)
    }
}

impl<T> Outcome<T> {
    /// Returns the record, for any outcome.
    pub const fn record(&self) -> &T {
        match self {
            Self::Approved(record) | Self::Declined(record) | Self::Other(record) => record,
        }
    }

    /// Returns the record, for any outcome.
    pub fn into_record(self) -> T {
        match self {
            Self::Approved(record) | Self::Declined(record) | Self::Other(record) => record,
        }
    }

    /// Whether the payment was approved.
    #[must_use]
    pub const fn is_approved(&self) -> bool {
        matches!(self, Self::Approved(_))
    }
}

impl<T> Outcome<T> {
    /// Returns one word for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::Other(_) => "unknown status",
        }
    }
}

/// One word; the content of the record is not shown.
impl<T> core::fmt::Display for Outcome<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.label())
    }
}

impl<T: StatusRecord> Outcome<T> {
    /// Reads a record under a dialect.
    pub fn read(record: T, dialect: &Dialect) -> Self {
        match record.status_meaning(dialect) {
            StatusMeaning::Approved => Self::Approved(record),
            StatusMeaning::Declined => Self::Declined(record),
            StatusMeaning::Other => Self::Other(record),
        }
    }
}

impl StatusRecord for Transaction {
    /// Approved is 600 (spec 2 §2.3). The documents list no status of a declined payment; the dialect does (assumption
    /// A11).
    fn status_meaning(&self, dialect: &Dialect) -> StatusMeaning {
        if self.transaction_status_code == StatusCode::APPROVED {
            StatusMeaning::Approved
        } else if dialect.is_declined(&self.transaction_status_code) {
            StatusMeaning::Declined
        } else {
            StatusMeaning::Other
        }
    }
}

impl StatusRecord for ThreeDSecureInitiation {
    fn status_meaning(&self, _: &Dialect) -> StatusMeaning {
        if self.transaction_status_code == StatusCode::THREE_D_SECURE_SUCCESS {
            StatusMeaning::Approved
        } else if self.transaction_status_code == StatusCode::THREE_D_SECURE_FAILED {
            StatusMeaning::Declined
        } else {
            StatusMeaning::Other
        }
    }
}

impl StatusRecord for EnterpriseResult {
    fn status_meaning(&self, _: &Dialect) -> StatusMeaning {
        if self.status == Flag::YES {
            StatusMeaning::Approved
        } else if self.status == Flag::NO {
            StatusMeaning::Declined
        } else {
            StatusMeaning::Other
        }
    }
}
