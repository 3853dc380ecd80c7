//! Texts are shortened, as by a column of a fixed width: the machine is lost.

use super::*;

/// The store, which cuts a text.
struct Texts(FileStore, Text);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Text {
    State,
    Request,
    Asks,
    Outcome,
    Event,
}

impl Texts {
    /// Cuts a text to this number of characters, if it is the one that is cut.
    fn cut(&self, cut: Text, to: usize, text: &str) -> String {
        text.chars().take(if self.1 == cut { to } else { usize::MAX }).collect()
    }
}

impl IntentStore for Texts {
    pass_on! {
        enlist save renew release events claim claim_one find list accounts direct untold told shares stop stopped
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let state = self.cut(Text::State, 21_845, &new.state);
        let request = new.request.as_deref().map(|request| self.cut(Text::Request, 255, request));
        self.0.begin(NewIntent { state, request, ..new }).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        let asks = rest.asks.as_deref().map(|asks| self.cut(Text::Asks, 255, asks));
        self.0.rest(hold, IntentRest { asks, ..rest }).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        let outcome = self.cut(Text::Outcome, 255, &end.outcome);
        self.0.end(hold, IntentEnd { outcome, ..end }).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        self.0.deliver(key, &self.cut(Text::Event, 255, event)).await
    }
}

#[test]
fn a_text_that_is_cut_is_found() {
    for (text, done) in [
        (Text::State, "began with a state that is"),
        (Text::Request, "began with a request that is"),
        (Text::Asks, "rested with a question that is"),
        (Text::Outcome, "ended with an outcome that is"),
        (Text::Event, "delivered an event that is"),
    ] {
        let promise = "Accounts and references are compared byte by byte, and texts";
        is_found(&format!("{text:?}"), |store| Texts(store, text), promise, done);
    }
}
