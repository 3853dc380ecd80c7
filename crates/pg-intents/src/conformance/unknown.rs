//! Checks the lookups of unknown intents, and what events cause.

use super::{HOUR, OVER, Suite, known};
use crate::{Claimed, Directive, IntentEnd, IntentKey, IntentLease, IntentRest, IntentRow, IntentStatus, IntentStore};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn events_use_up_no_planned_lookup(&self) {
        let key = self.key("planned");
        let hold = self.begun("planned", "w1", HOUR).await;
        assert_eq!(self.store.end(&hold, unknown(Some(HOUR))).await, Ok(()));
        assert!(!self.row("planned").await.is_due(), "it waits for its first planned lookup");
        assert_eq!(self.store.deliver(&key, "one").await, Ok(true));
        assert!(self.row("planned").await.is_due(), "an event makes it due");
        let row = self.take(&key).await;
        assert_eq!((row.claims, row.lookups), (1, 0), "a claim for an event is no planned lookup");
        let heard = IntentEnd { heard: 1, quiet: HOUR, ..unknown(Some(OVER)) };
        assert_eq!(self.store.end(&hold_of(&row), heard).await, Ok(()));
        let row = self.row("planned").await;
        assert_eq!((row.is_due(), row.claims), (false, 0), "the planned lookup keeps its time, and no worker failed");
        assert_eq!(self.store.events(&key, 0).await, Ok(Vec::new()), "what the machine took is deleted");
        assert_eq!(self.store.deliver(&key, "two").await, Ok(true));
        assert!(!self.row("planned").await.is_due(), "in the quiet time events wait");
        let row = self.take(&key).await;
        assert_eq!(self.store.end(&hold_of(&row), IntentEnd { heard: 1, ..unknown(None) }).await, Ok(()));
        assert!(self.row("planned").await.is_due(), "an event that the machine did not take makes it due again");
        let row = self.take(&key).await;
        assert_eq!(self.store.end(&hold_of(&row), IntentEnd { heard: 2, ..unknown(None) }).await, Ok(()));
        let row = self.row("planned").await;
        assert_eq!((row.is_due(), row.lookups, row.due < i64::MAX), (false, 0, true), "the plan goes on");
    }

    pub(super) async fn planned_lookups_are_counted_once_each(&self) {
        let key = self.key("counted");
        let hold = self.begun("counted", "w1", HOUR).await;
        assert_eq!(self.store.end(&hold, unknown(Some(OVER))).await, Ok(()));
        for lookup in 1..=3 {
            for died in 0..2 {
                let row = self.take(&key).await;
                let counts = (row.lookups, row.claims);
                assert_eq!(counts, (lookup, died + 1), "a worker that dies uses up no other planned lookup");
            }
            let row = self.row("counted").await;
            assert_eq!(self.store.end(&hold_of(&row), unknown(Some(OVER))).await, Ok(()));
        }
        assert_eq!(self.store.direct(&key, Directive::Reconcile).await, Ok(true));
        let row = self.take(&key).await;
        assert_eq!((row.lookups, row.claims), (0, 1), "an operator starts the plan anew");
        assert_eq!(self.store.end(&hold_of(&row), unknown(None)).await, Ok(()));
        assert_eq!(self.row("counted").await.due, i64::MAX, "without a further lookup it waits for an event");
    }

    pub(super) async fn an_event_gives_a_parked_intent_one_claim(&self) {
        let key = self.key("failed");
        self.begun("failed", "w1", OVER).await;
        let parked = |quiet| IntentEnd { status: IntentStatus::Parked, quiet, ..unknown(None) };
        self.take(&key).await;
        let row = self.take(&key).await;
        assert_eq!(self.store.end(&hold_of(&row), parked(OVER)).await, Ok(()));
        assert!(!self.row("failed").await.is_due(), "no worker touches it");
        assert_eq!(self.store.deliver(&key, "one").await, Ok(true));
        let row = self.row("failed").await;
        assert_eq!((row.status, row.is_due()), (IntentStatus::Unknown, true), "an event makes it due");
        let (first, second) = (self.take(&key).await.claims, self.take(&key).await);
        assert_eq!((first, second.claims), (1, 2), "the second claim has the count at which it was parked");
        assert_eq!(self.store.end(&hold_of(&second), parked(HOUR)).await, Ok(()));
        assert_eq!(self.store.deliver(&key, "two").await, Ok(true));
        assert!(!self.row("failed").await.is_due(), "not within the quiet time");
        assert_eq!(self.store.direct(&key, Directive::Park).await, Ok(true));
        assert_eq!(self.store.deliver(&key, "three").await, Ok(true), "its events wait for the operator");
        assert_eq!(self.row("failed").await.status, IntentStatus::Parked, "what an operator parks stays parked");
        assert_eq!(self.store.direct(&key, Directive::Reconcile).await, Ok(true));
        let row = self.take(&key).await;
        let rest = IntentRest { state: "rests".to_owned(), asks: "page".to_owned(), heard: 3, wake: HOUR };
        assert_eq!(self.store.rest(&hold_of(&row), rest).await, Ok(()));
        assert_eq!(self.row("failed").await.status, IntentStatus::Open, "what waits for its customer is open again");
        let row = self.take(&key).await;
        assert_eq!(self.store.end(&hold_of(&row), Self::end(IntentStatus::Ended, "{}", None)).await, Ok(()));
    }

    /// Claims an intent as a worker that dies immediately.
    async fn take(&self, key: &IntentKey) -> IntentRow {
        match self.store.claim_one(key, "w2", OVER, &known()).await {
            Ok(Some(Claimed::Taken(row))) => *row,
            other => panic!("it is claimed: {other:?}"),
        }
    }
}

fn unknown(wake: Option<std::time::Duration>) -> IntentEnd {
    let (state, outcome) = ("last".to_owned(), "unknown".to_owned());
    IntentEnd { status: IntentStatus::Unknown, state, outcome, wake, heard: 0, quiet: OVER }
}

fn hold_of(row: &IntentRow) -> IntentLease {
    row.hold().expect("a claimed row has an owner")
}
