//! The shares of an account's limits.

use std::time::Duration;

use super::{HOUR, OVER, Suite};
use crate::{IntentStore, ShareWish};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn shares_are_disjoint(&self) {
        let shares = async |owner, most, lease, quarantine| {
            let wish = ShareWish { account: &self.account, owner, total: 5, most, lease, longest: HOUR, quarantine };
            self.store.shares(wish).await.expect("shares answers")
        };
        assert_eq!(shares("w1", 3, HOUR, HOUR).await, 3, "free shares are given");
        assert_eq!(shares("w2", 3, HOUR, HOUR).await, 2, "no more than there are");
        assert_eq!(shares("w3", 1, HOUR, HOUR).await, 0);
        assert_eq!(shares("w1", 3, OVER, HOUR).await, 3, "they are kept");
        assert_eq!(shares("w3", 2, HOUR, HOUR).await, 0, "a share that was taken away rests before it is used");
        assert_eq!(shares("w1", 3, OVER, OVER).await, 1, "what another worker has taken is gone");
        assert_eq!(shares("w4", 2, HOUR, OVER).await, 1, "without quarantine it is used at once");
    }

    pub(super) async fn shares_rest_for_as_long_as_they_are_told(&self) {
        let account = format!("{} blocks", self.account);
        let shares = async |owner, most, lease| {
            let wish = ShareWish { account: &account, owner, total: 3, most, lease, longest: HOUR, quarantine: OVER };
            self.store.shares(wish).await.expect("shares answers")
        };
        for owner in ["w1 block 1", "w1 block 2", "w2 block 1"] {
            assert_eq!(shares(owner, 1, HOUR).await, 1, "a free share is taken");
        }
        assert_eq!(shares("w2 block 2", 1, HOUR).await, 0, "no more than there are, over all workers");
        assert_eq!(
            shares("w1 block 2", 0, HOUR).await,
            1,
            "a request for no share takes none, and sets the end of the lease"
        );
        assert_eq!(shares("w2 block 2", 1, HOUR).await, 0, "it rests until then");
        shares("w1 block 2", 0, OVER).await;
        assert_eq!(shares("w2 block 2", 1, HOUR).await, 1, "then another worker takes it");
        assert_eq!(shares("w1 block 2", 0, HOUR).await, 0, "its former owner has nothing to release");
        assert_eq!(shares("w1 block 3", 1, HOUR).await, 0);
    }

    /// The lease of a share that was taken while the clock was ahead ends too late. The shorter lease holds from the next call on.
    pub(super) async fn shares_are_taken_no_longer_than_the_longest_lease(&self) {
        let account = format!("{} ahead", self.account);
        let shares = async |owner, most, lease, longest| {
            let wish = ShareWish { account: &account, owner, total: 1, most, lease, longest, quarantine: OVER };
            self.store.shares(wish).await.expect("shares answers")
        };
        let year = Duration::from_secs(365 * 24 * 3600);
        assert_eq!(shares("w1", 1, year, year).await, 1, "a free share is taken");
        assert_eq!(shares("w2", 0, HOUR, OVER).await, 0, "a request for no share changes no other share");
        assert_eq!(shares("w2", 1, HOUR, HOUR).await, 0, "the lease has not ended");
        assert_eq!(shares("w1", 1, year, OVER).await, 1, "its owner keeps it");
        let taken = [shares("w2", 1, OVER, OVER).await, shares("w2", 1, OVER, OVER).await];
        assert_eq!(taken[1], 1, "the lease was too long: {taken:?}");
    }
}
