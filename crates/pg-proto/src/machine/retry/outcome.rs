//! How far a request goes, and how it ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    Refused,
    machine::{Backoff, Reconcile, UnknownReason},
};

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RetryBounds {
    /// How often the request is sent again at most. Default: 3.
    pub again: u32,
    /// After this time, counted from its begin, nothing is sent again. Default: 10 minutes, which leaves room for the longest
    /// wait that the service asks for (5 minutes, spec 1 §5).
    pub within: Duration,
    /// The pauses before each further attempt. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl RetryBounds {
    /// How often the request is sent again at most.
    #[must_use]
    pub const fn again(mut self, again: u32) -> Self {
        self.again = again;
        self
    }

    /// After this time, counted from its begin, nothing is sent again.
    #[must_use]
    pub const fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// The pauses before each further attempt.
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

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum RetryOutcome<T> {
    /// The service carried it out: its result.
    Answered(T),
    /// The service refused it, and did so every time.
    Refused(Refused),
    /// Nothing left this side.
    NotSent,
    /// It may have been carried out, or may still be.
    Unknown {
        /// The lookup that tells, for a payment with a reference.
        reconcile: Reconcile,
        /// Why it is not known.
        why: UnknownReason,
    },
}
