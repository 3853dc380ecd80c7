//! Outcomes of a charge.

use pg_model::Transaction;

use crate::{
    Refused,
    machine::{Reconcile, UnknownReason},
};

/// The outcome of a charge.
///
/// `Display` is one line that says what to do next; [`label`](Self::label) is one word for logs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum ChargeOutcome {
    /// Paid or reserved, once.
    Approved(Transaction),
    /// The bank declined the payment. Nothing was charged, and the reference is used up.
    Declined(Transaction),
    /// The service refused the payment, and nothing was charged. [`Refused::scope`] says how long that holds. If the
    /// reason is temporary, it holds until the reason ends; after that, only a request that the network sends a second
    /// time can charge.
    ///
    /// If [`Refused::spends_reference`] is true, the reference is used up and a corrected payment needs a new one. A
    /// new reference is safe here, since nothing was or will be charged under the old one. It is not safe after
    /// [`Unknown`](Self::Unknown).
    Refused(Refused),
    /// No request left. Nothing was charged, and nothing will be.
    NotSent,
    /// The outcome of the payment is unknown. Repeat this lookup later until it finds something. An empty result proves
    /// nothing as long as a request may still arrive. If another machine works on the payment, the reason is
    /// [`UnknownReason::Superseded`]: resume the stored state.
    Unknown {
        /// The lookup to make later.
        reconcile: Reconcile,
        /// Why the outcome is unknown.
        why: UnknownReason,
    },
}
