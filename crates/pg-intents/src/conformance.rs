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
//! It needs no clock: leases that must be expired have a duration of zero, and leases that must hold last an hour.

#![expect(clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use crate::{
    Begun, Claimed, Directive, EVENTS, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest,
    IntentRow, IntentStatus, IntentStore, NewIntent, StoreError,
};

mod accounts;
mod rewriting;
mod shares;
mod unknown;

pub use rewriting::check_rewriting;

const HOUR: Duration = Duration::from_secs(3600);
const OVER: Duration = Duration::ZERO;

/// Checks a store. `run` distinguishes the rows of this run from those of other runs in the same database.
///
/// # Panics
/// If the store breaks a promise: the message, or the function in which the assertion fails, says which.
pub async fn check<S: IntentStore>(store: &S, run: &str) {
    let suite = Suite { store, account: format!("conformance {run}") };
    suite.workers_have_names_of_their_own().await;
    suite.a_reference_is_begun_once().await;
    suite.only_the_holder_changes_a_row().await;
    suite.only_claims_that_workers_did_not_release_count().await;
    suite.claims_take_what_is_due_and_nothing_twice().await;
    suite.one_intent_is_claimed_by_its_own_worker_or_when_due().await;
    suite.ends_are_final_unless_unknown().await;
    suite.outcomes_are_told_until_acknowledged().await;
    suite.operators_take_the_lease_away().await;
    suite.histories_are_bounded().await;
    suite.lists_are_filtered().await;
    suite.accounts_are_listed_once_each().await;
    suite.shares_are_disjoint().await;
    suite.shares_rest_for_as_long_as_they_are_told().await;
    suite.shares_are_taken_no_longer_than_the_longest_lease().await;
    suite.a_stop_is_seen_by_all().await;
    suite.odd_texts_come_back_as_they_went().await;
    suite.unknown_kinds_and_later_versions_are_left_alone().await;
    suite.events_wait_for_the_machine().await;
    suite.events_use_up_no_planned_lookup().await;
    suite.planned_lookups_are_counted_once_each().await;
    suite.an_event_gives_a_parked_intent_one_claim().await;
}

struct Suite<'a, S> {
    store: &'a S,
    account: String,
}

impl<S: IntentStore> Suite<'_, S> {
    fn key(&self, reference: &str) -> IntentKey {
        IntentKey::new(&*self.account, reference)
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

    async fn begun(&self, reference: &str, owner: &str, lease: Duration) -> IntentLease {
        let begun = self.store.begin(self.fresh(reference, Some(owner), lease)).await;
        assert_eq!(begun, Ok(Begun::New), "a new reference is begun");
        IntentLease { key: self.key(reference), owner: owner.to_owned(), fence: 1 }
    }

    async fn row(&self, reference: &str) -> IntentRow {
        let found = self.store.find(&self.key(reference)).await.expect("find answers");
        found.expect("what was stored is found")
    }

    async fn claim(&self, owner: &str, most: u32, lease: Duration) -> Vec<IntentRow> {
        self.store.claim(&self.account, owner, most, lease, &known()).await.expect("claim answers")
    }

    fn end(status: IntentStatus, outcome: &str, wake: Option<Duration>) -> IntentEnd {
        IntentEnd { status, state: "last".to_owned(), outcome: outcome.to_owned(), wake, heard: 0, quiet: OVER }
    }

    async fn workers_have_names_of_their_own(&self) {
        let one = self.store.enlist("same").await.expect("enlist answers");
        let other = self.store.enlist("same").await.expect("enlist answers");
        assert_ne!(one, other, "two workers of one name have different ids");
        assert!(one.starts_with("same"), "a worker's name begins with what it was given: {one}");
    }

    async fn a_reference_is_begun_once(&self) {
        let new = self.fresh("once", Some("w1"), HOUR);
        assert_eq!(self.store.begin(new.clone()).await, Ok(Begun::New));
        let again =
            NewIntent { state: "other".to_owned(), digest: "d2".to_owned(), ..self.fresh("once", Some("w2"), HOUR) };
        let Ok(Begun::Existing(found)) = self.store.begin(again).await else {
            panic!("a second intent under one reference")
        };
        assert_eq!(*found, self.row("once").await.at(found.read_at), "the existing row is shown");
        assert_eq!((&*found.state, &*found.digest, found.fence), ("s0", "d1", 1), "the row is unchanged");
        assert_eq!(
            (found.status, found.claims, found.event, found.told),
            (IntentStatus::Open, 0, 0, 0),
            "after begin the status is open, and claims, event and told are 0"
        );
        assert_eq!(
            (found.owner.as_deref(), found.request.as_deref(), &found.outcome),
            (Some("w1"), Some("[]"), &None),
            "after begin there are the owner and the request, and no outcome"
        );
        assert_eq!(found.due - found.created, 3_600_000, "the lease runs by the store's clock");
        let elsewhere = NewIntent { key: IntentKey::new(format!("{} other", self.account), "once"), ..new };
        assert_eq!(self.store.begin(elsewhere).await, Ok(Begun::New), "another account has its own references");
        assert_eq!(self.store.find(&self.key("nothing")).await, Ok(None), "an intent that was not begun is not found");
    }

    async fn only_the_holder_changes_a_row(&self) {
        let hold = self.begun("fenced", "w1", OVER).await;
        assert_eq!(self.store.save(&hold, "s1", OVER).await, Ok(()), "an expired lease is still held");
        assert_eq!(self.row("fenced").await.state, "s1", "save stores the state");
        let claimed = self.claim("w2", 10, HOUR).await;
        let taken = claimed.iter().find(|intent| intent.key.reference == "fenced").expect("a lapsed lease is claimed");
        assert_eq!((taken.fence, &*taken.state, taken.claims), (2, "s1", 1), "a claim raises the fencing number");
        let new_hold = taken.hold().expect("a claimed row has an owner");
        let wrong_owner = IntentLease { owner: "w1".to_owned(), ..new_hold.clone() };
        let wrong_fence = IntentLease { owner: "w2".to_owned(), ..hold.clone() };
        for lost in [&hold, &wrong_owner, &wrong_fence] {
            let end = Self::end(IntentStatus::Ended, "{}", None);
            assert_eq!(self.store.save(lost, "stale", HOUR).await, Err(StoreError::Lost), "save without the lease");
            assert_eq!(self.store.renew(lost, HOUR).await, Err(StoreError::Lost), "renew without the lease");
            assert_eq!(self.store.release(lost, OVER).await, Err(StoreError::Lost), "release without the lease");
            assert_eq!(self.store.end(lost, end).await, Err(StoreError::Lost), "end without the lease");
        }
        let row = self.row("fenced").await;
        assert_eq!(
            (&*row.state, row.outcome.as_deref(), row.owner.as_deref()),
            ("s1", None, Some("w2")),
            "nothing changed"
        );
        assert_eq!(self.store.save(&new_hold, "s2", HOUR).await, Ok(()));
        assert_eq!(self.store.renew(&new_hold, OVER).await, Ok(()));
        assert!(self.row("fenced").await.is_due(), "renew sets the end of the lease");
        assert_eq!(self.store.release(&new_hold, HOUR).await, Ok(()));
        let row = self.row("fenced").await;
        assert_eq!((row.owner.as_deref(), row.is_due()), (None, false), "a released intent waits for its wake");
        assert_eq!(self.store.save(&new_hold, "s3", HOUR).await, Err(StoreError::Lost), "save after release");
    }

    async fn only_claims_that_workers_did_not_release_count(&self) {
        let key = self.key("counted claims");
        let begun = self.begun("counted claims", "w1", HOUR).await;
        assert_eq!(self.store.release(&begun, OVER).await, Ok(()));
        let take = async |owner, lease| match self.store.claim_one(&key, owner, lease, &known()).await {
            Ok(Some(Claimed::Taken(row))) => *row,
            other => panic!("it is claimed: {other:?}"),
        };
        for _ in 0..2 {
            let row = take("w2", HOUR).await;
            assert_eq!(row.claims, 1, "a claim counts while the worker works");
            assert_eq!(take("w2", HOUR).await.claims, 1, "a worker that takes its own intent again has not died on it");
            let hold = self.row("counted claims").await.hold().expect("an owner");
            assert_eq!(self.store.release(&hold, OVER).await, Ok(()));
            assert_eq!(self.row("counted claims").await.claims, 0, "a worker that releases it has not failed");
        }
        assert_eq!(
            (take("w2", OVER).await.claims, take("w2", OVER).await.claims),
            (1, 2),
            "the leases ended without it"
        );
        let last = take("w3", HOUR).await;
        let hold = last.hold().expect("an owner");
        assert_eq!(self.store.release(&hold, OVER).await, Ok(()));
        let row = take("w3", HOUR).await;
        assert_eq!((last.claims, row.claims), (3, 3), "a release takes back its own claim only");
        let hold = row.hold().expect("an owner");
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "{}", None)).await, Ok(()));
    }

    async fn claims_take_what_is_due_and_nothing_twice(&self) {
        for number in 0..5 {
            let new = self.fresh(&format!("due {number}"), None, OVER);
            assert_eq!(self.store.begin(new).await, Ok(Begun::New));
        }
        self.begun("held", "w9", HOUR).await;
        let first = self.claim("w1", 3, HOUR).await;
        let second = self.claim("w2", 100, HOUR).await;
        assert_eq!(first.len(), 3, "a batch is bounded");
        let mut all: Vec<&str> = first.iter().chain(&second).map(|intent| &*intent.key.reference).collect();
        all.sort_unstable();
        assert_eq!(all, ["due 0", "due 1", "due 2", "due 3", "due 4"], "each one once, and none that is held");
        assert_eq!(self.claim("w3", 100, HOUR).await, [], "nothing is left");
        for intent in first.iter().chain(&second) {
            let hold = intent.hold().expect("an owner");
            assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "{}", None)).await, Ok(()));
        }
    }

    async fn one_intent_is_claimed_by_its_own_worker_or_when_due(&self) {
        self.begun("single", "w1", HOUR).await;
        let taken = async |owner: &str, lease| match self
            .store
            .claim_one(&self.key("single"), owner, lease, &known())
            .await
            .expect("claim_one answers")
        {
            Some(Claimed::Taken(intent)) => Some(intent.fence),
            Some(Claimed::Not(_)) => None,
            None => panic!("the intent exists"),
        };
        assert_eq!(taken("w2", HOUR).await, None, "another worker's lease holds");
        assert_eq!(taken("w1", OVER).await, Some(2), "a worker takes its own again, under a new number");
        assert_eq!(taken("w2", HOUR).await, Some(3), "a lapsed lease is taken");
        let hold = self.row("single").await.hold().expect("an owner");
        assert_eq!(self.store.release(&hold, HOUR).await, Ok(()));
        assert_eq!(taken("w1", HOUR).await, Some(4), "one without an owner is taken before its wake");
        assert_eq!(self.store.claim_one(&self.key("nothing"), "w1", HOUR, &known()).await, Ok(None));
    }

    async fn ends_are_final_unless_unknown(&self) {
        let hold = self.begun("ends", "w1", HOUR).await;
        let unknown = Self::end(IntentStatus::Unknown, "unknown", Some(OVER));
        assert_eq!(self.store.end(&hold, unknown.clone()).await, Ok(()));
        let row = self.row("ends").await;
        assert_eq!(
            (row.status, row.event, row.owner.as_deref(), row.is_due()),
            (IntentStatus::Unknown, 1, None, true),
            "an unknown end is event 1, without an owner, due at its wake"
        );
        assert_eq!((&*row.state, row.outcome.as_deref()), ("last", Some("unknown")));
        let claimed = self.claim("w2", 10, HOUR).await;
        let again = claimed.iter().find(|intent| intent.key.reference == "ends").expect("an unknown one is claimed");
        assert_eq!((again.status, again.claims), (IntentStatus::Unknown, 1));
        let hold = again.hold().expect("an owner");
        assert_eq!(self.store.end(&hold, unknown).await, Ok(()));
        assert_eq!(self.row("ends").await.event, 1, "the same outcome is not reported again");
        let claimed = self.claim("w2", 10, HOUR).await;
        let hold = claimed.iter().find_map(IntentRow::hold).expect("claimed again");
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "paid", None)).await, Ok(()));
        let row = self.row("ends").await;
        assert_eq!(
            (row.status, row.event, row.claims),
            (IntentStatus::Ended, 2, 0),
            "a later end is the next event, and sets claims to 0"
        );
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "else", None)).await, Err(StoreError::Lost));
        assert_eq!(self.store.save(&hold, "s", HOUR).await, Err(StoreError::Lost), "save after the end");
        let Ok(Some(Claimed::Not(row))) = self.store.claim_one(&self.key("ends"), "w3", HOUR, &known()).await else {
            panic!("an ended intent was claimed")
        };
        assert_eq!(row.outcome.as_deref(), Some("paid"), "an ended intent keeps its outcome");
    }

    async fn outcomes_are_told_until_acknowledged(&self) {
        let account = format!("{} outbox", self.account);
        let key = IntentKey::new(&*account, "told");
        let new = NewIntent { key: key.clone(), ..self.fresh("told", Some("w1"), HOUR) };
        assert_eq!(self.store.begin(new).await, Ok(Begun::New));
        let untold = async |visibility| self.store.untold(&account, 10, visibility).await.expect("untold answers");
        assert_eq!(untold(OVER).await, [], "no outcome, nothing to tell");
        let hold = IntentLease { key: key.clone(), owner: "w1".to_owned(), fence: 1 };
        let end = Self::end(IntentStatus::Unknown, "unknown", Some(OVER));
        assert_eq!(self.store.end(&hold, end).await, Ok(()));
        let told: Vec<_> = untold(OVER).await.into_iter().map(|intent| (intent.event, intent.outcome)).collect();
        assert_eq!(told, [(1, Some("unknown".to_owned()))], "untold returns the event and its outcome");
        assert_eq!(untold(HOUR).await.len(), 1, "an unacknowledged outcome is reported again");
        assert_eq!(untold(HOUR).await, [], "not reported while another consumer has it");
        let claimed = self.store.claim(&account, "w2", 10, HOUR, &known()).await.expect("claim answers");
        let hold = claimed[0].hold().expect("an owner");
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "paid", None)).await, Ok(()));
        assert_eq!(self.store.told(&key, 1).await, Ok(()), "the earlier outcome is acknowledged late");
        let told: Vec<_> = untold(OVER).await.into_iter().map(|intent| (intent.event, intent.outcome)).collect();
        assert_eq!(told, [(2, Some("paid".to_owned()))], "the later outcome is reported nevertheless");
        assert_eq!(self.store.told(&key, 3).await, Ok(()));
        assert_eq!(untold(OVER).await.len(), 1, "an event that does not exist cannot be acknowledged");
        assert_eq!(self.store.told(&key, 2).await, Ok(()));
        assert_eq!(untold(OVER).await, [], "acknowledged");
    }

    async fn operators_take_the_lease_away(&self) {
        let hold = self.begun("parked", "w1", HOUR).await;
        let key = self.key("parked");
        assert_eq!(self.store.direct(&key, Directive::Park).await, Ok(true));
        assert_eq!(self.store.save(&hold, "s", HOUR).await, Err(StoreError::Lost), "the worker loses a parked intent");
        assert!(self.claim("w2", 100, HOUR).await.iter().all(|intent| intent.key != key), "no worker takes it");
        assert!(matches!(self.store.claim_one(&key, "w2", HOUR, &known()).await, Ok(Some(Claimed::Not(_)))));
        assert_eq!(self.store.direct(&key, Directive::Reconcile).await, Ok(true));
        let claimed = self.claim("w2", 100, HOUR).await;
        let hold = claimed.iter().find(|intent| intent.key == key).and_then(IntentRow::hold).expect("it goes on");
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "paid", None)).await, Ok(()));
        for directive in [Directive::Park, Directive::Reconcile] {
            assert_eq!(self.store.direct(&key, directive).await, Ok(false), "what has ended stays as it is");
        }
        assert_eq!(self.store.direct(&self.key("nothing"), Directive::Park).await, Ok(false));
    }

    async fn histories_are_bounded(&self) {
        self.begun("long", "w1", OVER).await;
        for _ in 0..200 {
            let claimed = self.store.claim_one(&self.key("long"), "w1", HOUR, &known()).await;
            assert!(matches!(claimed, Ok(Some(Claimed::Taken(_)))));
        }
        let history = self.row("long").await.history;
        assert!(history.len() <= 8192, "a history of {} bytes", history.len());
        assert!(
            history.ends_with('\n') && history.lines().last().is_some_and(|line| line.contains(" w1 201 ")),
            "the last line of a history has the owner and the fencing number, and ends with a newline: {history}"
        );
        let hold = self.row("long").await.hold().expect("an owner");
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "{}", None)).await, Ok(()));
    }

    async fn lists_are_filtered(&self) {
        let list = async |statuses: &[IntentStatus], claims, most| {
            let filter = IntentFilter {
                account: Some(self.account.clone()),
                reference: None,
                statuses: statuses.to_vec(),
                claims,
                most,
            };
            let listed = self.store.list(filter).await.expect("list answers");
            listed.into_iter().map(|intent| intent.key.reference).collect::<Vec<_>>()
        };
        let open = list(&[IntentStatus::Open], 0, 100).await;
        assert!(open.contains(&"held".to_owned()) && !open.contains(&"ends".to_owned()), "{open:?}");
        let ended = list(&[IntentStatus::Ended], 0, 100).await;
        assert!(ended.contains(&"ends".to_owned()) && !ended.contains(&"held".to_owned()), "{ended:?}");
        assert_eq!(list(&IntentStatus::ALL, 0, 2).await.len(), 2, "a list is bounded");
        assert_eq!(list(&[IntentStatus::Open], 1, 100).await, ["single"], "claims are counted");
        let one = IntentFilter {
            reference: Some("ends".to_owned()),
            account: Some(self.account.clone()),
            ..Default::default()
        };
        assert_eq!(self.store.list(one).await.map(|rows| rows.len()), Ok(1), "a list of one reference");
    }

    async fn a_stop_is_seen_by_all(&self) {
        assert_eq!(self.store.stopped(&self.account).await, Ok(None));
        assert_eq!(self.store.stop(&self.account, Some("credentials (102)")).await, Ok(()));
        assert_eq!(self.store.stop(&self.account, Some("again")).await, Ok(()));
        assert_eq!(
            self.store.stopped(&self.account).await,
            Ok(Some("credentials (102)".to_owned())),
            "the first reason stays"
        );
        assert_eq!(self.store.stop(&self.account, None).await, Ok(()));
        assert_eq!(self.store.stopped(&self.account).await, Ok(None));
    }

    async fn unknown_kinds_and_later_versions_are_left_alone(&self) {
        let account = format!("{} kinds", self.account);
        let key = IntentKey::new(&*account, "newer");
        let new = NewIntent { key: key.clone(), version: 2, ..self.fresh("newer", None, OVER) };
        assert_eq!(self.store.begin(new).await, Ok(Begun::New));
        for other in [kinds("checkout", 9), known()] {
            assert_eq!(self.store.claim(&account, "w1", 10, HOUR, &other).await, Ok(Vec::new()), "{other:?}");
            let one = self.store.claim_one(&key, "w1", HOUR, &other).await;
            assert!(matches!(one, Ok(Some(Claimed::Not(_)))), "{other:?}");
        }
        let row = self.store.find(&key).await.expect("find answers").expect("the intent exists");
        assert_eq!((row.fence, row.claims, row.version), (1, 0, 2), "they change nothing");
        let taken = self.store.claim(&account, "w2", 10, OVER, &kinds("charge authCardKey", 3)).await;
        assert_eq!(taken.expect("claim answers")[0].version, 3, "what the claimer writes counts from then on");
        let older = kinds("charge authCardKey", 2);
        assert_eq!(self.store.claim(&account, "w1", 10, HOUR, &older).await, Ok(Vec::new()));
    }

    async fn events_wait_for_the_machine(&self) {
        let hold = self.begun("hears", "w1", HOUR).await;
        let key = self.key("hears");
        let events = async |after| self.store.events(&key, after).await.expect("events answers");
        assert_eq!(self.store.deliver(&key, "one").await, Ok(true), "also while a worker has it");
        assert_eq!(events(0).await, [(1, "one".to_owned())]);
        assert_eq!((self.row("hears").await.inbox, self.row("hears").await.is_due()), (1, false), "its lease holds");
        let rest = |heard, wake| IntentRest { state: "rests".to_owned(), asks: "page".to_owned(), heard, wake };
        assert_eq!(self.store.rest(&hold, rest(0, HOUR)).await, Ok(()));
        let row = self.row("hears").await;
        assert_eq!((&*row.state, row.asks.as_deref(), row.owner.as_deref()), ("rests", Some("page"), None));
        assert!(row.is_due(), "there is an event that the machine has not processed");
        assert_eq!(self.store.rest(&hold, rest(9, HOUR)).await, Err(StoreError::Lost), "rest without the lease");
        assert_eq!(events(0).await.len(), 1, "a worker without the lease drops no event");
        let take = async || match self.store.claim_one(&key, "w2", HOUR, &known()).await {
            Ok(Some(Claimed::Taken(intent))) => intent.hold().expect("an owner"),
            other => panic!("a rested intent is claimed: {other:?}"),
        };
        let hold = take().await;
        assert_eq!(self.row("hears").await.asks, None, "a claimed intent asks nothing");
        assert_eq!(self.store.rest(&hold, rest(1, HOUR)).await, Ok(()));
        let row = self.row("hears").await;
        assert_eq!((events(0).await, row.is_due(), row.claims), (Vec::new(), false, 0), "it waits, and was no failure");
        assert_eq!(self.store.deliver(&key, "two").await, Ok(true));
        assert!(self.row("hears").await.is_due(), "an event wakes it");
        assert_eq!(events(1).await, [(2, "two".to_owned())], "numbers are never used again");
        assert_eq!(self.store.deliver(&key, "three").await, Ok(true));
        assert_eq!(self.store.deliver(&key, "two").await, Ok(true));
        let both = [(3, "three".to_owned()), (4, "two".to_owned())];
        assert_eq!(events(1).await, both, "the same event waits once, as the newest");
        for number in 5..=2 * EVENTS {
            assert_eq!(self.store.deliver(&key, &format!("flood {number}")).await, Ok(true), "none is refused");
        }
        let numbers: Vec<i32> = events(1).await.into_iter().map(|(number, _)| number).collect();
        let (older, newer) = (3..3 + EVENTS / 2, 2 * EVENTS + 1 - EVENTS / 2..=2 * EVENTS);
        assert_eq!(numbers, older.chain(newer).collect::<Vec<_>>(), "the oldest and the newest stay");
        let hold = take().await;
        assert_eq!(self.store.end(&hold, Self::end(IntentStatus::Ended, "{}", None)).await, Ok(()));
        assert_eq!(events(0).await, [], "an ended intent keeps no events");
        assert_eq!(self.store.deliver(&key, "late").await, Ok(false), "an ended intent receives no events");
        assert_eq!(self.store.deliver(&self.key("nothing"), "lost").await, Ok(false));
    }

    async fn odd_texts_come_back_as_they_went(&self) {
        for odd in ["order'; DROP TABLE payment_intents; --", "日本語 \u{1F4B7}", "%_\\ \"\t", &"r".repeat(500)] {
            let new = NewIntent { state: format!("{{\"{odd}\":1}}"), ..self.fresh(odd, Some("w1"), HOUR) };
            assert_eq!(self.store.begin(new.clone()).await, Ok(Begun::New));
            let row = self.row(odd).await;
            assert_eq!((row.key.reference, row.state), (odd.to_owned(), new.state));
        }
    }
}

/// Returns the kinds and versions of a worker.
fn known() -> [IntentKind; 1] {
    kinds("charge authCardKey", 1)
}

fn kinds(name: &str, version: i32) -> [IntentKind; 1] {
    [IntentKind { name: name.to_owned(), version }]
}

trait ReadAt {
    fn at(self, read_at: i64) -> Self;
}

impl ReadAt for IntentRow {
    /// Returns the same row as if it were read at another time.
    fn at(self, read_at: i64) -> Self {
        Self { read_at, ..self }
    }
}
