//! How a checkout ends.

use crate::{Misuse, Refused};

/// How a checkout ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum CheckoutOutcome {
    /// Paid, or reserved where the token asks for that: the service says so.
    Paid {
        /// The transaction, for refunds and for tokenising its card.
        trans_key: String,
    },
    /// No customer was given an address: nothing was paid, and nothing ever will be.
    NotOpened(NotOpenedReason),
    /// It was not paid, and can't be any more, as far as the contract's fourth promise reaches.
    Lapsed {
        /// Whether the token was cancelled; else it expired.
        cancelled: bool,
    },
    /// Nobody knows whether it was paid.
    Unknown {
        /// The transaction that may be the payment, if there is one: look it up later, or ask the operator.
        trans_key: Option<String>,
        /// Why it is not known.
        why: NotKnown,
    },
}

/// Why no customer was given an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOpenedReason {
    /// The service refused it.
    Refused(Refused),
    /// The service could not be reached.
    Unreachable,
    /// Nothing may be sent at the moment, or the machine could not be stored.
    HeldBack,
    /// It was resumed from before there was a token. Begin anew.
    Interrupted,
    /// It was withdrawn before there was a token.
    Withdrawn,
}

/// Why it is not known whether it was paid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotKnown {
    /// Nobody told of a payment, and none was searched for, or the search failed.
    #[error("nobody told of a payment, and it could not be searched for")]
    NobodyTold,
    /// A transaction of this token is neither paid nor failed: refunded, of another amount, or of a status that nobody
    /// knows. Or it could not be looked up.
    #[error("a transaction that may be the payment is neither paid nor failed, or could not be looked up")]
    Unclear,
    /// The token may still be paid: it could not be cancelled, and the service has not said that it is closed.
    #[error("the token could not be cancelled and may still be paid")]
    StillOpen,
    /// The service refuses the credentials.
    #[error("the lookup was refused: {0}")]
    Refused(Refused),
    /// Nothing may be sent at the moment.
    #[error("nothing may be sent at present")]
    HeldBack,
}

/// Why a checkout can't begin. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// The request breaks a rule.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The request does not say what is to be paid, so that nobody could tell whether it was.
    #[error("a checkout needs a currency, and items with prices that are amounts of it")]
    NoAmount,
}
