//! The conformance test of a store: checks each promise of [`IntentStore`].
//!
//! A store of your own passes if [`check`] ends without a panic, over an empty database:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), pg_intents::StoreError> {
//! let store = pg_intents::SqliteStore::in_memory(|| 1_700_000_000_000)?;
//! pg_intents::conformance::check(&store, "run 1").await;
//! # Ok(())
//! # }
//! ```
//!
//! It needs no clock: leases that must be expired have a duration of zero, and leases that must hold last an hour. But a clock that
//! stands still conceals a wrong order of claims and lists, and outcomes that stay hidden, so let it run at least once.
//! [`check_durable`] checks the same data through several stores, as processes that are started and killed have them. The guide
//! `docs/guide/own-store.md` lists what neither finds.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use promise::{BEGIN, BEGIN_FREE, BEGIN_ONCE, CLAIM, CLAIM_ONE, CLOCK, END, ENLIST, FIND, Promise, UNTOLD};

use crate::{
    Begun, Claimed, IntentEnd, IntentKey, IntentKind, IntentLease, IntentRow, IntentStatus, IntentStore, NewIntent,
    StoreError,
};

mod again;
mod claims;
mod durable;
mod ends;
mod events;
mod fences;
mod kept;
mod leases;
mod lists;
mod promise;
mod races;
mod rewriting;
mod shares;
mod texts;
mod unknown;

pub use durable::check_durable;
pub use rewriting::check_rewriting;

const HOUR: Duration = Duration::from_secs(3600);
const OVER: Duration = Duration::ZERO;

/// Checks a store. `run` distinguishes the rows of this run from those of other runs in the same database.
///
/// # Panics
/// If the store breaks a promise: the message says which, what was done, what was expected and what was found.
pub async fn check<S: IntentStore>(store: &S, run: &str) {
    let suite = Suite { store, account: format!("conformance {run}") };
    suite.workers_have_names_of_their_own().await;
    suite.workers_enlist_at_the_same_time().await;
    suite.a_reference_is_begun_once().await;
    suite.a_reference_is_begun_once_by_calls_at_the_same_time().await;
    suite.a_reference_is_begun_once_whatever_has_become_of_it().await;
    suite.only_the_holder_changes_a_row().await;
    suite.only_claims_that_workers_did_not_release_count().await;
    suite.claims_take_what_is_due_and_nothing_twice().await;
    suite.claims_at_the_same_time_take_nothing_twice().await;
    suite.the_longest_due_is_claimed_first().await;
    suite.one_intent_is_claimed_by_its_own_worker_or_when_due().await;
    suite.ends_are_final_unless_unknown().await;
    suite.outcomes_are_told_until_acknowledged().await;
    suite.an_outcome_is_read_once_at_the_same_time().await;
    suite.operators_take_the_lease_away().await;
    suite.histories_are_bounded().await;
    suite.lists_are_filtered().await;
    suite.accounts_are_listed_once_each().await;
    suite.accounts_are_apart().await;
    suite.intents_of_accounts_are_apart().await;
    suite.shares_are_disjoint().await;
    suite.shares_at_the_same_time_are_disjoint().await;
    suite.shares_rest_for_as_long_as_they_are_told().await;
    suite.shares_of_a_larger_total_are_remembered().await;
    suite.shares_are_taken_no_longer_than_the_longest_lease().await;
    suite.a_stop_is_seen_by_all().await;
    suite.odd_references_are_different().await;
    suite.odd_accounts_are_different().await;
    suite.every_text_comes_back_as_it_went().await;
    suite.unknown_kinds_and_later_versions_are_left_alone().await;
    suite.events_wait_for_the_machine().await;
    suite.events_use_up_no_planned_lookup().await;
    suite.rests_keep_the_planned_lookup().await;
    suite.planned_lookups_are_counted_once_each().await;
    suite.an_event_gives_a_parked_intent_one_claim().await;
    suite.events_wait_through_every_call().await;
    suite.outcomes_keep_their_numbers_through_every_call().await;
    suite.an_outcome_is_read_again_after_its_visibility().await;
    suite.events_that_arrive_during_a_change_are_kept().await;
    suite.events_that_arrive_during_other_calls_are_kept().await;
    suite.a_claim_during_a_change_takes_the_lease_or_sees_the_change().await;
    suite.a_directive_during_a_change_takes_the_lease_or_sees_the_change().await;
    suite.an_outcome_that_is_read_during_the_end_is_kept().await;
}

struct Suite<'a, S> {
    store: &'a S,
    account: String,
}

impl<S: IntentStore> Suite<'_, S> {
    fn key(&self, reference: &str) -> IntentKey {
        IntentKey::new(&*self.account, reference)
    }

    /// Returns the same store with another account.
    fn apart(&self, account: &str) -> Suite<'_, S> {
        Suite { store: self.store, account: format!("{} {account}", self.account) }
    }

    fn fresh(&self, reference: &str, owner: Option<&str>, lease: Duration) -> NewIntent {
        NewIntent {
            key: self.key(reference),
            kind: "charge authCardKey".to_owned(),
            digest: "d1".to_owned(),
            request: Some("[]".to_owned()),
            state: "s0".to_owned(),
            version: 1,
            owner: owner.map(str::to_owned),
            lease,
        }
    }

    async fn submitted(&self, reference: &str) {
        let done = format!("began {reference:?} without an owner");
        BEGIN.is(&done, self.store.begin(self.fresh(reference, None, OVER)).await, Ok(Begun::New));
    }

    async fn begun(&self, reference: &str, owner: &str, lease: Duration) -> IntentLease {
        let begun = self.store.begin(self.fresh(reference, Some(owner), lease)).await;
        let done = format!("began {reference:?} of {:?}, which was new, for {owner}", self.account);
        BEGIN.is(&done, begun, Ok(Begun::New));
        IntentLease { key: self.key(reference), owner: owner.to_owned(), fence: 1 }
    }

    async fn row(&self, reference: &str) -> IntentRow {
        let done = format!("read {reference:?}, which was begun before");
        match FIND.ok(&done, self.store.find(&self.key(reference)).await) {
            Some(row) => row,
            None => FIND.broken(&done, "its row", "None"),
        }
    }

    /// Checks that a row is as it was, and names the fields that are not.
    #[track_caller]
    fn unchanged(promise: Promise, done: &str, found: &IntentRow, before: &IntentRow) {
        let [found, before] = [found, before].map(|row| format!("{:?}", IntentRow { read_at: 0, ..row.clone() }));
        let [now, then] = [(&found, &before), (&before, &found)].map(|(one, other)| {
            let other: Vec<&str> = other.split(", ").collect();
            one.split(", ").filter(|field| !other.contains(field)).collect::<Vec<_>>().join(", ")
        });
        promise.is(done, now, then);
    }

    async fn claim(&self, owner: &str, most: u32, lease: Duration) -> Vec<IntentRow> {
        let claimed = self.store.claim(&self.account, owner, most, lease, &known()).await;
        CLAIM.ok(&format!("claimed at most {most} for {owner}"), claimed)
    }

    /// Claims one intent, which must be free for this worker.
    async fn take(&self, reference: &str, owner: &str, lease: Duration) -> IntentRow {
        match self.store.claim_one(&self.key(reference), owner, lease, &known()).await {
            Ok(Some(Claimed::Taken(row))) => *row,
            other => {
                let done = format!("claimed {reference:?}, which was free, for {owner}");
                CLAIM_ONE.broken(&done, "Taken", &format!("{other:?}"))
            }
        }
    }

    async fn end(&self, done: &str, hold: &IntentLease, end: IntentEnd) {
        END.is(done, self.store.end(hold, end).await, Ok(()));
    }

    /// Reads the outbox: the numbers of outcomes, and the outcomes.
    async fn outbox(&self, visibility: Duration) -> Vec<(i32, String)> {
        let rows = UNTOLD.ok("read the outbox", self.store.untold(&self.account, 10, visibility).await);
        rows.into_iter().map(|row| (row.event, row.outcome.unwrap_or_default())).collect()
    }

    /// Ends an intent, so that it is not in the way of later checks.
    async fn finish(&self, row: &IntentRow) {
        self.end("ended a claimed intent under its lease", &hold_of(row), ending(IntentStatus::Ended, "{}", None))
            .await;
    }

    async fn workers_have_names_of_their_own(&self) {
        let one = ENLIST.ok("enlisted `same`", self.store.enlist("same").await);
        let other = ENLIST.ok("enlisted `same` again", self.store.enlist("same").await);
        ENLIST.holds("enlisted `same` twice", one != other, &(&one, &other), "two different names");
        ENLIST.holds("enlisted `same`", one.starts_with("same"), &one, "a name that begins with `same`");
    }

    async fn a_reference_is_begun_once(&self) {
        self.begun("once", "w1", HOUR).await;
        let before = self.row("once").await;
        let again =
            NewIntent { state: "other".to_owned(), digest: "d2".to_owned(), ..self.fresh("once", Some("w2"), HOUR) };
        let done = "began \"once\" for w1, then for w2 with another state and digest";
        match self.store.begin(again).await {
            Ok(Begun::Existing(found)) => Self::unchanged(BEGIN, done, &found, &before),
            other => BEGIN.broken(done, "Existing, with the row of w1", &format!("{other:?}")),
        }
        let found = self.row("once").await;
        Self::unchanged(BEGIN, done, &found, &before);
        let texts = (&*found.state, &*found.digest, found.request.as_deref(), &found.outcome, found.owner.as_deref());
        BEGIN.is("began \"once\" for w1", texts, ("s0", "d1", Some("[]"), &None, Some("w1")));
        let counts = (found.status, found.fence, found.claims, found.event, found.told);
        BEGIN.is("began: status, fence, claims, event, told", counts, (IntentStatus::Open, 1, 0, 0, 0));
        CLOCK.is("began with a lease of an hour: due - created", found.due - found.created, 3_600_000);
        self.apart("other").begun("once", "w1", HOUR).await;
        let found = self.store.find(&self.key("nothing")).await;
        FIND.is("read \"nothing\", which was not begun", found, Ok(None));
        let new = self.fresh("submitted", None, HOUR);
        BEGIN.is("began \"submitted\" without an owner", self.store.begin(new).await, Ok(Begun::New));
        let row = self.row("submitted").await;
        BEGIN_FREE.is("began with a lease of an hour and no owner: is due", row.is_due(), true);
        self.finish(&self.take("submitted", "w1", HOUR).await).await;
    }

    async fn a_reference_is_begun_once_by_calls_at_the_same_time(&self) {
        let begin = async |owner| (owner, self.store.begin(self.fresh("race", Some(owner), HOUR)).await);
        let (one, two, three, four) = tokio::join!(begin("w1"), begin("w2"), begin("w3"), begin("w4"));
        let all = [one, two, three, four];
        let done = "began \"race\" for w1, w2, w3 and w4 at the same time";
        let new: Vec<&str> =
            all.iter().filter(|(_, begun)| *begun == Ok(Begun::New)).map(|(owner, _)| *owner).collect();
        BEGIN_ONCE.holds(done, new.len() == 1, &all, "New for one of them");
        BEGIN_ONCE.is(done, self.row("race").await.owner.as_deref(), new.first().copied());
    }
}

fn ending(status: IntentStatus, outcome: &str, wake: Option<Duration>) -> IntentEnd {
    IntentEnd { status, state: "last".to_owned(), outcome: outcome.to_owned(), wake, heard: 0, quiet: OVER }
}

/// Returns the lease of a row that was claimed.
fn hold_of(row: &IntentRow) -> IntentLease {
    row.hold().unwrap_or_else(|| CLAIM.broken("claimed an intent", "a row with an owner", &format!("{row:?}")))
}

/// Returns the kinds and versions of a worker.
fn known() -> [IntentKind; 1] {
    kinds("charge authCardKey", 1)
}

fn kinds(name: &str, version: i32) -> [IntentKind; 1] {
    [IntentKind { name: name.to_owned(), version }]
}

/// The error of a call without the lease.
const LOST: Result<(), StoreError> = Err(StoreError::Lost);
