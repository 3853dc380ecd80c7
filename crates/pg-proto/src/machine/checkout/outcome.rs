//! How a checkout ends.

use crate::{
    Misuse, Refused,
    machine::{Reconcile, UnknownReason},
};

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
    /// It is not known whether it was paid.
    Unknown {
        /// The lookup to make later: of the transaction that may be the payment, if there is one, or else of everything with the
        /// request's `trans_reference`.
        reconcile: Reconcile,
        /// Why it is not known.
        why: UnknownReason,
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

/// Why a checkout can't begin. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// The request breaks a rule.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The request does not say what is to be paid, so a payment could not be recognised.
    #[error("a checkout needs a currency, and items with prices that are amounts of it")]
    NoAmount,
}
