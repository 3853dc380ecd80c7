//! The limit of requests in a minute (spec 1 §8; A54). Version 5 has none (A129).

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use crate::timestamp::Timestamp;

const WINDOW: Duration = Duration::from_secs(60);

/// The times of each limited account's requests of the last minute. They are in memory, so a restart drops them. If
/// several processes share the store, they are in the store (`admits` of the gate).
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    times: HashMap<String, VecDeque<Timestamp>>,
}

impl Throttle {
    /// Drops the requests of a removed account.
    pub(crate) fn forget(&mut self, merchant: &str) {
        self.times.remove(merchant);
    }

    /// Returns the requests of one account, as the store keeps them.
    pub(super) fn of(merchant: &str, times: VecDeque<Timestamp>) -> Self {
        Self { times: HashMap::from([(merchant.to_owned(), times)]) }
    }

    /// Returns the requests of an account, for the store.
    pub(super) fn times(mut self, merchant: &str) -> Vec<Timestamp> {
        self.times.remove(merchant).unwrap_or_default().into()
    }

    /// Returns whether a request is within the limit, and counts it only then.
    pub(crate) fn admits(&mut self, merchant: &str, per_minute: u32, now: Timestamp) -> bool {
        let times = self.times.entry(merchant.to_owned()).or_default();
        // A clock that was set back leaves times in the future, which do not count for this minute.
        times.retain(|&time| time <= now && now.since(time) < WINDOW);
        if times.len() >= usize::try_from(per_minute).unwrap_or(usize::MAX) {
            return false;
        }
        times.push_back(now);
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
        assert!(throttle.admits("a", 2, at(-500)));
    }
}
