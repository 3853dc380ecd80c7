//! What every call keeps: the events that wait, the number of an outcome, and its place in the outbox.

use std::time::Duration;

use super::{
    HOUR, OVER, Suite, ending, hold_of,
    promise::{CLAIM, DELIVER, DIRECT, DURABLE, END_EVENT, RELEASE, RENEW, REST, SAVE, TOLD, UNTOLD, UNTOLD_AGAIN},
};
use crate::{Directive, IntentKey, IntentRest, IntentStatus, IntentStore};

/// Each call that may change an intent which has not ended, and whether the intent is due afterwards, if an event waits.
const CALLS: [(&str, bool); 12] = [
    ("claim", false),
    ("claim_one", false),
    ("save", false),
    ("renew", false),
    ("release", true),
    ("rest", true),
    ("end as unknown", true),
    ("end as parked", false),
    ("untold", true),
    ("told", true),
    ("direct: park", false),
    ("direct: reconcile", true),
];

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn events_wait_through_every_call(&self) {
        for (call, is_due) in CALLS {
            let suite = self.apart(&format!("events: {call}"));
            let key = suite.unknown().await;
            let delivered = self.store.deliver(&key, "paid").await;
            DELIVER.is("delivered to an intent that is unknown", delivered, Ok(true));
            suite.call(call, &key).await;
            let done = format!("ended as unknown, then delivered an event, then {call}, which has not heard it");
            let events = self.store.events(&key, 0).await;
            DURABLE.is(&format!("{done}: events"), events, Ok(vec![(1, "paid".to_owned())]));
            let row = suite.row(&key.reference).await;
            DURABLE.is(&format!("{done}: inbox, is due"), (row.inbox, row.is_due()), (1, is_due));
        }
    }

    pub(super) async fn outcomes_keep_their_numbers_through_every_call(&self) {
        // `told` is a part of the check itself.
        for (call, is_told) in
            CALLS.into_iter().filter(|(call, _)| *call != "told").flat_map(|(call, _)| [(call, false), (call, true)])
        {
            let suite = self.apart(&format!("outcome: {call} {is_told}"));
            let key = suite.unknown().await;
            let tell = async |event| TOLD.is("acknowledged an outcome", self.store.told(&key, event).await, Ok(()));
            if is_told {
                tell(1).await;
            }
            suite.call(call, &key).await;
            let done = format!("ended as unknown, acknowledged: {is_told}, then {call}");
            let row = suite.row(&key.reference).await;
            let found = (row.outcome.as_deref(), row.event, row.told);
            END_EVENT.is(&format!("{done}: outcome, event, told"), found, (Some("unknown"), 1, i32::from(is_told)));
            let expected = if is_told { vec![] } else { vec![(1, "unknown".to_owned())] };
            UNTOLD.is(&format!("{done}; then read the outbox"), suite.outbox(OVER).await, expected);
            tell(1).await;
            if row.status == IntentStatus::Parked {
                let directed = self.store.direct(&key, Directive::Reconcile).await;
                DIRECT.is("reconciled an intent that was parked", directed, Ok(true));
            }
            let hold = match row.hold() {
                Some(hold) => hold,
                None => hold_of(&suite.take(&key.reference, "w2", HOUR).await),
            };
            suite.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
            let done = format!("{done}; acknowledged outcome 1, ended as paid, then read the outbox");
            UNTOLD.is(&done, suite.outbox(OVER).await, vec![(2, "paid".to_owned())]);
        }
    }

    /// A visibility ends. With a clock that stands still, nothing is checked.
    pub(super) async fn an_outcome_is_read_again_after_its_visibility(&self) {
        let suite = self.apart("visibility");
        let key = suite.unknown().await;
        let unknown = vec![(1, "unknown".to_owned())];
        let visibility = Duration::from_millis(1);
        UNTOLD.is(
            "read the outbox with a visibility of a millisecond",
            suite.outbox(visibility).await,
            unknown.clone(),
        );
        let hidden = suite.row(&key.reference).await.read_at;
        for _ in 0..1000 {
            if suite.row(&key.reference).await.read_at > hidden + 1 {
                let done = "read the outbox with a visibility of a millisecond, and again when it was over";
                return UNTOLD_AGAIN.is(done, suite.outbox(OVER).await, unknown);
            }
        }
    }

    /// Begins an intent, and ends it as unknown, with a first outcome and a lookup at once.
    async fn unknown(&self) -> IntentKey {
        let hold = self.begun("kept", "w1", HOUR).await;
        self.end("ended as unknown", &hold, ending(IntentStatus::Unknown, "unknown", Some(OVER))).await;
        hold.key
    }

    /// Makes a call for an intent that is due, as a worker that has heard no event.
    async fn call(&self, call: &str, key: &IntentKey) {
        match call {
            "claim" => CLAIM.is("claimed what is due: how many", self.claim("w2", 10, HOUR).await.len(), 1),
            "untold" => drop(self.outbox(OVER).await),
            "told" => TOLD.is("acknowledged outcome 1", self.store.told(key, 1).await, Ok(())),
            "direct: park" => DIRECT.is(call, self.store.direct(key, Directive::Park).await, Ok(true)),
            "direct: reconcile" => DIRECT.is(call, self.store.direct(key, Directive::Reconcile).await, Ok(true)),
            _ => {
                let hold = hold_of(&self.take(&key.reference, "w2", HOUR).await);
                let rest = IntentRest { state: "rests".to_owned(), asks: None, heard: 0, wake: HOUR };
                let end = async |status| self.end(call, &hold, ending(status, "unknown", None)).await;
                match call {
                    "save" => SAVE.is(call, self.store.save(&hold, "saved", HOUR).await, Ok(())),
                    "renew" => RENEW.is(call, self.store.renew(&hold, HOUR).await, Ok(())),
                    "release" => RELEASE.is(call, self.store.release(&hold, OVER).await, Ok(())),
                    "rest" => REST.is(call, self.store.rest(&hold, rest).await, Ok(())),
                    "end as unknown" => end(IntentStatus::Unknown).await,
                    "end as parked" => end(IntentStatus::Parked).await,
                    _ => {}
                }
            }
        }
    }
}
