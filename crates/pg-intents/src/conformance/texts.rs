//! Texts: keys are compared byte by byte, and every text comes back as it went.

use super::{
    HOUR, Suite, ending, hold_of,
    promise::{BEGIN, CLAIM, TEXTS},
};
use crate::{Begun, IntentRest, IntentStatus, IntentStore, NewIntent};

impl<S: IntentStore> Suite<'_, S> {
    pub(super) async fn odd_references_are_different(&self) {
        let long = "r".repeat(500);
        let odd = ["order'; DROP TABLE payment_intents; --", "日本語 \u{1F4B7}", "%_\\ \"\t", &long];
        // Each two of these are equal to some database: without case, accents, spaces at the end or Unicode's compositions.
        let alike = ["order é", "Order é", "order e", "order é ", "order e\u{301}"];
        let begin_alike = [format!("{long}1"), format!("{long}2")];
        for text in odd.into_iter().chain(alike).chain(begin_alike.iter().map(String::as_str)) {
            let new = NewIntent { state: format!("{{\"{text}\":1}}"), ..self.fresh(text, Some("w1"), HOUR) };
            let done = format!("began {text:?}, which is like no earlier reference byte by byte");
            TEXTS.is(&done, self.store.begin(new.clone()).await, Ok(Begun::New));
            let row = self.row(text).await;
            TEXTS.is(&done, (row.key.reference, row.state), (text.to_owned(), new.state));
        }
    }

    pub(super) async fn odd_accounts_are_different(&self) {
        let long = "a".repeat(300);
        let accounts = ["shop é", "Shop é", "shop e", "shop é ", &format!("{long}1"), &format!("{long}2")];
        let accounts: Vec<Suite<'_, S>> = accounts.into_iter().map(|account| self.apart(account)).collect();
        for suite in &accounts {
            let done = format!("began \"same\" of {:?}, which is like no earlier account byte by byte", suite.account);
            let new = suite.fresh("same", None, HOUR);
            TEXTS.is(&done, self.store.begin(new).await, Ok(Begun::New));
        }
        for suite in &accounts {
            let claimed = suite.claim("w1", 10, HOUR).await;
            let found: Vec<&str> = claimed.iter().map(|row| &*row.key.account).collect();
            CLAIM.is("claimed the intents of an account: their accounts", found, [&*suite.account]);
        }
    }

    pub(super) async fn every_text_comes_back_as_it_went(&self) {
        let suite = self.apart("texts");
        for (name, text) in [
            ("an odd text", " '日本語 \u{1F4B7} \"\\%_\t é ".to_owned()),
            ("a text of 90,000 bytes", "€".repeat(30_000)),
        ] {
            let is = |done: &str, found: Option<&str>| {
                let done = format!("{done} {name}, and read it");
                TEXTS.is(&format!("{done}: its length"), found.map(str::len), Some(text.len()));
                TEXTS.holds(&done, found == Some(&*text), &"another text", "the same text");
            };
            let (state, request, digest) = (text.clone(), Some(text.clone()), text.clone());
            let new = NewIntent { state, request, digest, ..suite.fresh(name, Some("w1"), HOUR) };
            BEGIN.is(&format!("began with {name}"), self.store.begin(new.clone()).await, Ok(Begun::New));
            let row = suite.row(name).await;
            is("began with a state that is", Some(&row.state));
            is("began with a request that is", row.request.as_deref());
            is("began with a digest that is", Some(&row.digest));
            let hold = hold_of(&row);
            TEXTS.ok("delivered", self.store.deliver(&hold.key, &text).await);
            let events = TEXTS.ok("read events", self.store.events(&hold.key, 0).await);
            is("delivered an event that is", events.first().map(|(_, event)| &**event));
            let rest = IntentRest { state: text.clone(), asks: Some(text.clone()), heard: 0, wake: HOUR };
            TEXTS.ok("rested", self.store.rest(&hold, rest).await);
            let row = suite.row(name).await;
            is("rested with a state that is", Some(&row.state));
            is("rested with a question that is", row.asks.as_deref());
            let hold = hold_of(&suite.take(name, "w2", HOUR).await);
            TEXTS.ok("saved", self.store.save(&hold, &text, HOUR).await);
            is("saved a state that is", Some(&suite.row(name).await.state));
            let end = ending(IntentStatus::Ended, &text, None);
            suite.end("ended", &hold, end).await;
            is("ended with an outcome that is", suite.row(name).await.outcome.as_deref());
            TEXTS.ok("stopped", self.store.stop(&suite.account, Some(&text)).await);
            is("stopped for a reason that is", TEXTS.ok("asked", self.store.stopped(&suite.account).await).as_deref());
            TEXTS.ok("resumed", self.store.stop(&suite.account, None).await);
        }
    }
}
