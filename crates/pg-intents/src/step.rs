//! What a machine of a fleet asks, and what it is told.

use pg_hyper::proto::machine::Moment;
use serde::{Deserialize, Serialize};

use crate::PaymentOutcome;

/// How far a payment is that needs its customer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum FleetStep {
    /// It waits for an answer: [`Fleet::event`](crate::Fleet::event), on any server.
    Ask(FleetQuestion),
    /// It has ended.
    Done(PaymentOutcome),
}

/// What a payment waits for. It is stored, and every server gets the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FleetQuestion {
    /// Lead the customer to this page, where they pay; then [`FleetEvent::Reported`].
    Redirect {
        /// The page.
        url: String,
        /// Until when an answer counts.
        deadline: Moment,
    },
    /// Lead the customer to this page of their bank; then [`FleetEvent::Returned`].
    Challenge {
        /// The page.
        url: String,
        /// Until when an answer counts.
        deadline: Moment,
    },
    /// Decide whether to pay without liability shift: [`FleetEvent::Proceed`] or [`FleetEvent::Stop`].
    Decide {
        /// What the service says of the authentication, as JSON.
        status: String,
        /// Until when an answer counts.
        deadline: Moment,
    },
}

/// What happened, for a payment that waits for its customer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FleetEvent {
    /// A callback of a checkout, or the address that the customer came back to, names this transaction. It is looked up.
    Reported {
        /// The transaction.
        trans_key: String,
    },
    /// The checkout is withdrawn.
    Cancelled,
    /// The customer came back from the challenge.
    Returned,
    /// The customer has left the challenge.
    Closed,
    /// The payment is made without liability shift.
    Proceed,
    /// The payment is not made without liability shift.
    Stop,
}

impl FleetQuestion {
    /// Until when it can be answered.
    #[must_use]
    pub const fn deadline(&self) -> Moment {
        match self {
            Self::Redirect { deadline, .. } | Self::Challenge { deadline, .. } | Self::Decide { deadline, .. } => {
                *deadline
            }
        }
    }
}
