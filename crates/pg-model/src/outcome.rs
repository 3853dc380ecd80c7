//! What became of a payment. A decline is an outcome, not an error.

use crate::{EnterpriseResult, Flag, StatusCode, ThreeDSecureInitiation, Transaction};

/// What became of a payment.
///
/// ```
/// use pg_model::{Outcome, Transaction};
///
/// let reply = Transaction { transaction_status_code: "600".into(), ..Transaction::default() };
/// assert!(matches!(Outcome::from(reply), Outcome::Approved(_)));
/// // A status that no table knows is neither.
/// let reply = Transaction { transaction_status_code: "699".into(), ..Transaction::default() };
/// assert!(matches!(Outcome::from(reply), Outcome::Other(_)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome<T> {
    /// It was made: status 600, or `1` in version 5.
    Approved(T),
    /// It was not made: a status that is known to mean so.
    Declined(T),
    /// The service answered with a status that the documents do not list. It is neither taken for paid nor for
    /// declined: look the transaction up, or ask the operator.
    Other(T),
}

/// How a record's status is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The status means success.
    Approved,
    /// The status means failure.
    Declined,
    /// The status is not known.
    Other,
}

/// A record whose status tells what became of a payment.
pub trait Settled {
    /// How its status is to be read.
    fn verdict(&self) -> Verdict;
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
    pub const fn word(&self) -> &'static str {
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
        f.write_str(self.word())
    }
}

impl<T: Settled> From<T> for Outcome<T> {
    fn from(record: T) -> Self {
        match record.verdict() {
            Verdict::Approved => Self::Approved(record),
            Verdict::Declined => Self::Declined(record),
            Verdict::Other => Self::Other(record),
        }
    }
}

impl Settled for Transaction {
    fn verdict(&self) -> Verdict {
        if self.transaction_status_code == StatusCode::APPROVED {
            Verdict::Approved
        } else if crate::SandboxStatusCode::KNOWN.iter().any(|known| *known == self.transaction_status_code.as_str()) {
            // The documents list no status of a declined payment; the sandbox had to invent some (assumption A11).
            Verdict::Declined
        } else {
            Verdict::Other
        }
    }
}

impl Settled for ThreeDSecureInitiation {
    fn verdict(&self) -> Verdict {
        if self.transaction_status_code == StatusCode::THREE_D_SECURE_SUCCESS {
            Verdict::Approved
        } else if self.transaction_status_code == StatusCode::THREE_D_SECURE_FAILED {
            Verdict::Declined
        } else {
            Verdict::Other
        }
    }
}

impl Settled for EnterpriseResult {
    fn verdict(&self) -> Verdict {
        if self.status == Flag::YES {
            Verdict::Approved
        } else if self.status == Flag::NO {
            Verdict::Declined
        } else {
            Verdict::Other
        }
    }
}
