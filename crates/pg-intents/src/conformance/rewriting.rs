//! The requirements of a store whose texts can be replaced.

use super::{
    HOUR, OVER, Suite, ending,
    promise::{DELIVER, REWRITE, REWRITE_ONLY, SAVE, SCAN},
};
use crate::{IntentEnd, IntentKey, IntentRow, IntentStatus, RewritableStore};

/// Checks a store whose texts can be replaced. `run` distinguishes the rows of this run from those of other runs in the
/// same database.
///
/// # Panics
/// If the store breaks a promise: the message says which, what was done, what was expected and what was found.
pub async fn check_rewriting<S: RewritableStore>(store: &S, run: &str) {
    let suite = Suite { store, account: format!("rewriting {run}") };
    suite.a_scan_finds_every_intent_once().await;
    suite.texts_are_replaced_and_nothing_else().await;
    suite.an_intent_changed_meanwhile_is_not_replaced().await;
}

impl<S: RewritableStore> Suite<'_, S> {
    async fn a_scan_finds_every_intent_once(&self) {
        let other = self.apart("of another");
        let mut expected: Vec<IntentKey> = Vec::new();
        for (suite, reference) in [(self, "b"), (self, "a"), (&other, "a"), (self, "Ä"), (self, "ended")] {
            expected.push(suite.begun(reference, "w1", HOUR).await.key);
        }
        expected.sort();
        // The names of other runs may begin alike.
        let own = [&*self.account, &*other.account];
        let hold = super::hold_of(&self.row("ended").await);
        self.end("ended as paid", &hold, ending(IntentStatus::Ended, "paid", None)).await;
        for most in [1, 2, 100] {
            let done = format!("scanned all intents in pages of {most}");
            let (mut found, mut last) = (Vec::new(), None);
            loop {
                let page = SCAN.ok(&done, self.store.scan(last.as_ref(), most).await);
                SCAN.holds(&done, page.len() <= most as usize, &page.len(), &format!("at most {most} in a page"));
                let Some(end) = page.last() else { break };
                last = Some(end.key.clone());
                found.extend(page.into_iter().map(|row| row.key).filter(|key| own.contains(&&*key.account)));
            }
            found.sort();
            SCAN.is(&done, &found, &expected);
        }
    }

    async fn texts_are_replaced_and_nothing_else(&self) {
        let key = self.key("whole");
        let hold = self.begun("whole", "w1", HOUR).await;
        for event in ["one", "two"] {
            DELIVER.is("delivered", self.store.deliver(&key, event).await, Ok(true));
        }
        let old = self.row("whole").await;
        let new = IntentRow {
            kind: "kind".to_owned(),
            digest: "digest".to_owned(),
            request: None,
            state: "state".to_owned(),
            asks: Some("asks".to_owned()),
            outcome: Some("outcome".to_owned()),
            ..old.clone()
        };
        let events = [(2, "zwei".to_owned()), (7, "none".to_owned())];
        let rewritten = self.store.rewrite(&old, &new, &events).await;
        REWRITE.is("rewrote all texts of an unchanged intent", rewritten, Ok(true));
        Self::unchanged(REWRITE_ONLY, "rewrote all texts, and read the row", &self.row("whole").await, &new);
        let done = "events 1 and 2 waited; rewrote events 2 and 7, and read events";
        let events = vec![(1, "one".to_owned()), (2, "zwei".to_owned())];
        REWRITE.is(done, self.store.events(&key, 0).await, Ok(events));
        let saved = self.store.save(&hold, "saved", OVER).await;
        REWRITE_ONLY.is("rewrote it, then saved under the lease of before", saved, Ok(()));
    }

    async fn an_intent_changed_meanwhile_is_not_replaced(&self) {
        let hold = self.begun("meanwhile", "w1", HOUR).await;
        let key = self.key("meanwhile");
        DELIVER.is("delivered", self.store.deliver(&key, "one").await, Ok(true));
        let old = self.row("meanwhile").await;
        let new = IntentRow { state: "late".to_owned(), ..old.clone() };
        SAVE.is("saved under the lease", self.store.save(&hold, "saved", OVER).await, Ok(()));
        let done = "read it, saved it, then rewrote what was read before";
        let rewritten = self.store.rewrite(&old, &new, &[(1, "late".to_owned())]).await;
        REWRITE.is(done, rewritten, Ok(false));
        REWRITE.is(done, &*self.row("meanwhile").await.state, "saved");
        let events = self.store.events(&key, 0).await;
        REWRITE.is(&format!("{done}: events"), events, Ok(vec![(1, "one".to_owned())]));
        // A claim changes only the question.
        let old = self.row("meanwhile").await;
        self.take("meanwhile", "w2", HOUR).await;
        let new = IntentRow { state: "new".to_owned(), ..old.clone() };
        let done = "read it, claimed it, then rewrote what was read before";
        REWRITE.is(done, self.store.rewrite(&old, &new, &[]).await, Ok(true));
        let row = self.row("meanwhile").await;
        REWRITE_ONLY.is(done, (&*row.state, row.fence, row.owner.as_deref()), ("new", 2, Some("w2")));
        // An end may change only the outcome.
        let end = IntentEnd { state: row.state.clone(), ..ending(IntentStatus::Ended, "paid", None) };
        self.end("ended as paid, with the state of before", &super::hold_of(&row), end).await;
        let new = IntentRow { state: "late".to_owned(), ..row.clone() };
        let done = "read it, ended it as paid with the state of before, then rewrote what was read before";
        REWRITE.is(done, self.store.rewrite(&row, &new, &[]).await, Ok(false));
        REWRITE.is(done, self.row("meanwhile").await.outcome.as_deref(), Some("paid"));
    }
}
