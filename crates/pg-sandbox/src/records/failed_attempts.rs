//! Failed credentials by address, and the lockouts they cause (spec 1 §5, spec 2 §5).

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    recent_times::{self, MOST_AHEAD},
    store::{Kind, StoredRecord},
    timestamp::Timestamp,
};

const WINDOW: Duration = Duration::from_secs(24 * 60 * 60);
/// Number of failures in a window after which the address is refused for one minute: more than five.
const SHORT_AFTER: usize = 6;
const SHORT_BLOCK: Duration = Duration::from_secs(60);
/// Number of failures in a window after which the address is blocked for five minutes.
const LONG_AFTER: usize = 10;
const LONG_BLOCK: Duration = Duration::from_secs(5 * 60);

/// The failed credentials of one address within a day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedAttempts {
    /// The address; for an account created at run time, followed by its name.
    address: String,
    /// The name of that account.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    merchant: String,
    /// When they happened, oldest first; at most [`LONG_AFTER`].
    times: Vec<Timestamp>,
    blocked_until: Timestamp,
}

/// Why an address is refused at present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// For one minute: error 121.
    OneMinute,
    /// For five minutes: error 122.
    FiveMinutes,
}

impl FailedAttempts {
    /// Creates an address without failures.
    #[must_use]
    pub fn none(address: &str) -> Self {
        Self::none_at("", address)
    }

    /// Creates an address without failures at an account created at run time; `merchant` is empty for all other
    /// accounts together.
    #[must_use]
    pub fn none_at(merchant: &str, address: &str) -> Self {
        let (address, merchant) = (Self::key_of(merchant, address), merchant.to_owned());
        Self { address, merchant, times: Vec::new(), blocked_until: Timestamp::MIN }
    }

    /// Returns the primary key.
    #[must_use]
    pub fn key_of(merchant: &str, address: &str) -> String {
        if merchant.is_empty() { address.to_owned() } else { format!("{address} {merchant}") }
    }

    /// Counts a failure. Do not count a request that was refused because of a block.
    pub fn count(&mut self, now: Timestamp) {
        let now = recent_times::count_at(&mut self.times, now, WINDOW);
        if self.times.len() == LONG_AFTER {
            self.times.remove(0);
        }
        self.times.push(now);
        self.blocked_until = match self.times.len() {
            LONG_AFTER.. => now.plus(LONG_BLOCK),
            SHORT_AFTER.. => now.plus(SHORT_BLOCK),
            _ => self.blocked_until,
        };
    }

    /// Forgets failures that are later than now, after the clock was set back, and the block that they have caused.
    pub fn turn_back(&mut self, now: Timestamp) {
        let known = self.times.len();
        recent_times::turn_back(&mut self.times, now);
        if self.times.len() < known {
            self.blocked_until = Timestamp::MIN;
        }
    }

    /// Returns whether and why the address is refused now.
    #[must_use]
    pub fn block(&self, now: Timestamp) -> Option<Block> {
        let left = self.blocked_until.since(now);
        // A block further in the future comes from a clock that was wrong.
        if left.is_zero() || left > MOST_AHEAD + LONG_BLOCK {
            None
        } else if self.times.len() >= LONG_AFTER {
            Some(Block::FiveMinutes)
        } else {
            Some(Block::OneMinute)
        }
    }
}

impl StoredRecord for FailedAttempts {
    const KIND: &'static Kind = &Kind { table: "failed_attempts", columns: &[] };

    fn key(&self) -> &str {
        &self.address
    }

    fn merchant(&self) -> &str {
        &self.merchant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000 + seconds * 1000)
    }

    fn failed(times: usize) -> FailedAttempts {
        let mut attempts = FailedAttempts::none("127.0.0.1");
        (0..times).for_each(|_| attempts.count(at(0)));
        attempts
    }

    // spec: 1 §5, A53: More than 5 wrong credentials in a day block the address for a minute: 121.
    // spec: 1 §5, A53: 10 failures block it for five minutes: 122.
    #[test]
    fn more_than_five_block_a_minute_and_ten_block_five() {
        assert_eq!(failed(5).block(at(0)), None);
        assert_eq!(failed(6).block(at(0)), Some(Block::OneMinute));
        assert_eq!(failed(6).block(at(59)), Some(Block::OneMinute));
        assert_eq!(failed(6).block(at(60)), None);
        assert_eq!(failed(9).block(at(0)), Some(Block::OneMinute));
        assert_eq!(failed(10).block(at(299)), Some(Block::FiveMinutes));
        assert_eq!(failed(10).block(at(300)), None);
        assert_eq!(failed(500).times.len(), 10);
    }

    // spec: 1 §5, A53
    #[test]
    fn a_failure_counts_until_a_day_has_passed() {
        let mut attempts = failed(9);
        attempts.count(at(86_399));
        assert_eq!(attempts.block(at(86_399)), Some(Block::FiveMinutes));
    }

    #[test]
    fn a_day_later_the_count_starts_again() {
        let mut attempts = failed(10);
        attempts.count(at(86_400));
        assert_eq!((attempts.times.len(), attempts.block(at(86_400))), (1, None));
    }

    // spec: 1 §5, A53
    #[test]
    fn processes_whose_clocks_differ_count_together() {
        for behind in [1, 59, 299] {
            let mut attempts = FailedAttempts::none("127.0.0.1");
            for number in 0..6 {
                assert_eq!(attempts.block(at(-behind)), None, "{behind}");
                attempts.count(at(if number % 2 == 0 { 0 } else { -behind }));
            }
            assert_eq!([at(0), at(-behind)].map(|now| attempts.block(now)), [Some(Block::OneMinute); 2], "{behind}");
            (6..10).for_each(|_| attempts.count(at(-behind)));
            assert_eq!([at(0), at(-behind)].map(|now| attempts.block(now)), [Some(Block::FiveMinutes); 2], "{behind}");
            assert_eq!(attempts.block(at(300)), None, "{behind}");
        }
    }

    #[test]
    fn turning_the_clock_back_forgets_what_is_later_then() {
        let mut attempts = failed(5);
        attempts.count(at(10));
        attempts.turn_back(at(10));
        assert_eq!(attempts.block(at(10)), Some(Block::OneMinute));
        attempts.turn_back(at(9));
        assert_eq!((attempts.times.len(), attempts.block(at(9))), (5, None));
    }

    #[test]
    fn a_clock_that_was_far_ahead_blocks_no_longer() {
        let mut attempts = failed(10);
        assert_eq!(attempts.block(at(-86_400)), None);
        attempts.count(at(-86_400));
        assert_eq!(attempts.times.len(), 1);
    }
}
