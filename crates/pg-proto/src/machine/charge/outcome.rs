//! How a charge ends.

use pg_model::Transaction;

use crate::{
    Refused,
    machine::{Reconcile, UnknownReason},
};

/// How a charge ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum ChargeOutcome {
    /// Paid, or reserved: once.
    Approved(Transaction),
    /// The bank said no. Nothing was charged, and the reference is used up.
    Declined(Transaction),
    /// The service refused it and nothing was charged. [`Refused::scope`] says how long that holds: for a reason that
    /// may pass, until it has passed and only if something on the way sends the request a second time.
    ///
    /// Where [`Refused::spends_reference`] is true, the reference is used up: a corrected payment takes a new one. That is
    /// safe here, since nothing was and nothing will be charged under the old one; it is not after [`Unknown`](Self::Unknown).
    Refused(Refused),
    /// Nothing left this side: nothing was charged and nothing ever will be.
    NotSent,
    /// It is not known whether the payment was charged. Make this lookup later, until it finds something; an empty result is no
    /// proof as long as a request may still be on its way.
    Unknown {
        /// The lookup that tells, once there is something to tell.
        reconcile: Reconcile,
        /// Why it is not known.
        why: UnknownReason,
    },
}
