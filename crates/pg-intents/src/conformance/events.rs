//! Events: they wait for the machine.

use super::{
    HOUR, Suite, hold_of,
    promise::{
        CLAIM_ASKS, DELIVER, DELIVER_DUE, DELIVER_MANY, END_HEARD, EVENTS_AFTER, EVENTS_OF, FENCED, REST, REST_CLAIMS,
    },
};
use crate::{EVENTS, IntentRest, IntentStore};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn events_wait_for_the_machine(&self) {
        let hold = self.begun("hears", "w1", HOUR).await;
        let key = self.key("hears");
        let events = async |after| EVENTS_AFTER.ok("read events", self.store.events(&key, after).await);
        let deliver = async |event: &str| {
            DELIVER.is("delivered to an intent that has not ended", self.store.deliver(&key, event).await, Ok(true));
        };
        let one = [(1, "one".to_owned())];
        deliver("one").await;
        DELIVER.is("delivered the first event, while a worker had the intent", events(0).await, one.clone());
        EVENTS_OF.is("read events as the owner", self.store.events_of(&hold, 0).await, Ok(one.to_vec()));
        let row = self.row("hears").await;
        DELIVER.is("delivered while w1's lease held: inbox, is due", (row.inbox, row.is_due()), (1, false));
        let asks = Some("page".to_owned());
        let rest = |asks, heard| IntentRest { state: "rests".to_owned(), asks, heard, wake: HOUR };
        REST.is("rested under the lease", self.store.rest(&hold, rest(asks, 0)).await, Ok(()));
        let row = self.row("hears").await;
        let found = (&*row.state, row.asks.as_deref(), row.owner.as_deref());
        REST.is("rested: state, asks, owner", found, ("rests", Some("page"), None));
        REST.is("rested without having heard event 1: is due", row.is_due(), true);
        self.changes_nothing("rested", &hold).await;
        FENCED.is("rested without the lease, having heard event 9: events", events(0).await, one);
        let hold = hold_of(&self.take("hears", "w2", HOUR).await);
        CLAIM_ASKS.is("claimed what asked for a page", self.row("hears").await.asks, None::<String>);
        REST.is("rested without a question", self.store.rest(&hold, rest(None, 1)).await, Ok(()));
        let row = self.row("hears").await;
        REST.is("rested without a question: asks, owner", (row.asks.as_ref(), row.owner.as_ref()), (None, None));
        let done = "rested for an hour, having heard event 1: events, is due";
        REST.is(done, (events(0).await, row.is_due()), (vec![], false));
        REST_CLAIMS.is("claimed, then rested: claims", row.claims, 0);
        deliver("two").await;
        DELIVER_DUE.is("rested for an hour, then delivered: is due", self.row("hears").await.is_due(), true);
        EVENTS_AFTER.is("delivered the second event, read events after 1", events(1).await, [(2, "two".to_owned())]);
        deliver("three").await;
        deliver("two").await;
        let both = [(3, "three".to_owned()), (4, "two".to_owned())];
        DELIVER_MANY.is("delivered \"two\", \"three\", \"two\"", events(1).await, both);
        for number in 5..=2 * EVENTS {
            deliver(&format!("flood {number}")).await;
        }
        let numbers: Vec<i32> = events(1).await.into_iter().map(|(number, _)| number).collect();
        let (older, newer) = (3..3 + EVENTS / 2, 2 * EVENTS + 1 - EVENTS / 2..=2 * EVENTS);
        let expected: Vec<i32> = older.chain(newer).collect();
        DELIVER_MANY.is("delivered 128 events: the numbers of those that wait", numbers, expected);
        self.finish(&self.take("hears", "w2", HOUR).await).await;
        END_HEARD.is("ended, while 64 events waited", events(0).await, []);
        DELIVER.is("delivered after the end", self.store.deliver(&key, "late").await, Ok(false));
        let lost = self.store.deliver(&self.key("nothing"), "lost").await;
        DELIVER.is("delivered to \"nothing\", which was not begun", lost, Ok(false));
    }
}
