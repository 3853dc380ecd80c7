//! How far a request goes, and how it ends.

use std::time::Duration;

use pg_model::TransactionLookup;
use serde::{Deserialize, Serialize};

use crate::{Refused, Unreadable, machine::Backoff};

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryBounds {
    /// How often the request is sent again at most. Default: 3.
    pub again: u32,
    /// After this time, counted from its begin, nothing is sent again. Default: 10 minutes, which leaves room for the longest
    /// wait that the service asks for (5 minutes, spec 1 §5).
    pub within: Duration,
    /// The pauses before each further attempt. Default: one second, doubling up to 30.
    pub pauses: Backoff,
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
        reconcile: Option<TransactionLookup>,
        /// Why it is not known.
        why: Unanswered,
    },
}

/// Why it is not known whether a request was carried out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// There was no reply.
    #[error("the request may have arrived, and there is no reply")]
    NoReply,
    /// A reply came that can't be read.
    #[error(transparent)]
    Unreadable(Box<Unreadable>),
    /// The service failed, the bank did not answer, or the service says that it was done before.
    #[error("it may have been executed: {0}")]
    Refused(Refused),
    /// The last request was refused, and an earlier one had no reply.
    #[error("an earlier request may have been executed: {0}")]
    RefusedAtLast(Refused),
    /// Nothing may be sent until somebody has put the credentials right, and a request before may have been executed.
    #[error("nothing may be sent at present, and a request may have been executed")]
    HeldBack,
}
