//! Outcomes of a 3-D Secure payment.

use pg_model::{AuthenticationStatus, ThreeDSecureInitiation, Transaction};

use crate::{
    Refused,
    machine::{Reconcile, UnknownReason},
};

/// The outcome of a 3-D Secure payment. Except for [`Approved`], [`Unknown`] and, within its scope, [`Refused`], nothing
/// was charged and nothing will be.
///
/// [`Approved`]: Self::Approved
/// [`Unknown`]: Self::Unknown
/// [`Refused`]: Self::Refused
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum ThreeDSecureOutcome {
    /// Paid or reserved, once.
    Approved(Transaction),
    /// The bank declined the payment.
    Declined(Transaction),
    /// The initiation failed (608), or its status is not listed: there is no challenge. If such a reply is like that of a
    /// payment, with 600 or a payment's type, the payment is looked up instead.
    NotInitiated(ThreeDSecureInitiation),
    /// The customer failed the authentication (608).
    Failed,
    /// The customer left the challenge.
    Abandoned,
    /// The customer did not finish in time.
    TimedOut,
    /// The merchant would have been liable, and chose not to pay. Never a status with a `liabilityShift` of `Y`.
    NotShifted(AuthenticationStatus),
    /// The service refused a step. Before the request for the payment, nothing was charged; for the payment itself,
    /// [`Refused::scope`] says how far that holds. If [`Refused::spends_reference`] is true, the reference is used up:
    /// start again with a new one. That is safe, since this machine charged nothing under the old one. If an earlier machine
    /// of the same order was lost, look the old reference up first: this machine does so only if an earlier payment may be the
    /// reason of the refusal.
    Refused(Refused),
    /// No request for the payment was sent.
    NotSent(NotSentReason),
    /// Whether the payment was charged is unknown. Repeat this lookup later until it finds a payment. An empty result
    /// proves nothing as long as a request may still arrive. If another machine works on the payment, as after two returns
    /// of one customer, the reason is [`UnknownReason::Superseded`], and the outcome is that of the other machine.
    Unknown {
        /// The lookup to make later. It also finds the check of the authentication, which is not a payment.
        reconcile: Reconcile,
        /// Why the outcome is unknown.
        why: UnknownReason,
    },
}

/// Why no request for the payment was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotSentReason {
    /// The service could not be reached.
    Unreachable,
    /// The last answer to a status request said neither that the liability is shifted nor that it is not.
    NoResult,
    /// Nothing may be sent at present.
    HeldBack,
    /// Whether the initiation arrived is unknown, and its authentication key cannot be requested again. Start again. If
    /// the initiation arrived, its reference is used up.
    InitiationUnclear,
    /// It had ended without a payment before it was resumed.
    Over,
}
