//! Leases and fencing numbers: who may change a row.

use super::{
    HOUR, LOST, OVER, Suite, ending, hold_of,
    promise::{CLAIM, CLAIM_COUNTS, FENCED, HELD, RELEASE, RELEASE_CLAIMS, RENEW, SAVE},
};
use crate::{IntentLease, IntentRest, IntentStatus, IntentStore};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn only_the_holder_changes_a_row(&self) {
        let hold = self.begun("fenced", "w1", OVER).await;
        let saved = self.store.save(&hold, "s1", OVER).await;
        HELD.is("began with a lease of zero, then saved before any other claim", saved, Ok(()));
        SAVE.is("saved \"s1\"", &*self.row("fenced").await.state, "s1");
        let claimed = self.claim("w2", 10, HOUR).await;
        let done = "let the lease of w1 end, then claimed for w2";
        let Some(taken) = claimed.iter().find(|intent| intent.key.reference == "fenced") else {
            CLAIM.broken(done, "\"fenced\" among the claimed", &format!("{claimed:?}"))
        };
        CLAIM.is(done, (taken.fence, &*taken.state, taken.claims), (2, "s1", 1));
        let new_hold = hold_of(taken);
        let wrong_owner = IntentLease { owner: "w1".to_owned(), ..new_hold.clone() };
        let wrong_fence = IntentLease { owner: "w2".to_owned(), ..hold.clone() };
        let before = self.row("fenced").await;
        for lost in [&hold, &wrong_owner, &wrong_fence] {
            self.changes_nothing("w2 had it under fencing number 2", lost).await;
            let done = format!("w2 had it under fencing number 2; called all methods with {lost:?}");
            Self::unchanged(FENCED, &done, &self.row("fenced").await, &before);
        }
        SAVE.is("saved \"s2\" under the lease", self.store.save(&new_hold, "s2", OVER).await, Ok(()));
        SAVE.is("saved with a lease of zero: is due", self.row("fenced").await.is_due(), true);
        SAVE.is("saved \"s2\" under the lease", self.store.save(&new_hold, "s2", HOUR).await, Ok(()));
        let row = self.row("fenced").await;
        SAVE.is("saved \"s2\" with a lease of an hour: state, is due", (&*row.state, row.is_due()), ("s2", false));
        RENEW.is("renewed under the lease", self.store.renew(&new_hold, OVER).await, Ok(()));
        RENEW.is("renewed with a lease of zero: is due", self.row("fenced").await.is_due(), true);
        RELEASE.is("released under the lease", self.store.release(&new_hold, HOUR).await, Ok(()));
        let row = self.row("fenced").await;
        RELEASE.is("released for an hour: owner, is due", (row.owner.as_deref(), row.is_due()), (None, false));
        self.changes_nothing("released", &new_hold).await;
        Self::unchanged(FENCED, "released, then called all methods with that lease", &self.row("fenced").await, &row);
    }

    /// Checks that every change with this lease is refused.
    pub(super) async fn changes_nothing(&self, before: &str, lost: &IntentLease) {
        let done = |method| format!("{before}; then called {method} with {lost:?}");
        let rest = IntentRest { state: "stale".to_owned(), asks: Some("page".to_owned()), heard: 9, wake: OVER };
        let end = ending(IntentStatus::Ended, "else", None);
        FENCED.is(&done("save"), self.store.save(lost, "stale", HOUR).await, LOST);
        FENCED.is(&done("renew"), self.store.renew(lost, HOUR).await, LOST);
        FENCED.is(&done("release"), self.store.release(lost, OVER).await, LOST);
        FENCED.is(&done("rest"), self.store.rest(lost, rest).await, LOST);
        FENCED.is(&done("end"), self.store.end(lost, end).await, LOST);
    }

    pub(super) async fn only_claims_that_workers_did_not_release_count(&self) {
        let take = async |owner, lease| self.take("counted claims", owner, lease).await;
        let release = async |hold: &IntentLease| {
            RELEASE.is("released under the lease", self.store.release(hold, OVER).await, Ok(()));
            self.row("counted claims").await.claims
        };
        let begun = self.begun("counted claims", "w1", HOUR).await;
        RELEASE_CLAIMS.is("began, then released: claims", release(&begun).await, 0);
        for _ in 0..2 {
            CLAIM_COUNTS.is("claimed a released intent: claims", take("w2", HOUR).await.claims, 1);
            let row = take("w2", HOUR).await;
            CLAIM_COUNTS.is("claimed it again before the own lease ended: claims", row.claims, 1);
            RELEASE_CLAIMS.is("released it: claims", release(&hold_of(&row)).await, 0);
        }
        let claims = (take("w2", OVER).await.claims, take("w2", OVER).await.claims);
        CLAIM_COUNTS.is("claimed twice, with leases that ended: claims", claims, (1, 2));
        let last = take("w3", HOUR).await;
        CLAIM_COUNTS.is("claimed a third time: claims", last.claims, 3);
        RELEASE_CLAIMS.is("released after the third claim: claims", release(&hold_of(&last)).await, 2);
        let row = take("w3", HOUR).await;
        CLAIM_COUNTS.is("claimed once more: claims", row.claims, 3);
        self.finish(&row).await;
    }
}
