//! Calls at the same time: each is one atomic change. A store that reads, decides and writes in two transactions loses one of them.

use super::{
    HOUR, OVER, Suite, ending,
    promise::{DELIVER, DURABLE, ENLIST, SHARES, UNTOLD_AGAIN},
};
use crate::{IntentRest, IntentStatus, IntentStore, ShareWish};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn workers_enlist_at_the_same_time(&self) {
        let (one, other) = tokio::join!(self.store.enlist("same"), self.store.enlist("same"));
        let done = "enlisted `same` twice at the same time";
        let (one, other) = (ENLIST.ok(done, one), ENLIST.ok(done, other));
        ENLIST.holds(done, one != other, &(&one, &other), "two different names");
    }

    pub(super) async fn shares_at_the_same_time_are_disjoint(&self) {
        let account = format!("{} share race", self.account);
        let done = "w1 and w2 each took 2 of 3 free shares at the same time: how many both got";
        let shares = async |owner| {
            let (lease, longest, quarantine) = (HOUR, HOUR, OVER);
            let wish = ShareWish { account: &account, owner, total: 3, most: 2, lease, longest, quarantine };
            SHARES.ok(done, self.store.shares(wish).await)
        };
        let (one, other) = tokio::join!(shares("w1"), shares("w2"));
        SHARES.holds(done, one + other <= 3, &(one, other), "at most 3");
    }

    pub(super) async fn an_outcome_is_read_once_at_the_same_time(&self) {
        let suite = self.apart("outbox race");
        let hold = suite.begun("told", "w1", HOUR).await;
        suite.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
        let done =
            "one outcome was not acknowledged; read the outbox twice at the same time, with a visibility of an hour";
        let untold = async || UNTOLD_AGAIN.ok(done, self.store.untold(&suite.account, 10, HOUR).await).len();
        let (one, other) = tokio::join!(untold(), untold());
        UNTOLD_AGAIN.holds(done, one + other == 1, &(one, other), "it was returned once");
    }

    /// A worker changes an intent while a report about its customer arrives.
    pub(super) async fn events_that_arrive_during_a_change_are_kept(&self) {
        let suite = self.apart("event race");
        for (change, event_is_first) in
            ["saved", "rested", "ended"].into_iter().flat_map(|change| [(change, false), (change, true)])
        {
            let reference = format!("{change} {event_is_first}");
            let hold = suite.begun(&reference, "w1", HOUR).await;
            let deliver = async || self.store.deliver(&hold.key, "event").await;
            let rest = IntentRest { state: "last".to_owned(), asks: None, heard: 0, wake: HOUR };
            let changes = async || match change {
                "saved" => self.store.save(&hold, "last", HOUR).await,
                "rested" => self.store.rest(&hold, rest).await,
                _ => self.store.end(&hold, ending(IntentStatus::Unknown, "unknown", None)).await,
            };
            let (changed, delivered) = if event_is_first {
                let (delivered, changed) = tokio::join!(deliver(), changes());
                (changed, delivered)
            } else {
                tokio::join!(changes(), deliver())
            };
            let done = format!("{change} under the lease, and delivered an event at the same time");
            DELIVER.is(&done, (changed, delivered), (Ok(()), Ok(true)));
            let events = self.store.events(&hold.key, 0).await;
            DURABLE.is(&format!("{done}: events"), events, Ok(vec![(1, "event".to_owned())]));
            let row = suite.row(&reference).await;
            let found = (&*row.state, row.inbox, row.is_due());
            DURABLE.is(&format!("{done}: state, inbox, is due"), found, ("last", 1, change != "saved"));
        }
        let hold = suite.begun("two events", "w1", HOUR).await;
        let deliver = async |event| self.store.deliver(&hold.key, event).await;
        let done = "delivered two events at the same time";
        DELIVER.is(done, tokio::join!(deliver("one"), deliver("two")), (Ok(true), Ok(true)));
        let mut events = DELIVER.ok(done, self.store.events(&hold.key, 0).await);
        let numbers: Vec<i32> = events.iter().map(|(number, _)| *number).collect();
        events.sort_by(|(_, one), (_, other)| one.cmp(other));
        let texts: Vec<&str> = events.iter().map(|(_, event)| &**event).collect();
        DELIVER.is(&format!("{done}: numbers, events"), (numbers, texts), (vec![1, 2], vec!["one", "two"]));
    }
}
