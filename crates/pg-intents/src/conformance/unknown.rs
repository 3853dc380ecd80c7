//! Checks the lookups of unknown intents, and what events cause.

use super::{
    HOUR, OVER, Suite, ending, hold_of,
    promise::{
        CLAIM_COUNTS, CLAIM_LOOKUPS, DELIVER, DELIVER_DUE, DELIVER_OPERATOR, DELIVER_PARKED, DIRECT, DIRECT_ANEW,
        END_CLAIMS, END_DUE, END_HEARD, REST, REST_OPEN, REST_PLANNED,
    },
};
use crate::{Directive, IntentEnd, IntentRest, IntentRow, IntentStatus, IntentStore};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn events_use_up_no_planned_lookup(&self) {
        let key = self.key("planned");
        let end = async |done: &str, row: &IntentRow, end| {
            self.end(done, &hold_of(row), end).await;
            self.row("planned").await
        };
        let hold = self.begun("planned", "w1", HOUR).await;
        let done = "ended as unknown, with a lookup in an hour";
        self.end(done, &hold, unknown(Some(HOUR))).await;
        END_DUE.is(&format!("{done}: is due"), self.row("planned").await.is_due(), false);
        self.deliver("planned", "one").await;
        let done = format!("{done}; then delivered an event");
        DELIVER_DUE.is(&format!("{done}: is due"), self.row("planned").await.is_due(), true);
        let row = self.die("planned").await;
        CLAIM_LOOKUPS.is(&format!("{done}, then claimed: claims, lookups"), (row.claims, row.lookups), (1, 0));
        let heard = IntentEnd { heard: 1, quiet: HOUR, ..unknown(Some(OVER)) };
        let done = "a lookup was planned in an hour; claimed for event 1, ended as unknown having heard it, with a quiet time of an hour";
        let row = end(done, &row, heard).await;
        END_DUE.is(&format!("{done}: is due"), row.is_due(), false);
        END_CLAIMS.is(&format!("{done}: claims"), row.claims, 0);
        END_HEARD.is(&format!("{done}: events"), self.store.events(&key, 0).await, Ok(vec![]));
        self.deliver("planned", "two").await;
        DELIVER_DUE.is("delivered within the quiet time: is due", self.row("planned").await.is_due(), false);
        let done = "delivered event 2, claimed, ended as unknown having heard event 1, without a quiet time";
        let row = end(done, &self.die("planned").await, IntentEnd { heard: 1, ..unknown(None) }).await;
        END_DUE.is(&format!("{done}: is due"), row.is_due(), true);
        let events = self.store.events(&key, 0).await;
        END_HEARD.is(&format!("{done}: events"), events, Ok(vec![(2, "two".to_owned())]));
        let done = "a lookup was planned in an hour; claimed for an event, ended as unknown having heard it";
        let row = end(done, &self.die("planned").await, IntentEnd { heard: 2, ..unknown(None) }).await;
        let found = (row.is_due(), row.lookups, row.due < i64::MAX);
        END_DUE.is(&format!("{done}: is due, lookups, will be due"), found, (false, 0, true));
    }

    pub(super) async fn rests_keep_the_planned_lookup(&self) {
        let hold = self.begun("kept", "w1", HOUR).await;
        let done = "ended as unknown, with a lookup in an hour";
        self.end(done, &hold, unknown(Some(HOUR))).await;
        let planned = self.row("kept").await.due;
        self.deliver("kept", "one").await;
        for wake in [OVER, 2 * HOUR] {
            let row = self.die("kept").await;
            let rest = IntentRest { state: "rests".to_owned(), asks: Some("page".to_owned()), heard: 1, wake };
            REST.is("rested under the lease", self.store.rest(&hold_of(&row), rest).await, Ok(()));
        }
        let done = format!("{done}; then rested for no time and for two hours: its due time");
        REST_PLANNED.is(&done, self.row("kept").await.due, planned);
        self.finish(&self.take("kept", "w2", HOUR).await).await;
    }

    pub(super) async fn planned_lookups_are_counted_once_each(&self) {
        let hold = self.begun("counted", "w1", HOUR).await;
        self.end("ended as unknown, with a lookup at once", &hold, unknown(Some(OVER))).await;
        for lookup in 1..=3 {
            for died in 0..2 {
                let row = self.die("counted").await;
                let done = format!("claimed for planned lookup {lookup}, after {died} workers died on it");
                CLAIM_LOOKUPS.is(&format!("{done}: lookups"), row.lookups, lookup);
                CLAIM_COUNTS.is(&format!("{done}: claims"), row.claims, died + 1);
            }
            let row = self.row("counted").await;
            self.end("ended as unknown, with a lookup at once", &hold_of(&row), unknown(Some(OVER))).await;
        }
        let directed = self.store.direct(&self.key("counted"), Directive::Reconcile).await;
        DIRECT.is("reconciled an unknown intent", directed, Ok(true));
        let row = self.die("counted").await;
        let done = "reconciled after 3 lookups, then claimed: lookups, claims";
        DIRECT_ANEW.is(done, (row.lookups, row.claims), (0, 1));
        self.end("ended as unknown, without a lookup", &hold_of(&row), unknown(None)).await;
        let due = self.row("counted").await.due;
        END_DUE.is("ended as unknown, without a lookup and events: due (i64::MAX is never)", due, i64::MAX);
    }

    pub(super) async fn an_event_gives_a_parked_intent_one_claim(&self) {
        let direct = async |directive| {
            let directed = self.store.direct(&self.key("failed"), directive).await;
            DIRECT.is(&format!("{directive:?} while it had not ended"), directed, Ok(true));
        };
        self.begun("failed", "w1", OVER).await;
        let parked = |quiet| IntentEnd { status: IntentStatus::Parked, quiet, ..unknown(None) };
        self.die("failed").await;
        let row = self.die("failed").await;
        self.end("parked after 2 claims", &hold_of(&row), parked(OVER)).await;
        let row = self.row("failed").await;
        END_CLAIMS.is("parked by its worker after 2 claims: is due, claims", (row.is_due(), row.claims), (false, 2));
        self.deliver("failed", "one").await;
        let row = self.row("failed").await;
        let done = "parked by its worker after 2 claims; then delivered an event";
        let found = (row.status, row.is_due(), row.claims);
        DELIVER_PARKED.is(&format!("{done}: status, is due, claims"), found, (IntentStatus::Unknown, true, 0));
        let (first, second) = (self.die("failed").await.claims, self.die("failed").await);
        DELIVER_PARKED.is(&format!("{done}, and claimed twice: claims"), (first, second.claims), (1, 2));
        self.end("parked with a quiet time of an hour", &hold_of(&second), parked(HOUR)).await;
        self.deliver("failed", "two").await;
        DELIVER_DUE.is("delivered within the quiet time: is due", self.row("failed").await.is_due(), false);
        direct(Directive::Park).await;
        self.deliver("failed", "three").await;
        let row = self.row("failed").await;
        let done = "parked by an operator, then delivered an event: status, claims, is due";
        DELIVER_OPERATOR.is(done, (row.status, row.claims, row.is_due()), (IntentStatus::Parked, 0, false));
        direct(Directive::Reconcile).await;
        let row = self.die("failed").await;
        let rest = IntentRest { state: "rests".to_owned(), asks: Some("page".to_owned()), heard: 3, wake: HOUR };
        REST.is("rested an unknown intent", self.store.rest(&hold_of(&row), rest).await, Ok(()));
        REST_OPEN.is("rested an unknown intent: status", self.row("failed").await.status, IntentStatus::Open);
        self.finish(&self.die("failed").await).await;
    }

    async fn deliver(&self, reference: &str, event: &str) {
        let delivered = self.store.deliver(&self.key(reference), event).await;
        DELIVER.is("delivered to an intent that has not ended", delivered, Ok(true));
    }

    /// Claims an intent as a worker that dies immediately.
    async fn die(&self, reference: &str) -> IntentRow {
        self.take(reference, "w2", OVER).await
    }
}

fn unknown(wake: Option<std::time::Duration>) -> IntentEnd {
    ending(IntentStatus::Unknown, "unknown", wake)
}
