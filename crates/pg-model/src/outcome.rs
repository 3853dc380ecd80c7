//! What became of a payment. A decline is an outcome, not an error.

use crate::{EnterpriseResult, Flag, StatusCode, ThreeDSecureInitiation, Transaction, dialect::Dialect};

/// What became of a payment.
///
/// ```
/// use pg_model::{Dialect, Outcome, Transaction};
///
/// let documented = Dialect::documented();
/// let reply = Transaction::default().with(|reply| reply.transaction_status_code = "600".into());
/// assert!(matches!(Outcome::read(reply, &documented), Outcome::Approved(_)));
/// // A status that neither the documents nor the dialect know is neither.
/// let reply = Transaction::default().with(|reply| reply.transaction_status_code = "699".into());
/// assert!(matches!(Outcome::read(reply, &documented), Outcome::Other(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome<T> {
    /// It was made: status 600, or `1` in version 5.
    Approved(T),
    /// It was not made: the documents, or the dialect, say that the status means so.
    Declined(T),
    /// The service answered with a status that neither the documents nor the dialect list. It is neither taken for paid nor
    /// for declined: look the transaction up, or ask the operator. An entry of the dialect settles it for the next time.
    Other(T),
}

/// How a record's status is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusMeaning {
    /// The status means success.
    Approved,
    /// The status means failure.
    Declined,
    /// The status is not known.
    Other,
}

/// A record whose status tells what became of a payment.
pub trait StatusRecord {
    /// How its status is to be read, by the documents and the dialect.
    fn status_meaning(&self, dialect: &Dialect) -> StatusMeaning;
}

/// What a caller gets for a reply: the reply itself, or its outcome.
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
    /// The record, whatever became of the payment.
    pub const fn record(&self) -> &T {
        match self {
            Self::Approved(record) | Self::Declined(record) | Self::Other(record) => record,
        }
    }

    /// The record, whatever became of the payment.
    pub fn into_record(self) -> T {
        match self {
            Self::Approved(record) | Self::Declined(record) | Self::Other(record) => record,
        }
    }

    /// Whether the payment was made.
    #[must_use]
    pub const fn is_approved(&self) -> bool {
        matches!(self, Self::Approved(_))
    }
}

impl<T> Outcome<T> {
    /// One word for it, for logs.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Approved(_) => "approved",
            Self::Declined(_) => "declined",
            Self::Other(_) => "unknown status",
        }
    }
}

/// One word: what the record says stays in the record.
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
    /// Approved is 600 (spec 2 §2.3). The documents list no status of a declined payment: these are the dialect's (assumption
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
