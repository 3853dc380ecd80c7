//! The control interface as a developer meets it: through requests and answers alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod bodies;
mod clock;
mod faults;
mod health;
mod lists;
mod loopback;
mod requests;

use std::path::Path;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response};
use pg_sandbox::{ResponseDelivery, Sandbox, Settings};
use pg_support::{MerchantDesk, request, signed_form};
use serde_json::Value;

pub(crate) const PAN: &str = "4000000000001000";
pub(crate) const CV2: &str = "9173";

pub(crate) struct Shop(MerchantDesk);

pg_support::is_a_desk!(Shop);

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) text: String,
    pub(crate) headers: HeaderMap,
    pub(crate) disposition: ResponseDelivery,
}

impl Answer {
    fn of(response: &Response<Bytes>) -> Self {
        Self {
            status: response.status().as_u16(),
            text: String::from_utf8_lossy(response.body()).into_owned(),
            headers: response.headers().clone(),
            disposition: ResponseDelivery::of(response),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn in_file(path: &Path) -> Self {
        Self::over(Sandbox::open(path, Settings::default(), [7; 32]).unwrap())
    }

    fn over(sandbox: Sandbox) -> Self {
        Self(MerchantDesk::at(sandbox))
    }

    /// A signed call of the account `main`, answered in JSON.
    pub(crate) fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> Answer {
        self.call_as("main", method, pairs)
    }

    pub(crate) fn call_as(&mut self, merchant: &str, method: &str, pairs: &[(&str, &str)]) -> Answer {
        let body = signed_form(&self.account(merchant), pairs);
        self.ask(Method::POST, &format!("/v3/{method}/json"), body)
    }

    /// A payment of this amount in minor units, with this reference.
    pub(crate) fn pay(&mut self, price: u32, reference: &str) -> Answer {
        let price = price.to_string();
        self.call("transaction/auth", &order(&price, reference))
    }

    /// How many transactions there are with this reference.
    pub(crate) fn paid(&mut self, reference: &str) -> usize {
        let found = self.call("transaction/lookup", &[("merchantReference", reference)]).json();
        found["transactions"].as_object().map_or(0, serde_json::Map::len)
    }

    /// Something of the control interface; an empty body asks, another one posts.
    pub(crate) fn control(&mut self, path: &str, body: &str) -> Answer {
        let method = if body.is_empty() { Method::GET } else { Method::POST };
        self.ask(method, &format!("/_sandbox/{path}"), body.to_owned())
    }

    /// A fault that is accepted.
    pub(crate) fn fault(&mut self, body: &str) -> Value {
        let answer = self.control("faults", body);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    pub(crate) fn ask(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Answer {
        self.send(request(method, path, body))
    }

    pub(crate) fn send(&mut self, request: Request<Bytes>) -> Answer {
        let answer = Answer::of(&self.handle(request));
        assert!(!answer.text.contains(PAN) && !answer.text.contains(CV2), "{}", answer.text);
        answer
    }
}

/// The parameters of a payment with a raw card.
pub(crate) fn order<'a>(price: &'a str, reference: &'a str) -> [(&'a str, &'a str); 9] {
    [
        ("cardNumber", PAN),
        ("cardExpiryMonth", "12"),
        ("cardExpiryYear", "30"),
        ("cardCV2", CV2),
        ("currency", "GBP"),
        ("itemName0", "Tea"),
        ("itemPrice0", price),
        ("itemQuantity0", "1"),
        ("merchantReference", reference),
    ]
}
