//! The limit of requests in a minute (spec 1 §8; A54). Version 5 has none (A129).

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use super::context::Context;
use crate::{records::Meta, store::StoreError, timestamp::Timestamp};

const WINDOW: Duration = Duration::from_secs(60);

/// When each limited account's requests of the last minute came. In memory, so a restart forgets them; if several processes
/// share the store, there instead ([`admits`]).
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    times: HashMap<String, VecDeque<Timestamp>>,
}

/// Counts a request of an account, in the store if several processes share it, and says whether it is within the limit.
pub(super) fn admits(context: &mut Context<'_>, merchant: &str, per_minute: u32) -> Result<bool, StoreError> {
    if !context.is_shared {
        return Ok(context.throttle.admits(merchant, per_minute, context.now));
    }
    let key = Meta::throttle_key(merchant);
    let known = context.records.get::<Meta>(&key)?;
    let times = known.map_or(Ok(VecDeque::new()), |meta| meta.read())?;
    let mut throttle = Throttle { times: HashMap::from([(merchant.to_owned(), times)]) };
    let admitted = throttle.admits(merchant, per_minute, context.now);
    if admitted {
        let times: Vec<Timestamp> = throttle.times.remove(merchant).unwrap_or_default().into();
        context.put_meta(Meta::throttle(merchant, &times))?;
        // It counts even if the request is refused.
        context.records.keep()?;
    }
    Ok(admitted)
}

impl Throttle {
    /// Forgets the requests of an account that is removed.
    pub(crate) fn forget(&mut self, merchant: &str) {
        self.times.remove(merchant);
    }

    /// Counts a request and says whether it is within the limit; one that is not does not count.
    pub(crate) fn admits(&mut self, merchant: &str, per_minute: u32, now: Timestamp) -> bool {
        let times = self.times.entry(merchant.to_owned()).or_default();
        // A clock that was set back leaves times in the future, which say nothing about this minute.
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

    // spec: 1 §8 Limits, A54: 100 requests a minute for an account, adjustable.
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
