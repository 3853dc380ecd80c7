//! What one store has acknowledged, another one has: checks several stores over the same data, as processes open them that are
//! started one after the other, or at the same time.

use super::{
    HOUR, OVER, Suite, ending, hold_of, known,
    promise::{DELIVER, DIRECT, DURABLE, ENLIST, FENCED, RELEASE, REST, SAVE, SHARES, STOP, TOLD, UNTOLD},
};
use crate::{
    Begun, Claimed, Directive, IntentLease, IntentRest, IntentRow, IntentStatus, IntentStore, ShareWish, StoreError,
};

/// Checks that every change is still there in a store that is opened after it was acknowledged. `open` opens the store anew; earlier
/// stores are left open and unused, as a process leaves them that is killed. If `open` first takes away what was not synced, as a loss of power
/// does, a missing sync is found too.
///
/// # Panics
/// If the store breaks a promise: the message says which, what was done, what was expected and what was found.
pub async fn check_durable<S: IntentStore>(open: impl AsyncFnMut() -> Result<S, StoreError>, run: &str) {
    let mut stores = Stores { open, opened: Vec::new(), account: format!("durable {run}") };
    stores.changes_of_an_intent_are_kept().await;
    stores.what_all_processes_share_is_kept().await;
}

struct Stores<O, S> {
    open: O,
    opened: Vec<S>,
    account: String,
}

impl<S: IntentStore, O: AsyncFnMut() -> Result<S, StoreError>> Stores<O, S> {
    /// Opens another store. The earlier ones are not closed.
    async fn another(&mut self) -> Suite<'_, S> {
        self.opened.push(DURABLE.ok("opened the store again", (self.open)().await));
        Suite { store: &self.opened[self.opened.len() - 1], account: self.account.clone() }
    }

    /// Reads the row in another store.
    async fn row(&mut self) -> IntentRow {
        self.another().await.row("kept").await
    }

    async fn changes_of_an_intent_are_kept(&mut self) {
        let hold = self.another().await.begun("kept", "w1", HOUR).await;
        let again = self.another().await;
        let begun = again.store.begin(again.fresh("kept", Some("w2"), HOUR)).await;
        let is = matches!(&begun, Ok(Begun::Existing(_)));
        DURABLE.holds("began; opened another store, and began again", is, &begun, "Existing");
        let key = hold.key.clone();
        let kept = |what: &str| format!("{what}; opened another store, and read the intent");
        let saved = self.another().await.store.save(&hold, "s1", HOUR).await;
        SAVE.is("opened another store, and saved", saved, Ok(()));
        DURABLE.is(&kept("saved \"s1\": state"), &*self.row().await.state, "s1");
        let delivered = self.another().await.store.deliver(&key, "one").await;
        DELIVER.is("opened another store, and delivered", delivered, Ok(true));
        let events = self.another().await.store.events(&key, 0).await;
        DURABLE.is(&kept("delivered: events"), events, Ok(vec![(1, "one".to_owned())]));
        let rest = IntentRest { state: "s2".to_owned(), asks: Some("page".to_owned()), heard: 1, wake: HOUR };
        REST.is("opened another store, and rested", self.another().await.store.rest(&hold, rest).await, Ok(()));
        let row = self.row().await;
        let found = (row.asks.as_deref(), row.owner.as_deref());
        DURABLE.is(&kept("rested: asks, owner"), found, (Some("page"), None));
        let taken = hold_of(&self.another().await.take("kept", "w2", OVER).await);
        DURABLE.is(&kept("claimed: fence"), self.row().await.fence, 2);
        let lost = self.another().await.store.save(&hold, "stale", HOUR).await;
        FENCED.is("claimed; opened another store, and saved under the earlier lease", lost, Err(StoreError::Lost));
        let released = self.another().await.store.release(&taken, OVER).await;
        RELEASE.is("opened another store, and released", released, Ok(()));
        DURABLE.is(&kept("released: owner"), self.row().await.owner, None::<String>);
        let claimed = self.another().await.claim("w3", 1, HOUR).await;
        DURABLE.is(&kept("claimed: fence"), (claimed.len(), self.row().await.fence), (1, 3));
        let hold = IntentLease { key: key.clone(), owner: "w3".to_owned(), fence: 3 };
        let end = ending(IntentStatus::Unknown, "unknown", Some(HOUR));
        self.another().await.end("opened another store, and ended", &hold, end).await;
        let row = self.row().await;
        DURABLE.is(&kept("ended: outcome"), (row.outcome.as_deref(), row.event), (Some("unknown"), 1));
        let account = self.account.clone();
        let untold = self.another().await.store.untold(&account, 1, HOUR).await.map(|rows| rows.len());
        UNTOLD.is("ended; opened another store, and read the outbox: how many", untold, Ok(1));
        let untold = self.another().await.store.untold(&account, 1, HOUR).await;
        DURABLE.is("read the outbox; opened another store, and read it again", untold, Ok(vec![]));
        TOLD.is("acknowledged outcome 1", self.another().await.store.told(&key, 1).await, Ok(()));
        DURABLE.is(&kept("acknowledged outcome 1: told"), self.row().await.told, 1);
        let directed = self.another().await.store.direct(&key, Directive::Reconcile).await;
        DIRECT.is("opened another store, and reconciled", directed, Ok(true));
        DURABLE.is(&kept("reconciled: is due, fence"), (self.row().await.is_due(), self.row().await.fence), (true, 4));
        let row = self.another().await.take("kept", "w4", HOUR).await;
        self.another().await.finish(&row).await;
        let claimed = self.another().await.store.claim_one(&key, "w5", HOUR, &known()).await;
        let is = matches!(claimed, Ok(Some(Claimed::Not(_))));
        DURABLE.holds("ended; opened another store, and claimed", is, &claimed, "Not");
    }

    async fn what_all_processes_share_is_kept(&mut self) {
        let one = ENLIST.ok("enlisted `same`", self.another().await.store.enlist("same").await);
        let other = ENLIST.ok("enlisted `same`", self.another().await.store.enlist("same").await);
        let done = "enlisted `same`; opened another store, and enlisted `same`";
        ENLIST.holds(done, one != other, &(&one, &other), "two different names");
        let account = self.account.clone();
        for (owner, expected) in [("w1", 1), ("w2", 0)] {
            let wish =
                ShareWish { account: &account, owner, total: 1, most: 1, lease: HOUR, longest: HOUR, quarantine: OVER };
            let done = format!("took the only share for w1, then in another store for w2: {owner}");
            SHARES.is(&done, self.another().await.store.shares(wish).await, Ok(expected));
        }
        for reason in [Some("why"), None] {
            STOP.is("stopped or resumed", self.another().await.store.stop(&account, reason).await, Ok(()));
            let stopped = self.another().await.store.stopped(&account).await;
            let done = format!("stopped with {reason:?}; opened another store, and asked whether it is stopped");
            DURABLE.is(&done, stopped, Ok(reason.map(str::to_owned)));
        }
    }
}
