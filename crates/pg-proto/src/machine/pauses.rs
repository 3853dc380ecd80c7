//! Pauses between attempts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Pauses that double from the first to the longest. Each is random within its upper half, so that machines that fail
/// together do not return together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Backoff {
    /// Maximum length of the pause after the first attempt.
    pub first: Duration,
    /// The longest pause.
    pub longest: Duration,
}

impl Backoff {
    /// Creates pauses that start with `first` and double up to `longest`.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// Sets the maximum length of the pause after the first attempt.
    #[must_use]
    pub const fn first(mut self, first: Duration) -> Self {
        self.first = first;
        self
    }

    /// Sets the longest pause.
    #[must_use]
    pub const fn longest(mut self, longest: Duration) -> Self {
        self.longest = longest;
        self
    }
}

impl Backoff {
    /// Returns the pause after `earlier` other pauses.
    #[must_use]
    pub fn next(&self, earlier: u32, random: u64) -> Duration {
        let doubled = self.first.saturating_mul(1_u32.checked_shl(earlier).unwrap_or(u32::MAX));
        let most = u64::try_from(doubled.min(self.longest).as_millis()).unwrap_or(u64::MAX);
        let least = most / 2;
        // At most half of the maximum, so that another such pause fits.
        Duration::from_millis(least + random % (most - least + 1))
    }

    /// Returns the pause before the next request: the time that the service asked for, plus a random part of the first
    /// pause so that clients do not return together. Without such a time, the pause after `earlier` other pauses.
    pub(super) fn pause(&self, asked: Option<Duration>, earlier: u32, random: u64) -> Duration {
        match asked {
            Some(least) => least.saturating_add(self.next(0, random)),
            None => self.next(earlier, random),
        }
    }
}

impl Default for Backoff {
    /// One second, doubling up to thirty.
    fn default() -> Self {
        Self { first: Duration::from_secs(1), longest: Duration::from_secs(30) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_double_up_to_the_longest_and_are_spread_over_the_upper_half() {
        let pauses = Backoff::default();
        for (earlier, least, most) in [(0, 500, 1_000), (1, 1_000, 2_000), (4, 8_000, 16_000), (5, 15_000, 30_000)] {
            for random in [0, 1, 499, 500, 501, 12_345, u64::MAX] {
                let pause = pauses.next(earlier, random).as_millis();
                assert!((least..=most).contains(&pause), "{earlier} {random} {pause}");
            }
        }
        for earlier in [31, 32, 33, u32::MAX] {
            assert_eq!(pauses.next(earlier, 0).as_millis(), 15_000);
        }
        let none = Backoff { first: Duration::ZERO, longest: Duration::ZERO };
        assert_eq!(none.next(3, 77), Duration::ZERO);
        let endless = Backoff { first: Duration::MAX, longest: Duration::MAX };
        assert!(endless.next(3, u64::MAX) >= Duration::from_millis(u64::MAX / 2));
    }
}
