//! The limit of requests per minute (spec 1 §8; A54). Version 5 has no limit (A129).

use std::{collections::HashMap, time::Duration};

use crate::{recent_times, timestamp::Timestamp};

const WINDOW: Duration = Duration::from_secs(60);

/// The times of each limited account's requests in the last minute. They are in memory, so a restart drops them. If
/// several processes share the store, the times are in the store (`admits` of the gate).
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    times: HashMap<String, Vec<Timestamp>>,
}

impl Throttle {
    /// Drops the requests of a removed account.
    pub(crate) fn forget(&mut self, merchant: &str) {
        self.times.remove(merchant);
    }

    /// Forgets the requests of an account that are later than now, after the clock was set back.
    pub(super) fn turn_back(&mut self, merchant: &str, now: Timestamp) {
        if let Some(times) = self.times.get_mut(merchant) {
            recent_times::turn_back(times, now);
        }
    }

    /// Returns the requests of one account, as the store keeps them.
    pub(super) fn of(merchant: &str, times: Vec<Timestamp>) -> Self {
        Self { times: HashMap::from([(merchant.to_owned(), times)]) }
    }

    /// Returns the requests of an account, for the store.
    pub(super) fn times(mut self, merchant: &str) -> Vec<Timestamp> {
        self.times.remove(merchant).unwrap_or_default()
    }

    /// Returns whether a request is within the limit, and if so counts it.
    pub(crate) fn admits(&mut self, merchant: &str, per_minute: u32, now: Timestamp) -> bool {
        let times = self.times.entry(merchant.to_owned()).or_default();
        let at = recent_times::count_at(times, now, WINDOW);
        if times.len() >= usize::try_from(per_minute).unwrap_or(usize::MAX) {
            return false;
        }
        times.push(at);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 1 §8 Limits, A54: An account may send 100 requests a minute; the limit can be changed.
    // spec: 2 §8, A54
    #[test]
    fn counts_a_sliding_minute_for_each_account() {
        let mut throttle = Throttle::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000 + seconds * 1000);
        assert!(throttle.admits("a", 2, at(0)));
        assert!(throttle.admits("a", 2, at(30)));
        assert!(!throttle.admits("a", 2, at(59)));
        assert!(throttle.admits("b", 2, at(59)));
        assert!(throttle.admits("a", 2, at(60)));
        assert!(!throttle.admits("a", 2, at(60)));
    }

    // spec: 1 §8, A54
    #[test]
    fn processes_whose_clocks_differ_admit_no_more_together() {
        let mut throttle = Throttle::default();
        let at = |millis: i64| Timestamp::from_millis(1_000_000 + millis);
        // Two clocks: the second one is behind, by milliseconds and by minutes.
        for behind in [3, 59_999, 60_000, 299_000] {
            let start = 10_000_000 * behind;
            let times = (0..200).map(|number| at(start + number - if number % 2 == 0 { 0 } else { behind }));
            let admitted = times.filter(|&time| throttle.admits("a", 100, time)).count();
            assert_eq!(admitted, 100, "{behind}");
            assert!(!throttle.admits("a", 100, at(start + 60_000 - behind)), "{behind}");
            assert!(throttle.admits("a", 100, at(start + 60_198)), "{behind}");
        }
    }

    #[test]
    fn a_clock_that_was_far_ahead_and_one_that_is_turned_back_refuse_nothing() {
        let mut throttle = Throttle::default();
        let at = |seconds: i64| Timestamp::from_millis(1_000_000_000 + seconds * 1000);
        assert!(throttle.admits("a", 1, at(0)));
        assert!(!throttle.admits("a", 1, at(-300)));
        assert!(throttle.admits("a", 1, at(-301)));
        throttle.turn_back("a", at(-310));
        assert!(throttle.admits("a", 1, at(-310)));
    }
}
