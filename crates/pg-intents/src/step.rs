//! The questions of a fleet's machines, and the events that answer them.

use pg_hyper::proto::machine::Moment;
use serde::{Deserialize, Serialize};

use crate::PaymentOutcome;

/// The progress of a payment that needs its customer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum FleetStep {
    /// The payment waits for an answer: [`Fleet::event`](crate::Fleet::event), on any server.
    Ask(FleetQuestion),
    /// It has ended.
    Done(PaymentOutcome),
}

/// The question of a waiting payment. It is stored, so every server returns the same one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FleetQuestion {
    /// Redirect the customer to this page, where they pay; then send [`FleetEvent::Reported`].
    Redirect {
        /// The page.
        url: String,
        /// The deadline for the answer.
        deadline: Moment,
    },
    /// Redirect the customer to this page of their bank; then send [`FleetEvent::Returned`].
    Challenge {
        /// The page.
        url: String,
        /// The deadline for the answer.
        deadline: Moment,
    },
    /// Decide whether to pay without liability shift: [`FleetEvent::Proceed`] or [`FleetEvent::Stop`].
    Decide {
        /// The service's authentication result, as JSON.
        status: String,
        /// The deadline for the answer.
        deadline: Moment,
    },
}

/// An event for a payment that waits for its customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FleetEvent {
    /// A callback of a checkout, or the URL to which the customer returned, names this transaction. The fleet looks it
    /// up.
    Reported {
        /// The transaction.
        trans_key: String,
    },
    /// The checkout is withdrawn.
    Cancelled,
    /// The customer has returned from the challenge.
    Returned,
    /// The customer has left the challenge.
    Closed,
    /// The payment is made without liability shift.
    Proceed,
    /// The payment is not made without liability shift.
    Stop,
}

impl FleetQuestion {
    /// Returns the deadline for the answer.
    #[must_use]
    pub const fn deadline(&self) -> Moment {
        match self {
            Self::Redirect { deadline, .. } | Self::Challenge { deadline, .. } | Self::Decide { deadline, .. } => {
                *deadline
            }
        }
    }
}
