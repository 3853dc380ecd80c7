//! A worker whose lease has ended changes an intent, while another worker claims it, an operator directs it or the shop reads its outcome:
//! the calls have an order, and what the first one has changed stays.

use super::{
    HOUR, OVER, Suite, ending, hold_of, known,
    promise::{CLAIM_ONE, DELIVER, DURABLE, TOLD, UNTOLD},
};
use crate::{Claimed, Directive, IntentLease, IntentRest, IntentRow, IntentStatus, IntentStore, StoreError};

/// The changes that a lease permits, and whether the intent may be claimed at once afterwards.
const CHANGES: [(&str, bool); 6] =
    [("save", false), ("renew", false), ("release", true), ("rest", true), ("end as unknown", true), ("end", false)];

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn a_claim_during_a_change_takes_the_lease_or_sees_the_change(&self) {
        for (change, is_free) in CHANGES {
            for (claim, change_is_first) in
                [("claim", false), ("claim", true), ("claim_one", false), ("claim_one", true)]
            {
                let suite = self.apart(&format!("fence race: {change}, {claim}, {change_is_first}"));
                suite.begun("race", "w1", OVER).await;
                let hold = hold_of(&suite.take("race", "w1", OVER).await);
                let claims = async || match claim {
                    "claim" => suite.claim("w2", 10, HOUR).await.pop(),
                    _ => suite.claimed_one().await,
                };
                let (changed, taken) = in_order(change_is_first, suite.change(change, &hold), claims()).await;
                let done = format!("w1's lease was over: {change} by w1, and {claim} by w2, at the same time");
                let row = suite.row("race").await;
                match (&changed, &taken) {
                    (Ok(()), None) => {
                        let found = (&*row.state, row.owner.as_deref(), row.fence);
                        let expected = (state_after(change), owner_after(change), 2);
                        DURABLE.is(&format!("{done}; w1 got Ok, w2 nothing: state, owner, fence"), found, expected);
                    }
                    // The claim was the later call. A change that gives the intent up in good order lowers its claims.
                    (Ok(()), Some(taken)) if is_free => {
                        let found = (&*taken.state, taken.claims, taken.fence);
                        DURABLE.is(
                            &format!("{done}; both got it: state, claims, fence of the claimed"),
                            found,
                            (state_after(change), 1, 3),
                        );
                        Self::unchanged(DURABLE, &done, &row, taken);
                    }
                    (Err(StoreError::Lost), Some(taken)) => {
                        let found = (&*taken.state, taken.claims, taken.fence);
                        DURABLE.is(
                            &format!("{done}; w1 got Lost: state, claims, fence of the claimed"),
                            found,
                            ("s0", 2, 3),
                        );
                        Self::unchanged(DURABLE, &done, &row, taken);
                    }
                    both => {
                        DURABLE.broken(&done, "Ok for one of them, Lost or nothing for the other", &format!("{both:?}"))
                    }
                }
            }
        }
    }

    pub(super) async fn a_directive_during_a_change_takes_the_lease_or_sees_the_change(&self) {
        for (change, change_is_first) in
            ["save", "end"].into_iter().flat_map(|change| [(change, false), (change, true)])
        {
            let suite = self.apart(&format!("directive race: {change}, {change_is_first}"));
            let hold = suite.begun("race", "w1", HOUR).await;
            let direct = self.store.direct(&hold.key, Directive::Park);
            let (changed, directed) = in_order(change_is_first, suite.change(change, &hold), direct).await;
            let done = format!("{change} under the lease, and parked by an operator at the same time");
            let row = suite.row("race").await;
            let is_first = changed.is_ok();
            let is_final = is_first && change == "end";
            let expected = (if is_first { Ok(()) } else { Err(StoreError::Lost) }, Ok(!is_final));
            DURABLE.is(&done, (changed, directed), expected);
            let found = (&*row.state, row.status, row.fence, row.owner.as_deref());
            let state = if is_first { "last" } else { "s0" };
            let (status, fence) = if is_final { (IntentStatus::Ended, 1) } else { (IntentStatus::Parked, 2) };
            DURABLE.is(&format!("{done}: state, status, fence, owner"), found, (state, status, fence, None));
        }
    }

    pub(super) async fn an_outcome_that_is_read_during_the_end_is_kept(&self) {
        for (call, end_is_first) in ["told", "untold"].into_iter().flat_map(|call| [(call, false), (call, true)]) {
            let suite = self.apart(&format!("outcome race: {call}, {end_is_first}"));
            let hold = suite.begun("race", "w1", HOUR).await;
            suite.end("ended as unknown", &hold, ending(IntentStatus::Unknown, "unknown", Some(OVER))).await;
            let hold = hold_of(&suite.take("race", "w2", HOUR).await);
            let reads = async || match call {
                "untold" => suite.outbox(HOUR).await,
                _ => {
                    TOLD.is("acknowledged outcome 1", self.store.told(&hold.key, 1).await, Ok(()));
                    vec![]
                }
            };
            let (ended, mut read) = in_order(end_is_first, suite.change("end", &hold), reads()).await;
            let done = format!("an unknown intent: ended as paid, and {call} for its first outcome, at the same time");
            DURABLE.is(&done, ended, Ok(()));
            let row = suite.row("race").await;
            let found = (row.status, row.outcome.as_deref(), row.event, row.told, row.owner.as_deref());
            let expected = (IntentStatus::Ended, Some("paid"), 2, i32::from(call == "told"), None);
            DURABLE.is(&format!("{done}: status, outcome, event, told, owner"), found, expected);
            read.extend(suite.outbox(OVER).await);
            let paid = read.iter().filter(|outcome| **outcome == (2, "paid".to_owned())).count();
            UNTOLD.holds(&format!("{done}; then read the outbox"), paid == 1, &read, "the outcome 2, once");
        }
    }

    pub(super) async fn events_that_arrive_during_other_calls_are_kept(&self) {
        for (call, call_is_first) in ["claim", "claim_one", "renew", "release", "told", "untold", "park"]
            .into_iter()
            .flat_map(|call| [(call, false), (call, true)])
        {
            // It is the event that makes the intent due, unless the call needs one that is due.
            let is_due_by_event = matches!(call, "told" | "untold");
            let lookup = if is_due_by_event { HOUR } else { OVER };
            let suite = self.apart(&format!("event race: {call}, {call_is_first}"));
            let hold = suite.begun("race", "w1", HOUR).await;
            suite.end("ended as unknown", &hold, ending(IntentStatus::Unknown, "unknown", Some(lookup))).await;
            let key = hold.key;
            let hold = match call {
                "renew" | "release" => Some(hold_of(&suite.take("race", "w2", HOUR).await)),
                _ => None,
            };
            let calls = async || match (call, &hold) {
                (_, Some(hold)) => suite.change(call, hold).await,
                ("claim", _) => self.store.claim(&suite.account, "w2", 10, HOUR, &known()).await.map(drop),
                ("claim_one", _) => self.store.claim_one(&key, "w2", HOUR, &known()).await.map(drop),
                ("told", _) => self.store.told(&key, 1).await,
                ("untold", _) => self.store.untold(&suite.account, 10, HOUR).await.map(drop),
                _ => self.store.direct(&key, Directive::Park).await.map(drop),
            };
            let (called, delivered) = in_order(call_is_first, calls(), self.store.deliver(&key, "event")).await;
            let done = format!("{call} for an unknown intent, and delivered an event at the same time");
            DELIVER.is(&done, (called, delivered), (Ok(()), Ok(true)));
            let events = self.store.events(&key, 0).await;
            DURABLE.is(&format!("{done}: events"), events, Ok(vec![(1, "event".to_owned())]));
            let row = suite.row("race").await;
            DURABLE.is(&format!("{done}: inbox"), row.inbox, 1);
            if is_due_by_event {
                DURABLE.is(&format!("{done}: is due"), row.is_due(), true);
            }
        }
    }

    async fn change(&self, change: &str, hold: &IntentLease) -> Result<(), StoreError> {
        let rest = IntentRest { state: "last".to_owned(), asks: None, heard: 0, wake: OVER };
        match change {
            "save" => self.store.save(hold, "last", HOUR).await,
            "renew" => self.store.renew(hold, HOUR).await,
            "release" => self.store.release(hold, OVER).await,
            "rest" => self.store.rest(hold, rest).await,
            "end" => self.store.end(hold, ending(IntentStatus::Ended, "paid", None)).await,
            _ => self.store.end(hold, ending(IntentStatus::Unknown, "unknown", Some(OVER))).await,
        }
    }

    /// Claims the intent for `w2`, if it is free.
    async fn claimed_one(&self) -> Option<IntentRow> {
        match CLAIM_ONE.ok("claimed", self.store.claim_one(&self.key("race"), "w2", HOUR, &known()).await) {
            Some(Claimed::Taken(row)) => Some(*row),
            Some(Claimed::Not(_)) => None,
            None => CLAIM_ONE.broken("claimed an intent that was begun", "Taken or Not", "None"),
        }
    }
}

/// Returns the state of an intent after a change alone.
fn state_after(change: &str) -> &'static str {
    if matches!(change, "renew" | "release") { "s0" } else { "last" }
}

fn owner_after(change: &str) -> Option<&'static str> {
    matches!(change, "save" | "renew").then_some("w1")
}

/// Makes two calls at the same time. The first one begins first.
async fn in_order<A, B>(one_is_first: bool, one: impl Future<Output = A>, other: impl Future<Output = B>) -> (A, B) {
    if one_is_first {
        tokio::join!(one, other)
    } else {
        let (other, one) = tokio::join!(other, one);
        (one, other)
    }
}
