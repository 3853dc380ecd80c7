//! Outcomes of a checkout.

use crate::{
    Misuse, Refused,
    machine::{Reconcile, UnknownReason},
};

/// The outcome of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum CheckoutOutcome {
    /// The service confirms that it was paid, or reserved if the token asks for that. A token that allows more payments
    /// was withdrawn, or the service did not confirm the withdrawal within the attempts.
    Paid {
        /// The transaction, for refunds and for storing its card. Its lookup shows no type: if the key of a full refund of
        /// the payment is reported instead, it counts too (assumption A125).
        trans_key: String,
    },
    /// No customer received an address. Nothing was paid, and nothing will be.
    NotOpened(NotOpenedReason),
    /// The checkout was not paid and can no longer be paid, as stated in the fourth promise of [the module](super).
    Lapsed {
        /// Whether the token was cancelled; otherwise it expired.
        cancelled: bool,
    },
    /// Whether the checkout was paid is unknown. If another machine works on it, the reason is
    /// [`UnknownReason::Superseded`], even if this one has no token: resume the stored state.
    ///
    /// Keep the order open, and offer no other payment for it without being ready to refund one of the two. The next step
    /// depends on the reason:
    /// - [`Superseded`](UnknownReason::Superseded): none here; the other machine has the outcome.
    /// - [`Credentials`](UnknownReason::Credentials), [`LookupRefused`](UnknownReason::LookupRefused),
    ///   [`HeldBack`](UnknownReason::HeldBack): correct the credentials or the permission, then resume and
    ///   [look again](super::Checkout::look_again).
    /// - [`Unclear`](UnknownReason::Unclear), [`LookupUnreadable`](UnknownReason::LookupUnreadable): make the lookup
    ///   `reconcile` later. A status that the documents do not list needs an entry in `[checkout]` of the dialect (`paid`,
    ///   `failed` or `pending`); look again with it.
    /// - [`StillOpen`](UnknownReason::StillOpen): a customer whose page is open may still pay. Look again for each later
    ///   callback, and once after the token's expiry. If it was not cancelled, look again and pass
    ///   [`CheckoutInput::Cancel`](super::CheckoutInput::Cancel), which cancels it. If the token was cancelled, ask the operator whether that closes pages
    ///   that are open already; if it does, set `cancel_closes_open_pages` and look again, which can then end as
    ///   [`Lapsed`](Self::Lapsed). Otherwise ask the operator whether the token was paid.
    /// - [`NotReported`](UnknownReason::NotReported): look again for each later callback. Only the entries of `[lookup]` and
    ///   `found_by_reference`, or the operator, can say that the token was not paid.
    Unknown {
        /// The lookup to make later: of the candidate transaction, if there is one, otherwise of everything with the
        /// request's `trans_reference`.
        reconcile: Reconcile,
        /// Why the outcome is unknown.
        why: UnknownReason,
    },
}

/// Why no customer received an address.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotOpenedReason {
    /// The service refused it.
    Refused(Refused),
    /// The service could not be reached.
    Unreachable,
    /// Nothing may be sent at present, or the machine could not be saved.
    HeldBack,
    /// It was resumed from a state without a token. Start again.
    Interrupted,
    /// It was withdrawn before it had a token.
    Withdrawn,
    /// The service has made a token with another currency, or with items of another amount, than those of the request: for
    /// example, it counts items from 1 (assumption A14). No customer has the token.
    OtherItems,
}

/// Why a checkout cannot start. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckoutError {
    /// The request breaks a rule.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The request does not state the amount to pay, so a payment could not be recognised.
    #[error("a checkout needs a currency, and items whose prices are valid amounts in it")]
    NoAmount,
}
