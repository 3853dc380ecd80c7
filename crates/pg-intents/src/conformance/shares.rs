//! Shares of an account's limits, and the stop of an account.

use std::time::Duration;

use super::{
    HOUR, OVER, Suite,
    promise::{SHARES, SHARES_LONGEST, SHARES_NONE, SHARES_REST, SHARES_TOTAL, STOP},
};
use crate::{IntentStore, ShareWish};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn shares_are_disjoint(&self) {
        let shares = async |owner, most, lease, quarantine| {
            let wish = ShareWish { account: &self.account, owner, total: 5, most, lease, longest: HOUR, quarantine };
            SHARES.ok(&format!("{wish:?}"), self.store.shares(wish).await)
        };
        SHARES.is("of 5 free shares, w1 took 3", shares("w1", 3, HOUR, HOUR).await, 3);
        SHARES.is("of 2 free shares, w2 took 3", shares("w2", 3, HOUR, HOUR).await, 2);
        SHARES.is("of no free share, w3 took 1", shares("w3", 1, HOUR, HOUR).await, 0);
        SHARES.is("w1 kept its 3, with a lease of zero", shares("w1", 3, OVER, HOUR).await, 3);
        let done = "the lease of 3 shares of w1 ended, and w3 took 2, with a quarantine of an hour";
        SHARES_REST.is(done, shares("w3", 2, HOUR, HOUR).await, 0);
        SHARES_REST.is(&format!("{done}; then w1 kept what it had"), shares("w1", 3, OVER, OVER).await, 1);
        let done = "the lease of a share of w1 ended, and w4 took it, with a quarantine of zero";
        SHARES_REST.is(done, shares("w4", 2, HOUR, OVER).await, 1);
    }

    pub(super) async fn shares_rest_for_as_long_as_they_are_told(&self) {
        let account = format!("{} blocks", self.account);
        let shares = async |owner, most, lease| {
            let wish = ShareWish { account: &account, owner, total: 3, most, lease, longest: HOUR, quarantine: OVER };
            SHARES.ok(&format!("{wish:?}"), self.store.shares(wish).await)
        };
        for owner in ["w1 block 1", "w1 block 2", "w2 block 1"] {
            SHARES.is(&format!("of 3 shares, each of 3 workers took 1: {owner}"), shares(owner, 1, HOUR).await, 1);
        }
        SHARES.is("of 3 shares that are taken, a fourth worker took 1", shares("w2 block 2", 1, HOUR).await, 0);
        let done = "a worker with 1 share asked for 0, with a lease of an hour";
        SHARES_NONE.is(done, shares("w1 block 2", 0, HOUR).await, 1);
        SHARES_NONE.is(&format!("{done}; then another took 1"), shares("w2 block 2", 1, HOUR).await, 0);
        shares("w1 block 2", 0, OVER).await;
        let done = "a worker with 1 share asked for 0, with a lease of zero; then another took 1";
        SHARES_NONE.is(done, shares("w2 block 2", 1, HOUR).await, 1);
        SHARES_NONE.is(&format!("{done}; then the first asked for 0"), shares("w1 block 2", 0, HOUR).await, 0);
        SHARES.is("of 3 shares that are taken, a worker took 1", shares("w1 block 3", 1, HOUR).await, 0);
    }

    /// A process with smaller limits, or of an earlier plan, has a smaller total.
    pub(super) async fn shares_of_a_larger_total_are_remembered(&self) {
        let account = format!("{} totals", self.account);
        let shares = async |owner, total, most| {
            let (lease, longest, quarantine) = (HOUR, HOUR, OVER);
            let wish = ShareWish { account: &account, owner, total, most, lease, longest, quarantine };
            SHARES_TOTAL.ok(&format!("{wish:?}"), self.store.shares(wish).await)
        };
        let done = "w1 took 3 shares of a total of 3";
        SHARES.is(done, shares("w1", 3, 3).await, 3);
        SHARES.is(&format!("{done}; then w2 took 1 of a total of 1"), shares("w2", 1, 1).await, 0);
        SHARES_TOTAL.is(&format!("{done}; then w1 kept what it had of a total of 1"), shares("w1", 1, 0).await, 1);
        let done = format!("{done}; after calls with a total of 1, w3 took 3 of a total of 3");
        SHARES_TOTAL.is(&done, shares("w3", 3, 3).await, 0);
        SHARES_TOTAL.is(&format!("{done}; then w1 kept its own"), shares("w1", 3, 0).await, 3);
    }

    /// The lease of a share that was taken while the clock was ahead ends too late. The shorter lease holds from the next call on.
    pub(super) async fn shares_are_taken_no_longer_than_the_longest_lease(&self) {
        let account = format!("{} ahead", self.account);
        let shares = async |owner, most, lease, longest| {
            let wish = ShareWish { account: &account, owner, total: 1, most, lease, longest, quarantine: OVER };
            SHARES.ok(&format!("{wish:?}"), self.store.shares(wish).await)
        };
        let year = Duration::from_secs(365 * 24 * 3600);
        let other = format!("{} on time", self.account);
        let of_other = async |owner| {
            let (lease, longest, quarantine) = (year, year, OVER);
            let wish = ShareWish { account: &other, owner, total: 1, most: 1, lease, longest, quarantine };
            SHARES.ok(&format!("{wish:?}"), self.store.shares(wish).await)
        };
        SHARES.is("of 1 free share of another account, w1 took 1 with a lease of a year", of_other("w1").await, 1);
        SHARES.is("of 1 free share, w1 took 1 with a lease of a year", shares("w1", 1, year, year).await, 1);
        let done = "w1 had the only share for a year";
        SHARES_NONE.is(&format!("{done}; then w2 asked for 0"), shares("w2", 0, HOUR, OVER).await, 0);
        let asked = format!("{done}; then w2 asked for 1, with a longest lease of an hour");
        SHARES_LONGEST.is(&asked, shares("w2", 1, HOUR, HOUR).await, 0);
        SHARES.is(&format!("{done}; then w1 kept it"), shares("w1", 1, year, OVER).await, 1);
        let taken = [shares("w2", 1, OVER, OVER).await, shares("w2", 1, OVER, OVER).await];
        SHARES_LONGEST.is(&format!("{done}; then w2 asked for 1 twice, with a longest lease of zero"), taken[1], 1);
        let done =
            "leases of one account were shortened; then w2 asked for a share of another, which w1 had for a year";
        SHARES_LONGEST.is(done, of_other("w2").await, 0);
    }

    pub(super) async fn a_stop_is_seen_by_all(&self) {
        let stop = async |reason| STOP.is("stopped or resumed", self.store.stop(&self.account, reason).await, Ok(()));
        let stopped = async || STOP.ok("asked whether it is stopped", self.store.stopped(&self.account).await);
        STOP.is("asked before it was stopped", stopped().await, None::<String>);
        stop(Some("credentials (102)")).await;
        stop(Some("again")).await;
        let first = Some("credentials (102)".to_owned());
        STOP.is("stopped it for one reason, then for another", stopped().await, first);
        stop(None).await;
        STOP.is("stopped it, then permitted sending", stopped().await, None::<String>);
    }
}
