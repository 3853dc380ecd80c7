//! The sandbox, asked what the model was asked.

use std::collections::BTreeMap;

use proptest_state_machine::StateMachineTest;
use serde_json::Value;

use super::{Customer, Promise, Step, Switch, Tokens};
use crate::models::service::{NO_KEY, Pairs, Service, Who, before_newest, text};

/// A sandbox, and the keys of the model's payments and tokens.
pub(crate) struct Beside<const WRONG: u8> {
    service: Service,
    payments: Vec<String>,
    tokens: Vec<String>,
    /// The identifier of each card at each account.
    cards: BTreeMap<(Who, &'static str), u64>,
}

impl<const WRONG: u8> StateMachineTest for Beside<WRONG> {
    type SystemUnderTest = Self;
    type Reference = Tokens<WRONG>;

    fn init_test(_: &Tokens<WRONG>) -> Self {
        Self { service: Service::open(), payments: Vec::new(), tokens: Vec::new(), cards: BTreeMap::new() }
    }

    fn apply(mut beside: Self, model: &Tokens<WRONG>, step: Step) -> Self {
        let (who, method, pairs) = beside.call(step);
        let answer = beside.service.version_3(who, method, pairs);
        match (&model.promise, answer) {
            (Promise::Refused(codes), Err(code)) => assert!(codes.contains(&&*code), "{code}, not {codes:?}"),
            (Promise::Paid(status), Ok(paid)) => {
                assert_eq!(text(&paid, "transactionStatusCode"), *status);
                beside.payments.push(text(&paid, "transactionKey").to_owned());
            }
            (Promise::Ok, Ok(done)) => assert_eq!(done["result"], "OK"),
            (Promise::Made, Ok(made)) => {
                let record = &made["cardKeyDetails"]["0"];
                assert!(beside.tokens.iter().all(|key| key != text(record, "cardKey")), "it was there before");
                beside.tokens.push(text(record, "cardKey").to_owned());
                beside.hold_records(model, &made, &[model.tokens.len() - 1]);
            }
            (Promise::OneOf(some), Ok(given)) => {
                let key = text(&given["cardKeyDetails"]["0"], "cardKey");
                let at = some.iter().find(|at| beside.tokens[**at] == key).copied();
                let at = at.unwrap_or_else(|| panic!("{key} is none of the tokens {some:?}"));
                beside.hold_records(model, &given, &[at]);
            }
            (Promise::Found(wanted), Ok(found)) => beside.hold_records(model, &found, wanted),
            (promise, answer) => panic!("{answer:?}, not {promise:?}"),
        }
        beside
    }

    fn teardown(mut beside: Self, model: Tokens<WRONG>) {
        beside.hold_list(&model);
        for (at, token) in model.tokens.iter().enumerate().filter(|(_, token)| !token.deleted) {
            let pairs = vec![("cardKey", beside.tokens[at].clone())];
            let found = beside.service.version_3(token.owner, "token/lookup", pairs).unwrap();
            beside.hold_records(&model, &found, &[at]);
        }
    }
}

impl<const WRONG: u8> Beside<WRONG> {
    /// The call of a step.
    fn call(&self, step: Step) -> (Who, &'static str, Pairs) {
        let key = |keys: &[String], which: usize| {
            keys.get(before_newest(keys.len(), which)).map_or_else(|| NO_KEY.to_owned(), Clone::clone)
        };
        let by = |who: Who, method, first: Pairs, customer: Customer| {
            let customer = customer.map(|customer| ("merchantCustomerReference", customer.to_owned()));
            (who, method, first.into_iter().chain(customer).collect())
        };
        match step {
            Step::Pay { who, number, customer, name } => {
                let card = [
                    ("cardNumber", number),
                    ("cardExpiryMonth", "12"),
                    ("cardExpiryYear", "49"),
                    ("cardholderName", name),
                ];
                let card = card.map(|(name, value)| (name, value.to_owned()));
                by(who, "transaction/auth", card.into_iter().chain(order()).collect(), customer)
            }
            Step::PayByKey { who, token, customer } => {
                let card = ("cardKey", key(&self.tokens, token));
                by(who, "transaction/authCardKey", std::iter::once(card).chain(order()).collect(), customer)
            }
            Step::Refund { who, payment } => {
                (who, "transaction/refund", vec![("transactionKey", key(&self.payments, payment))])
            }
            Step::Tokenise { who, payment, customer, onto } => {
                let mut pairs = vec![("transactionKey", key(&self.payments, payment))];
                pairs.extend(onto.map(|onto| ("cardKey", key(&self.tokens, onto))));
                by(who, "token/tokeniseTransactionKey", pairs, customer)
            }
            Step::Switch { who, token, customer, to } => {
                let method = match to {
                    Switch::Enable => "token/enable",
                    Switch::Disable => "token/disable",
                    Switch::Delete => "token/delete",
                };
                by(who, method, vec![("cardKey", key(&self.tokens, token))], customer)
            }
            Step::Update { who, token, customer, details } => {
                let mut pairs = vec![("cardKey", key(&self.tokens, token))];
                pairs.extend(details.iter().map(|(name, value)| (*name, (*value).to_owned())));
                by(who, "token/updateCardKeyDetails", pairs, customer)
            }
            Step::LookUp { who, token, customer } => {
                let token = token.map(|token| ("cardKey", key(&self.tokens, token)));
                by(who, "token/lookup", token.into_iter().collect(), customer)
            }
        }
    }

    /// Holds the records of a reply against the model's tokens, in their order.
    fn hold_records(&mut self, model: &Tokens<WRONG>, reply: &Value, wanted: &[usize]) {
        let records = &reply["cardKeyDetails"];
        assert_eq!(records.as_object().unwrap().len(), wanted.len(), "{reply}");
        for (number, at) in wanted.iter().enumerate() {
            let (record, token) = (&records[number.to_string()], &model.tokens[*at]);
            let (card, masked) = (&token.card, format!("{}******{}", &token.number[..6], &token.number[12..]));
            for (shown, wanted) in [
                (&record["cardKey"], self.tokens[*at].as_str()),
                (&record["merchantCustomerReference"], token.customer.unwrap_or_default()),
                (&record["enabled"], if token.enabled { "1" } else { "0" }),
                (&record["card"]["cardNumber"], &masked),
                (&record["card"]["cardDescription"], card.description),
                (&record["card"]["cardholderName"], card.name),
                (&record["card"]["cardExpiryMonth"], card.month),
                (&record["card"]["cardExpiryYear"], card.year),
                (&record["customer"]["customerEmail"], card.email),
                (&record["cardholderAddress"]["cardholderAddressTown"], card.town),
            ] {
                assert_eq!(shown, wanted, "{record}");
            }
            self.hold_identifier((token.owner, token.number), record["cardUniqueIdentifier"].as_u64().unwrap());
        }
    }

    /// The same for one card at one account, another for every other (A66).
    fn hold_identifier(&mut self, card: (Who, &'static str), identifier: u64) {
        let known = *self.cards.entry(card).or_insert(identifier);
        assert_eq!(known, identifier);
        assert_eq!(self.cards.values().filter(|other| **other == identifier).count(), 1);
    }

    /// Everything that is stored: whose it is, and whether it is enabled.
    fn hold_list(&mut self, model: &Tokens<WRONG>) {
        let list = self.service.list("tokens");
        let shown: Vec<(&str, &str, bool)> = list
            .iter()
            .map(|held| (text(held, "cardKey"), text(held, "merchant"), held["enabled"].as_bool().unwrap()))
            .collect();
        let there = model.tokens.iter().zip(&self.tokens).filter(|(token, _)| !token.deleted);
        let wanted: Vec<(&str, &str, bool)> =
            there.map(|(token, key)| (key.as_str(), token.owner.name(), token.enabled)).collect();
        assert_eq!(shown, wanted);
    }
}

fn order() -> [(&'static str, String); 3] {
    [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")].map(|(name, value)| (name, value.to_owned()))
}
