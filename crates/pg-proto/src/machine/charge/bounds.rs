//! Bounds of a charge.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::machine::Backoff;

/// Bounds of a [charge](super::Charge): attempts, lookups and time. Zero attempts send nothing, and zero lookups look nothing up.
///
/// ```
/// use std::time::Duration;
/// use pg_proto::machine::charge::ChargeBounds;
///
/// // For a customer who waits at a till: a charge that takes longer ends as unknown, with the lookup to make later.
/// let bounds = ChargeBounds::default().attempts(2).within(Duration::from_secs(30));
/// assert_eq!((bounds.attempts, bounds.lookups), (2, 8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChargeBounds {
    /// Maximum number of times that the payment is sent, counting the first, over all resumptions. Default: 3.
    pub attempts: u32,
    /// Maximum number of lookups. Resuming starts a new count. Default: 8. If the dialect does not name the error of a used
    /// reference, fewer than 3, or too little time for them, leave a decline unknown (assumption A141).
    pub lookups: u32,
    /// Time limit, counted from the start. After it, the charge neither pays nor waits; it may make one last lookup.
    /// Default: 10 minutes, which covers the longest wait that the service asks for (5 minutes, spec 1 §5). Without
    /// such a wait, the default pauses add up to two or three minutes. A request that the driver delays for the
    /// throttle may leave later. Dropping the drive before that sends nothing.
    pub within: Duration,
    /// The pauses before lookups and further attempts. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl ChargeBounds {
    /// Sets how often the payment is sent at most, counting the first time, over all resumptions.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the maximum number of lookups. Resuming starts a new count.
    #[must_use]
    pub const fn lookups(mut self, lookups: u32) -> Self {
        self.lookups = lookups;
        self
    }

    /// Sets the time limit, counted from the start. One last lookup may follow it.
    #[must_use]
    pub const fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// Sets the pauses before lookups and further attempts.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

impl Default for ChargeBounds {
    fn default() -> Self {
        Self { attempts: 3, lookups: 8, within: Duration::from_secs(600), pauses: Backoff::default() }
    }
}
