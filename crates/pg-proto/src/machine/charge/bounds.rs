//! How far a charge goes before it ends.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::machine::Backoff;

/// How far a charge goes before it ends. Zero means zero: with no attempts nothing is sent, with no lookups nothing is
/// looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChargeBounds {
    /// How often the payment itself is sent at most, the first time included, over all resumptions. Default: 3.
    pub attempts: u32,
    /// How often it is looked up at most, anew after each resumption. Default: 8.
    pub lookups: u32,
    /// After this time, counted from its begin, it neither pays nor waits any more; one last lookup may follow. Default:
    /// 10 minutes, which leaves room for the longest wait that the service asks for (5 minutes, spec 1 §5). Without
    /// such a wait the default pauses come to two or three minutes. A request that its driver holds back for the throttle
    /// may leave later: a drive that is dropped before that sends nothing.
    pub within: Duration,
    /// The pauses before lookups and further attempts. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl ChargeBounds {
    /// How often the payment itself is sent at most, the first time included, over all resumptions.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// How often it is looked up at most, anew after each resumption.
    #[must_use]
    pub const fn lookups(mut self, lookups: u32) -> Self {
        self.lookups = lookups;
        self
    }

    /// After this time, counted from its begin, it neither pays nor waits any more; one last lookup may follow.
    #[must_use]
    pub const fn within(mut self, within: Duration) -> Self {
        self.within = within;
        self
    }

    /// The pauses before lookups and further attempts.
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
