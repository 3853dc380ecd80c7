//! Bounds and outcomes of a retried request.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Refused,
    machine::{Backoff, Reconcile, UnknownReason},
};

/// Bounds of a [retried request](super::Retry).
///
/// ```
/// use std::time::Duration;
/// use pg_proto::machine::retry::RetryBounds;
///
/// let bounds = RetryBounds::default().again(1).within(Duration::from_secs(10));
/// assert_eq!(bounds.again, 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetryBounds {
    /// Maximum number of further attempts. Default: 3.
    pub again: u32,
    /// Time limit for further attempts, counted from the start. Default: 10 minutes, which covers the longest wait that
    /// the service asks for (5 minutes, spec 1 §5).
    pub within: Duration,
    /// The pauses before each further attempt. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl RetryBounds {
    /// Sets the maximum number of further attempts.
    #[must_use]
    pub const fn again(mut self, again: u32) -> Self {
        self.again = again;
        self
    }

    /// Sets the time limit for further attempts, counted from the start.
    #[must_use]
    pub const fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Sets the pauses before further attempts.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

impl Default for RetryBounds {
    fn default() -> Self {
        Self { again: 3, within: Duration::from_secs(600), pauses: Backoff::default() }
    }
}

/// The outcome of a retried request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum RetryOutcome<T> {
    /// The service answered this request, with this result.
    Answered(T),
    /// The service refused every request. If the method must not be executed twice, the service refuses every copy of
    /// the request.
    Refused(Refused),
    /// No request left.
    NotSent,
    /// The request may have been executed, or may be executed later. Do not send it again before you know.
    Unknown {
        /// The lookup that finds the outcome of a payment with a reference.
        reconcile: Reconcile,
        /// Why the outcome is unknown.
        why: UnknownReason,
    },
}
