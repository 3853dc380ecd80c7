//! Claims: which intents a worker gets.

use super::{
    HOUR, OVER, Suite, hold_of, kinds, known,
    promise::{BEGIN, CLAIM, CLAIM_KINDS, CLAIM_ONCE, CLAIM_ONE, CLAIM_ONE_NONE, RELEASE},
};
use crate::{Begun, Claimed, IntentRow, IntentStore, NewIntent};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn claims_take_what_is_due_and_nothing_twice(&self) {
        // In another order than that of their names.
        let mut due = Vec::new();
        for number in [3, 1, 4, 0, 2] {
            self.submitted(&format!("due {number}")).await;
            due.push(self.row(&format!("due {number}")).await.due);
        }
        self.begun("held", "w9", HOUR).await;
        let first = self.claim("w1", 3, HOUR).await;
        let second = self.claim("w2", 100, HOUR).await;
        CLAIM.is("five were due; claimed at most 3: how many", first.len(), 3);
        let mut all: Vec<&str> = first.iter().chain(&second).map(|intent| &*intent.key.reference).collect();
        all.sort_unstable();
        let done = "five were due and \"held\" was not; claimed at most 3 for w1, then all for w2";
        CLAIM.is(done, all, ["due 0", "due 1", "due 2", "due 3", "due 4"]);
        let mut times: Vec<i64> = first.iter().map(|intent| intent.created).collect();
        times.sort_unstable();
        CLAIM.is("five were due; claimed at most 3: the times since which they were due", times, &due[..3]);
        CLAIM.is("claimed all that were due, then claimed again", self.claim("w3", 100, HOUR).await, []);
        for intent in first.iter().chain(&second) {
            let found = self.row(&intent.key.reference).await;
            Self::unchanged(CLAIM, "claimed, then read what the claim returned", &found, intent);
            self.finish(intent).await;
        }
    }

    pub(super) async fn claims_at_the_same_time_take_nothing_twice(&self) {
        let suite = self.apart("race");
        for number in 0..6 {
            suite.submitted(&format!("due {number}")).await;
        }
        let (one, two, three) =
            tokio::join!(suite.claim("w1", 4, HOUR), suite.claim("w2", 4, HOUR), suite.claim("w3", 4, HOUR));
        let all: Vec<IntentRow> = [one, two, three].concat();
        let done = "six were due; claimed at most 4 for w1, w2 and w3 at the same time";
        for intent in &all {
            let found = suite.row(&intent.key.reference).await;
            CLAIM_ONCE.is(done, (found.owner.as_deref(), found.fence), (intent.owner.as_deref(), 2));
        }
        // A database may have skipped rows that another claim was about to take.
        let rest = suite.claim("w4", 10, HOUR).await;
        CLAIM_ONCE.is(&format!("{done}, then the rest: how many"), all.len() + rest.len(), 6);
        for reference in ["one 1", "one 2"] {
            suite.submitted(reference).await;
            let key = suite.key(reference);
            let take = async |owner| self.store.claim_one(&key, owner, HOUR, &known()).await;
            let all = tokio::join!(take("w1"), take("w2"));
            let taken = [&all.0, &all.1].into_iter().filter(|one| matches!(one, Ok(Some(Claimed::Taken(_))))).count();
            let done = format!("claimed {reference:?} for w1 and w2 at the same time");
            CLAIM_ONCE.holds(&done, taken == 1, &all, "Taken for one of them");
        }
    }

    /// The order in which intents were created is another one.
    pub(super) async fn the_longest_due_is_claimed_first(&self) {
        let suite = self.apart("order");
        suite.submitted("older").await;
        suite.submitted("newer").await;
        suite.take("older", "w1", OVER).await;
        // They are equal if the clock stands still.
        if suite.row("older").await.due > suite.row("newer").await.due {
            let claimed = suite.claim("w2", 1, HOUR).await;
            let found: Vec<&str> = claimed.iter().map(|row| &*row.key.reference).collect();
            CLAIM.is("began two, and the lease of the older one ended later; claimed at most 1", found, ["newer"]);
        }
    }

    pub(super) async fn one_intent_is_claimed_by_its_own_worker_or_when_due(&self) {
        self.begun("single", "w1", HOUR).await;
        let before = self.row("single").await;
        let claim = async |owner: &str| self.store.claim_one(&self.key("single"), owner, HOUR, &known()).await;
        let done = "claimed \"single\" for w2, while the lease of w1 held";
        match claim("w2").await {
            Ok(Some(Claimed::Not(row))) => Self::unchanged(CLAIM_ONE, done, &row, &before),
            other => CLAIM_ONE.broken(done, "Not, with the row of w1", &format!("{other:?}")),
        }
        Self::unchanged(CLAIM_ONE, done, &self.row("single").await, &before);
        let taken = async |owner, lease| self.take("single", owner, lease).await.fence;
        CLAIM_ONE.is("claimed it for w1, whose lease held: fence", taken("w1", OVER).await, 2);
        CLAIM_ONE.is("claimed it for w2 after the lease of w1 ended: fence", taken("w2", HOUR).await, 3);
        let hold = hold_of(&self.row("single").await);
        RELEASE.is("released under the lease", self.store.release(&hold, HOUR).await, Ok(()));
        CLAIM_ONE.is("released it for an hour, then claimed it for w1: fence", taken("w1", HOUR).await, 4);
        let found = self.store.claim_one(&self.key("nothing"), "w1", HOUR, &known()).await;
        CLAIM_ONE_NONE.is("claimed \"nothing\", which was not begun", found, Ok(None));
    }

    pub(super) async fn unknown_kinds_and_later_versions_are_left_alone(&self) {
        let suite = self.apart("kinds");
        let new = NewIntent { version: 2, ..suite.fresh("newer", None, OVER) };
        BEGIN.is("began a charge of version 2", self.store.begin(new).await, Ok(Begun::New));
        let before = suite.row("newer").await;
        for other in [kinds("checkout", 9), known()] {
            let done = format!("a charge of version 2 was due; claimed {other:?}");
            CLAIM_KINDS.is(&done, self.store.claim(&suite.account, "w1", 10, HOUR, &other).await, Ok(vec![]));
            let one = self.store.claim_one(&suite.key("newer"), "w1", HOUR, &other).await;
            CLAIM_KINDS.holds(&done, matches!(one, Ok(Some(Claimed::Not(_)))), &one, "Not");
            Self::unchanged(CLAIM_KINDS, &done, &suite.row("newer").await, &before);
        }
        let taken = self.store.claim(&suite.account, "w2", 10, OVER, &kinds("charge authCardKey", 3)).await;
        let versions = taken.map(|rows| rows.iter().map(|row| row.version).collect());
        CLAIM_KINDS.is("claimed it as version 3: its version", versions, Ok(vec![3]));
        let older = self.store.claim(&suite.account, "w1", 10, HOUR, &kinds("charge authCardKey", 2)).await;
        CLAIM_KINDS.is("claimed it as version 3, then as version 2", older, Ok(vec![]));
        suite.submitted("known").await;
        let claimed = suite.claim("w1", 1, HOUR).await;
        let found: Vec<&str> = claimed.iter().map(|row| &*row.key.reference).collect();
        CLAIM_KINDS.is("version 3 was due, then version 1; claimed at most 1 as version 1", found, ["known"]);
    }
}
