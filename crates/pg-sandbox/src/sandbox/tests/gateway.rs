//! The payment gateway end to end: signed forms in, documented bodies out.

use super::*;
use crate::{
    records::{Payment, SESSION_LIFETIME, Session, UniqueReference},
    store::{Query, StoredRecord},
};

mod authorisations;
mod cancellations;
mod captures;
mod details;
mod isolation;
mod lookups;
mod misplaced;
mod own_references;
mod refunds;
mod sessions;
mod shapes;
mod silent_bank;
mod three_d_secure;
mod tokens;
mod unique_references;
mod updates;

const PAN: &str = "4111111111111111";
const DECLINED: &str = "4000000000002008";
const POOR: &str = "4000000000003006";
const SILENT: &str = "4000000000004004";
const CV2: &str = "987";
/// A key of the right form that no transaction has.
const NO_KEY: &str = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";

/// A sandbox, and the time of its calls.
struct Shop {
    sandbox: Sandbox,
    at: Timestamp,
}

/// An answer in JSON.
#[derive(Debug)]
struct Answer {
    status: u16,
    body: Value,
    basis: String,
    warning: String,
}

impl Answer {
    /// Returns a member of the body; empty if it is missing.
    fn text(&self, name: &str) -> &str {
        self.body[name].as_str().unwrap_or_default()
    }

    /// The body without its trace code, which no other answer has.
    fn without_trace(&self) -> Value {
        let mut body = self.body.clone();
        body.as_object_mut().unwrap().remove("traceCode");
        body
    }

    fn key(&self) -> String {
        assert_eq!(self.text("transactionStatusCode"), "600", "{self:?}");
        self.text("transactionKey").to_owned()
    }

    /// The code of an error, or of a transaction's status.
    fn code(&self) -> &str {
        match self.status {
            200 => self.text("transactionStatusCode"),
            _ => self.text("errorCode"),
        }
    }

    fn rests_on(&self, assumption: &str) -> bool {
        self.basis.split(", ").any(|part| part == assumption)
    }
}

impl Shop {
    fn open() -> Self {
        Self { sandbox: empty(), at: now() }
    }

    /// A sandbox whose account `main` captures and cancels preauths in parts.
    fn dividing() -> Self {
        let main = Merchant { divisible_preauths: true, ..account("main") };
        let merchants = crate::merchants::Merchants::with(vec![main]).unwrap();
        let settings = Settings { merchants, ..Settings::default() };
        Self { sandbox: empty_with(settings), at: now() }
    }

    fn wait(&mut self, seconds: u64) {
        self.at = self.at.plus(std::time::Duration::from_secs(seconds));
    }

    fn response(&mut self, merchant: &str, path: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        let path = format!("/v3/transaction/{path}");
        self.sandbox.handle(self.at, request(Method::POST, &path, signed(&account(merchant), pairs)))
    }

    fn call_as(&mut self, merchant: &str, method: &str, pairs: &[(&str, &str)]) -> Answer {
        let response = self.response(merchant, &format!("{method}/json"), pairs);
        Answer {
            status: response.status().as_u16(),
            body: serde_json::from_slice(response.body()).unwrap(),
            warning: response
                .headers()
                .get("pg-warning")
                .map_or_else(String::new, |value| value.to_str().unwrap().to_owned()),
            basis: String::from_utf8(response.headers()["pg-basis"].as_bytes().to_vec()).unwrap(),
        }
    }

    fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> Answer {
        self.call_as("main", method, pairs)
    }

    /// Captures, cancels or refunds.
    fn operate(&mut self, method: &str, key: &str, value: Option<u64>) -> Answer {
        let value = value.map(|value| value.to_string());
        let mut pairs = vec![("transactionKey", key)];
        pairs.extend(value.iter().map(|value| ("transactionValue", value.as_str())));
        self.call(method, &pairs)
    }

    /// Returns the rows of a lookup, which must succeed.
    fn find(&mut self, pairs: &[(&str, &str)]) -> Vec<Value> {
        let answer = self.call("lookup", pairs);
        assert_eq!(answer.status, 200, "{answer:?}");
        let rows = answer.body["transactions"].as_object().cloned().unwrap_or_default();
        (0..rows.len()).map(|number| rows[&number.to_string()].clone()).collect()
    }

    fn payments(&mut self) -> Vec<Payment> {
        Transaction::new(&mut *self.sandbox.store).find(&Query::oldest(1000)).unwrap()
    }

    fn payment(&mut self, key: &str) -> Payment {
        self.stored(key).unwrap()
    }

    fn stored<T: StoredRecord>(&mut self, key: &str) -> Option<T> {
        Transaction::new(&mut *self.sandbox.store).get(key).unwrap()
    }

    fn put<T: StoredRecord>(&mut self, record: &T) {
        put(&mut self.sandbox, record);
    }

    fn seal(&mut self, owner: &str, number: &str, expiry: (&str, &str)) -> HeldCard {
        HeldCard::seal(&self.sandbox.vault, self.sandbox.keys.dice(), owner, number, expiry)
    }

    /// A session of the account `main` to which this card and the CV2 were posted.
    fn session(&mut self, number: &str) -> String {
        let key = self.sandbox.keys.record(self.at);
        let session = Session {
            key: key.clone(),
            merchant: "main".to_owned(),
            error_page_url: "https://shop.example/error".to_owned(),
            customer_reference: Some("customer-7".to_owned()),
            created: self.at,
            expires: self.at.plus(SESSION_LIFETIME),
            card: Some(self.seal(&key, number, ("05", "2026"))),
            details: Details::from([("cardholderName".to_owned(), "A Customer".to_owned())]),
            collected: vec![("collectPlan".to_owned(), "gold".to_owned())],
            own_clock: false,
        };
        self.put(&session);
        give_cv2(&mut self.sandbox, &key, CV2, session.expires);
        key
    }

    /// An enabled token of the account `main` for the customer `customer-7`.
    fn token(&mut self, number: &str, expiry: (&str, &str)) -> String {
        let key = token(&mut self.sandbox, "main");
        let card = self.seal(&key, number, expiry);
        let held: CardToken = self.stored(&key).unwrap();
        self.put(&CardToken { card, ..held });
        key
    }
}

/// Whether a record contains the text as a whole value.
fn holds(record: &impl serde::Serialize, text: &str) -> bool {
    fn within(value: &Value, text: &str) -> bool {
        match value {
            Value::String(held) => held == text,
            Value::Array(values) => values.iter().any(|value| within(value, text)),
            Value::Object(members) => members.values().any(|value| within(value, text)),
            _ => false,
        }
    }
    within(&serde_json::to_value(record).unwrap(), text)
}

/// The parameters of an order of 998 minor units, changed by `more`.
fn order<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    changed(&[("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499"), ("itemQuantity0", "2")], more)
}

/// The parameters of an order that is paid with a raw card.
fn raw<'a>(number: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let card = [("cardNumber", number), ("cardExpiryMonth", "05"), ("cardExpiryYear", "26"), ("cardCV2", CV2)];
    changed(&[&order(&[]), &card[..]].concat(), more)
}

fn changed<'a>(pairs: &[(&'a str, &'a str)], more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let kept = pairs.iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name));
    kept.chain(more).copied().collect()
}

/// A preauth of this many minor units.
fn reserve(shop: &mut Shop, amount: u64) -> String {
    let price = amount.to_string();
    shop.call("preauth", &raw(PAN, &[("itemPrice0", &price), ("itemQuantity0", "1")])).key()
}

/// An auth of this many minor units.
fn pay(shop: &mut Shop, amount: u64) -> String {
    let price = amount.to_string();
    shop.call("auth", &raw(PAN, &[("itemPrice0", &price), ("itemQuantity0", "1")])).key()
}
