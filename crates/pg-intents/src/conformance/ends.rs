//! Ends: outcomes, the outbox, an operator's directives and histories.

use super::{
    HOUR, OVER, Suite, ending, hold_of, known,
    promise::{
        BEGIN, CLAIM, CLAIM_ONE, DELIVER, DIRECT, DIRECT_ANEW, DIRECT_ENDED, END, END_CLAIMS, END_DUE, END_EVENT,
        FENCED, HISTORY, TOLD, UNTOLD, UNTOLD_AGAIN, UNTOLD_LATER,
    },
};
use crate::{Begun, Claimed, Directive, IntentRow, IntentStatus, IntentStore, NewIntent};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn ends_are_final_unless_unknown(&self) {
        let hold = self.begun("ends", "w1", HOUR).await;
        let unknown = ending(IntentStatus::Unknown, "unknown", Some(OVER));
        self.end("ended as unknown", &hold, unknown.clone()).await;
        let row = self.row("ends").await;
        let texts = (row.status, &*row.state, row.outcome.as_deref(), row.owner.as_deref());
        END.is("ended as unknown", texts, (IntentStatus::Unknown, "last", Some("unknown"), None));
        END_EVENT.is("ended with a first outcome: event", row.event, 1);
        END_DUE.is("ended as unknown, with a lookup at once: is due", row.is_due(), true);
        let done = "ended as unknown, with a lookup at once; then claimed for w2";
        let claimed = self.claim("w2", 10, HOUR).await;
        let Some(again) = claimed.iter().find(|intent| intent.key.reference == "ends") else {
            CLAIM.broken(done, "\"ends\" among the claimed", &format!("{claimed:?}"))
        };
        CLAIM.is(done, (again.status, again.claims), (IntentStatus::Unknown, 1));
        self.end("ended as unknown again", &hold_of(again), unknown).await;
        END_EVENT.is("ended with the same outcome again: event", self.row("ends").await.event, 1);
        let hold = hold_of(&self.take("ends", "w2", HOUR).await);
        self.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
        let row = self.row("ends").await;
        let found = (row.status, row.outcome.as_deref(), row.event);
        END_EVENT.is("ended as unknown, then as paid", found, (IntentStatus::Ended, Some("paid"), 2));
        END_CLAIMS.is("ended as paid: claims", row.claims, 0);
        self.changes_nothing("ended as paid", &hold).await;
        let claimed = self.store.claim_one(&self.key("ends"), "w3", HOUR, &known()).await;
        let done = "ended as paid, then claimed";
        CLAIM_ONE.holds(done, matches!(claimed, Ok(Some(Claimed::Not(_)))), &claimed, "Not");
        DELIVER.is("delivered to what has ended", self.store.deliver(&self.key("ends"), "late").await, Ok(false));
        for directive in [Directive::Park, Directive::Reconcile] {
            let directed = self.store.direct(&self.key("ends"), directive).await;
            DIRECT_ENDED.is(&format!("{directive:?} after the end"), directed, Ok(false));
        }
        let done = "ended as paid, then began again with another state";
        let again = NewIntent { state: "other".to_owned(), ..self.fresh("ends", Some("w3"), HOUR) };
        match self.store.begin(again).await {
            Ok(Begun::Existing(found)) => Self::unchanged(BEGIN, done, &found, &row),
            other => BEGIN.broken(done, "Existing, with the row that has ended", &format!("{other:?}")),
        }
        Self::unchanged(FENCED, "ended as paid, then tried every other change", &self.row("ends").await, &row);
    }

    pub(super) async fn outcomes_are_told_until_acknowledged(&self) {
        let suite = self.apart("outbox");
        let key = suite.key("told");
        let hold = suite.begun("told", "w1", HOUR).await;
        let untold = async |visibility| suite.outbox(visibility).await;
        let (unknown, paid) = ([(1, "unknown".to_owned())], [(2, "paid".to_owned())]);
        UNTOLD.is("read the outbox before there was an outcome", untold(OVER).await, []);
        self.end("ended as unknown", &hold, ending(IntentStatus::Unknown, "unknown", Some(OVER))).await;
        UNTOLD.is("ended as unknown, then read the outbox", untold(OVER).await, unknown.clone());
        UNTOLD_AGAIN.is("read the outbox with a visibility of zero, then again", untold(HOUR).await, unknown);
        UNTOLD_AGAIN.is("read the outbox with a visibility of an hour, then again", untold(HOUR).await, []);
        let hold = hold_of(&suite.take("told", "w2", HOUR).await);
        self.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
        TOLD.is("acknowledged outcome 1 after outcome 2", self.store.told(&key, 1).await, Ok(()));
        let done = "read outcome 1 with a visibility of an hour, ended as paid, then read the outbox";
        UNTOLD_LATER.is(done, untold(OVER).await, paid.clone());
        TOLD.is("acknowledged outcome 3, which does not exist", self.store.told(&key, 3).await, Ok(()));
        TOLD.is("acknowledged outcome 3, which does not exist, then read the outbox", untold(OVER).await, paid);
        TOLD.is("acknowledged outcome 2", self.store.told(&key, 2).await, Ok(()));
        TOLD.is("acknowledged outcome 2, then read the outbox", untold(OVER).await, []);
        TOLD.is("acknowledged outcome 1 after outcome 2", self.store.told(&key, 1).await, Ok(()));
        TOLD.is("acknowledged outcome 2, then 1, then read the outbox", untold(OVER).await, []);
        for reference in ["one", "another"] {
            let hold = suite.begun(reference, "w1", HOUR).await;
            self.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
        }
        let done = "two outcomes were not acknowledged; read at most 1 with a visibility of an hour";
        let few = UNTOLD.ok(done, self.store.untold(&suite.account, 1, HOUR).await);
        UNTOLD.is(&format!("{done}: how many"), few.len(), 1);
        UNTOLD.is(&format!("{done}, then at most 10: how many"), untold(OVER).await.len(), 1);
    }

    pub(super) async fn operators_take_the_lease_away(&self) {
        let hold = self.begun("parked", "w1", HOUR).await;
        let key = self.key("parked");
        let direct = async |directive| {
            let directed = self.store.direct(&key, directive).await;
            DIRECT.is(&format!("{directive:?} while it had not ended"), directed, Ok(true));
            self.row("parked").await
        };
        let row = direct(Directive::Park).await;
        let found = (row.status, row.fence, row.owner.as_deref());
        DIRECT.is("parked an intent of w1", found, (IntentStatus::Parked, 2, None));
        self.changes_nothing("an operator parked it", &hold).await;
        let claimed = self.claim("w2", 100, HOUR).await;
        CLAIM.holds(
            "parked it, then claimed",
            claimed.iter().all(|row| row.key != key),
            &claimed,
            "all but \"parked\"",
        );
        let one = self.store.claim_one(&key, "w2", HOUR, &known()).await;
        CLAIM_ONE.holds("parked it, then claimed", matches!(one, Ok(Some(Claimed::Not(_)))), &one, "Not");
        let row = direct(Directive::Reconcile).await;
        let done = "reconciled a parked intent without an outcome: status, is due";
        DIRECT_ANEW.is(done, (row.status, row.is_due()), (IntentStatus::Open, true));
        let done = "reconciled it, then claimed for w2";
        let claimed = self.claim("w2", 100, HOUR).await;
        let Some(row) = claimed.iter().find(|intent| intent.key == key) else {
            CLAIM.broken(done, "\"parked\" among the claimed", &format!("{claimed:?}"))
        };
        let reconciled = direct(Directive::Reconcile).await;
        let done = "reconciled it while w2 had it: fence, owner, claims";
        let found = (reconciled.fence, reconciled.owner.as_deref(), reconciled.claims);
        DIRECT.is(done, found, (row.fence + 1, None, 0));
        self.changes_nothing("an operator reconciled it", &hold_of(row)).await;
        self.end_after(&key.reference, IntentStatus::Unknown).await;
        let row = direct(Directive::Reconcile).await;
        let done = "ended as unknown, with a lookup in an hour; then reconciled: status, is due";
        DIRECT_ANEW.is(done, (row.status, row.is_due()), (IntentStatus::Unknown, true));
        self.end_after(&key.reference, IntentStatus::Ended).await;
        for directive in [Directive::Park, Directive::Reconcile] {
            let directed = self.store.direct(&self.key("nothing"), directive).await;
            DIRECT_ENDED.is("directed \"nothing\", which was not begun", directed, Ok(false));
        }
    }

    /// Claims an intent and ends it.
    async fn end_after(&self, reference: &str, status: IntentStatus) {
        let hold = hold_of(&self.take(reference, "w2", HOUR).await);
        self.end("ended a claimed intent", &hold, ending(status, "outcome", Some(HOUR))).await;
    }

    pub(super) async fn histories_are_bounded(&self) {
        // All lines together are longer.
        let owner = "w".repeat(40);
        self.begun("long", &owner, OVER).await;
        for _ in 0..200 {
            self.take("long", &owner, HOUR).await;
        }
        let IntentRow { history, .. } = self.row("long").await;
        HISTORY.holds("claimed 200 times", history.len() <= 8192, &history.len(), "at most 8192 bytes");
        let last = history.lines().last().unwrap_or_default();
        let is = history.ends_with('\n') && last.contains(&format!(" {owner} 201 "));
        HISTORY.holds("claimed 200 times", is, &last, "a last line with the owner and 201 in it, and \\n at its end");
        self.finish(&self.row("long").await).await;
    }
}
