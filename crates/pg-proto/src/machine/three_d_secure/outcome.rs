//! How a 3-D Secure payment ends.

use pg_model::{AuthenticationStatus, ThreeDSecureInitiation, Transaction};

use crate::{
    Refused,
    machine::{Reconcile, UnknownReason},
};

/// How a 3-D Secure payment ended. Nothing was charged, and nothing ever will be, in all cases but [`Approved`], [`Unknown`]
/// and, as far as its own words reach, [`Refused`].
///
/// [`Approved`]: Self::Approved
/// [`Unknown`]: Self::Unknown
/// [`Refused`]: Self::Refused
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum ThreeDSecureOutcome {
    /// Paid, or reserved: once.
    Approved(Transaction),
    /// The bank said no to the payment.
    Declined(Transaction),
    /// The initiation failed (608), or its status is not known: there is no challenge.
    NotInitiated(ThreeDSecureInitiation),
    /// The customer proved wrongly who they are (608).
    Failed,
    /// The customer left the challenge.
    Abandoned,
    /// The customer did not finish in time.
    TimedOut,
    /// The merchant would have stayed liable, and did not want to.
    NotShifted(AuthenticationStatus),
    /// The service refused a step. Before the payment was asked for, nothing was charged; a refusal of the payment itself
    /// says so as far as [`Refused::scope`] reaches. The reference is used up where [`Refused::spends_reference`] is true: begin
    /// anew with a new one, which is safe since nothing was charged under the old one.
    Refused(Refused),
    /// The payment was never asked for.
    NotSent(NotSentReason),
    /// It is not known whether the payment was charged. Make this lookup later, until it finds a payment; an empty result is no
    /// proof as long as a request may still be on its way.
    Unknown {
        /// The lookup that tells, once there is something to tell. It finds the check as well, which is no payment.
        reconcile: Reconcile,
        /// Why it is not known.
        why: UnknownReason,
    },
}

/// Why the payment was never asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NotSentReason {
    /// The service could not be reached.
    Unreachable,
    /// Nothing may be sent at the moment.
    HeldBack,
    /// It is unknown whether the initiation arrived, and its authentication key can't be had again. Begin anew; if it
    /// arrived, its reference is used up.
    InitiationUnclear,
    /// It had ended without a payment before it was resumed.
    Over,
}
