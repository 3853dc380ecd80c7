//! Room that addresses share fairly.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A number of units that the holders of tokens share. A token may hold at most as many units as it leaves free. So a
/// single token gets half, each of `n` greedy tokens gets one part of `n + 1`, and one such part is always free for
/// another token.
#[derive(Clone)]
pub(super) struct Shares(Arc<Mutex<Used>>);

struct Used {
    free: usize,
    of: HashMap<String, usize>,
}

/// Units in use. Dropping the value gives them back.
pub(super) struct Share {
    shares: Shares,
    token: String,
    units: usize,
}

impl Shares {
    pub(super) fn new(units: usize) -> Self {
        Self(Arc::new(Mutex::new(Used { free: units, of: HashMap::new() })))
    }

    /// Takes units for a token; `None` if the token would use more than it leaves free.
    pub(super) fn take(&self, token: &str, units: usize) -> Option<Share> {
        let mut used = self.lock();
        let of_token = used.of.get(token).copied().unwrap_or_default().saturating_add(units);
        if of_token > used.free {
            return None;
        }
        used.free -= units;
        used.of.insert(token.to_owned(), of_token);
        Some(Share { shares: self.clone(), token: token.to_owned(), units })
    }

    fn lock(&self) -> MutexGuard<'_, Used> {
        // No panic can interrupt a change midway.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut used = self.shares.lock();
        used.free += self.units;
        if let Some(of_token) = used.of.get_mut(&self.token) {
            *of_token -= self.units;
            if *of_token == 0 {
                used.of.remove(&self.token);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_of(shares: &Shares, token: &str) -> Vec<Share> {
        std::iter::from_fn(|| shares.take(token, 1)).collect()
    }

    #[test]
    fn a_token_takes_at_most_half_of_the_room() {
        let shares = Shares::new(64);
        let greedy: Vec<Vec<Share>> = ["a", "b", "c", "d"].iter().map(|token| all_of(&shares, token)).collect();
        assert_eq!(greedy.iter().map(Vec::len).collect::<Vec<_>>(), [32, 16, 8, 4]);
        assert!(shares.take("e", 1).is_some());
    }

    #[test]
    fn returned_shares_are_free_and_unused_tokens_leave_nothing() {
        let shares = Shares::new(8);
        let all = all_of(&shares, "a");
        assert_eq!((all.len(), shares.take("a", 1).is_none()), (4, true));
        drop(all);
        let used = shares.lock();
        assert_eq!((used.free, used.of.len()), (8, 0));
    }

    #[test]
    fn requests_for_more_than_the_room_and_for_zero() {
        let shares = Shares::new(8);
        assert!(shares.take("a", 9).is_none() && shares.take("a", usize::MAX).is_none());
        let all = shares.take("a", 8);
        assert!(all.is_some() && shares.take("b", 1).is_none());
        drop(shares.take("b", 0).expect("nothing is always free"));
        drop(all);
        assert!(shares.lock().of.is_empty());
    }
}
