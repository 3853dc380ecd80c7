//! The sandbox, asked what the model was asked.

use std::collections::BTreeMap;

use proptest_state_machine::StateMachineTest;
use serde_json::Value;

use super::{Batches, Promise, Step};
use crate::models::service::{NO_KEY, Pairs, Service, Who, before_newest, text};

/// A sandbox, and the keys of the model's tokens and batches.
pub(crate) struct Beside<const WRONG: u8> {
    service: Service,
    tokens: Vec<String>,
    batches: Vec<String>,
}

impl<const WRONG: u8> StateMachineTest for Beside<WRONG> {
    type SystemUnderTest = Self;
    type Reference = Batches<WRONG>;

    fn init_test(_: &Batches<WRONG>) -> Self {
        Self { service: Service::open(), tokens: Vec::new(), batches: Vec::new() }
    }

    fn apply(mut beside: Self, model: &Batches<WRONG>, step: Step) -> Self {
        let answer = match step {
            Step::Wait(seconds) => {
                beside.service.wait(seconds);
                Ok(Value::Null)
            }
            Step::Store { who, number, month } => Ok(beside.store(who, number, month)),
            Step::Disable { who, token } => beside.change(who, "token/disable", token),
            Step::Delete { who, token } => beside.change(who, "token/delete", token),
            Step::Request { who, tokens, right_key, call_back } => beside.request(who, &tokens, right_key, call_back),
            Step::Retrieve { who, batch } => {
                let key = beside.batches.get(before_newest(beside.batches.len(), batch));
                let key = key.map_or(NO_KEY, |key| key).to_owned();
                beside.retrieve(who, key)
            }
        };
        match (&model.promise, answer) {
            (Promise::Nothing, Ok(Value::Null)) => {}
            (Promise::Stored, Ok(stored)) => beside.tokens.push(stored.as_str().unwrap().to_owned()),
            (Promise::Ok, Ok(done)) => assert_eq!(done["result"], "OK"),
            (Promise::Made, Ok(made)) => beside.batches.push(text(&made, "batchKey").to_owned()),
            (Promise::Results(at), Ok(results)) => beside.hold_results(model, *at, &results),
            (Promise::Refused(codes), Err(code)) => assert!(codes.contains(&&*code), "{code}, not {codes:?}"),
            (promise, answer) => panic!("{answer:?}, not {promise:?}"),
        }
        beside.hold_batches(model);
        beside.hold_tokens(model);
        assert_eq!(beside.service.list("callbacks").len(), model.callbacks(), "callbacks");
        beside
    }
}

impl<const WRONG: u8> Beside<WRONG> {
    fn token(&self, which: usize) -> String {
        self.tokens.get(before_newest(self.tokens.len(), which)).map_or_else(|| NO_KEY.to_owned(), Clone::clone)
    }

    /// The key of a card that was paid with.
    fn store(&mut self, who: Who, number: &str, month: &str) -> Value {
        let payment = [
            ("cardNumber", number),
            ("cardExpiryMonth", month),
            ("cardExpiryYear", "30"),
            ("currency", "GBP"),
            ("itemName0", "Tea"),
            ("itemPrice0", "499"),
        ];
        let payment = payment.map(|(name, value)| (name, value.to_owned())).into();
        let paid = self.service.version_3(who, "transaction/auth", payment).unwrap();
        let paid = vec![("transactionKey", text(&paid, "transactionKey").to_owned())];
        let stored = self.service.version_3(who, "token/tokeniseTransactionKey", paid).unwrap();
        stored["cardKeyDetails"]["0"]["cardKey"].clone()
    }

    fn change(&mut self, who: Who, method: &str, token: usize) -> Result<Value, String> {
        let pairs = vec![("cardKey", self.token(token))];
        self.service.version_3(who, method, pairs)
    }

    fn request(&mut self, who: Who, tokens: &[usize], right_key: bool, call_back: bool) -> Result<Value, String> {
        let held = self.service.merchant(who).account_updater_key.unwrap();
        let key = if right_key { held.expose().to_owned() } else { "another".to_owned() };
        let keys: Vec<String> = tokens.iter().map(|token| self.token(*token)).collect();
        let mut pairs: Pairs = vec![("accountUpdaterKey", key), ("cardKey", keys.join(","))];
        pairs.extend(call_back.then(|| ("callbackUrl", "https://shop.example/updates".to_owned())));
        let answer = self.service.version_3(who, "token/requestAccountUpdater", pairs)?;
        if text(&answer, "result") == "ERROR" { Err("ERROR".to_owned()) } else { Ok(answer) }
    }

    fn retrieve(&mut self, who: Who, key: String) -> Result<Value, String> {
        self.service.version_3(who, "token/retrieveAccountUpdater", vec![("batchKey", key)])
    }

    /// Every batch as its owner sees it.
    fn hold_batches(&mut self, model: &Batches<WRONG>) {
        for (at, batch) in model.batches.iter().enumerate() {
            match (self.retrieve(batch.owner, self.batches[at].clone()), &batch.answers) {
                (Ok(results), Some(_)) => self.hold_results(model, at, &results),
                (Err(code), None) => assert_eq!(code, "182"),
                (answer, promise) => panic!("{answer:?}, not {promise:?}"),
            }
        }
    }

    fn hold_results(&mut self, model: &Batches<WRONG>, at: usize, results: &Value) {
        let batch = &model.batches[at];
        assert_eq!(text(results, "batchKey"), self.batches[at]);
        let (entries, answers) = (results["cardKeyDetails"].as_array().unwrap(), batch.answers.as_ref().unwrap());
        assert_eq!(entries.len(), answers.len(), "{results}");
        for ((entry, old), (response, new)) in entries.iter().zip(&batch.tokens).zip(answers) {
            assert_eq!((text(entry, "oldCardKey"), text(entry, "response")), (&*self.tokens[*old], *response));
            let Some(new) = *new else {
                assert_eq!(entry.as_object().unwrap().len(), 2, "{entry}");
                continue;
            };
            self.hold_key(new, text(entry, "cardKey"));
            let (card, token) = (&entry["card"], &model.tokens[new]);
            let masked = format!("{}******{}", &token.number[..6], &token.number[12..]);
            let shown = ["cardNumber", "cardExpiryMonth", "cardExpiryYear"].map(|name| text(card, name));
            assert_eq!(shown, [&*masked, token.expiry.0, token.expiry.1], "{entry}");
        }
    }

    /// A new token has its own key, and keeps it.
    fn hold_key(&mut self, at: usize, key: &str) {
        if self.tokens.len() <= at {
            self.tokens.resize(at + 1, String::new());
        }
        if self.tokens[at].is_empty() {
            assert!(!self.tokens.iter().any(|known| known == key), "{key} was there before");
            key.clone_into(&mut self.tokens[at]);
        }
        assert_eq!(self.tokens[at], key);
    }

    /// Whose tokens there are, and whether they are enabled.
    fn hold_tokens(&mut self, model: &Batches<WRONG>) {
        let list = self.service.list("tokens");
        let shown: BTreeMap<&str, (&str, bool)> = list
            .iter()
            .map(|held| (text(held, "cardKey"), (text(held, "merchant"), held["enabled"].as_bool().unwrap())))
            .collect();
        let there = model.tokens.iter().zip(&self.tokens).filter(|(token, _)| !token.deleted);
        let wanted = there.map(|(token, key)| (&**key, (token.owner.name(), token.enabled))).collect();
        assert_eq!(shown, wanted);
    }
}
