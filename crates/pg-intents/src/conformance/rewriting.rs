//! The requirements of a store whose texts can be replaced.

use super::{HOUR, OVER, Suite, known};
use crate::{Claimed, IntentKey, IntentRow, IntentStatus, NewIntent, RewritableStore};

/// Checks a store whose texts can be replaced. `run` distinguishes the rows of this run from those of other runs in the
/// same database.
///
/// # Panics
/// If the store breaks a promise; the message says which.
pub async fn check_rewriting<S: RewritableStore>(store: &S, run: &str) {
    let suite = Suite { store, account: format!("rewriting {run}") };
    suite.a_scan_finds_every_intent_once().await;
    suite.texts_are_replaced_and_nothing_else().await;
    suite.an_intent_changed_meanwhile_is_not_replaced().await;
}

impl<S: RewritableStore> Suite<'_, S> {
    async fn a_scan_finds_every_intent_once(&self) {
        let mut expected = Vec::new();
        for (account, reference) in [("", "b"), ("", "a"), (" of another", "a"), ("", "Ä"), ("", "ended")] {
            let key = IntentKey::new(format!("{}{account}", self.account), reference);
            let new = NewIntent { key: key.clone(), ..self.fresh(reference, Some("w1"), HOUR) };
            self.store.begin(new).await.expect("begin answers");
            expected.push(key);
        }
        let hold = self.row("ended").await.hold().expect("an owner");
        let end = Self::end(IntentStatus::Ended, "paid", None);
        assert_eq!(self.store.end(&hold, end).await, Ok(()));
        for most in [1, 2, 100] {
            let (mut found, mut last) = (Vec::new(), None);
            loop {
                let page = self.store.scan(last.as_ref(), most).await.expect("scan answers");
                assert!(page.len() <= usize::try_from(most).unwrap_or(usize::MAX), "a page is bounded");
                let Some(end) = page.last() else { break };
                last = Some(end.key.clone());
                found.extend(page.into_iter().map(|row| row.key).filter(|key| key.account.starts_with(&self.account)));
            }
            found.sort();
            expected.sort();
            assert_eq!(found, expected, "each intent once, in pages of {most}");
        }
    }

    async fn texts_are_replaced_and_nothing_else(&self) {
        let key = self.key("whole");
        let hold = self.begun("whole", "w1", HOUR).await;
        for event in ["one", "two"] {
            assert_eq!(self.store.deliver(&key, event).await, Ok(true));
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
        assert_eq!(self.store.rewrite(&old, &new, &events).await, Ok(true));
        let found = self.row("whole").await;
        assert_eq!(IntentRow { read_at: 0, ..found.clone() }, IntentRow { read_at: 0, ..new }, "its texts alone");
        let events = self.store.events(&key, 0).await.expect("events answers");
        assert_eq!(events, [(1, "one".to_owned()), (2, "zwei".to_owned())], "the events that it names, if they wait");
        assert_eq!(self.store.save(&hold, "saved", OVER).await, Ok(()), "its worker keeps the lease");
    }

    async fn an_intent_changed_meanwhile_is_not_replaced(&self) {
        let hold = self.begun("meanwhile", "w1", HOUR).await;
        let key = self.key("meanwhile");
        assert_eq!(self.store.deliver(&key, "one").await, Ok(true));
        let old = self.row("meanwhile").await;
        let new = IntentRow { state: "late".to_owned(), ..old.clone() };
        assert_eq!(self.store.save(&hold, "saved", OVER).await, Ok(()));
        assert_eq!(self.store.rewrite(&old, &new, &[(1, "late".to_owned())]).await, Ok(false), "a worker saved it");
        assert_eq!(self.row("meanwhile").await.state, "saved");
        let events = self.store.events(&key, 0).await;
        assert_eq!(events, Ok(vec![(1, "one".to_owned())]), "no event is replaced either");
        // A claim changes only the question.
        let old = self.row("meanwhile").await;
        let claimed = self.store.claim_one(&key, "w2", HOUR, &known()).await;
        assert!(matches!(claimed, Ok(Some(Claimed::Taken(_)))), "{claimed:?}");
        let new = IntentRow { state: "new".to_owned(), ..old.clone() };
        assert_eq!(self.store.rewrite(&old, &new, &[]).await, Ok(true));
        let row = self.row("meanwhile").await;
        assert_eq!((&*row.state, row.fence, row.owner.as_deref()), ("new", 2, Some("w2")));
    }
}
