//! The account updater and its callbacks as a merchant meets them: through requests, answers and what
//! the sandbox wants sent, on a clock that the test turns.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod batches;
mod callbacks;
mod control;
mod isolation;
mod refusals;
mod restart;
mod simulator;

use std::path::Path;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use pg_sandbox::{
    Outgoing, Sandbox, Settings,
    merchants::{Merchant, Merchants},
};
use pg_support::{MerchantDesk, body_of, request, signed_form};
use serde_json::Value;

/// The pair that get each other's number, the card that gets a month, and two that stay.
pub(crate) const A: &str = "4000000000008005";
pub(crate) const B: &str = "4000000000009003";
pub(crate) const MONTH: &str = "4000000000010001";
pub(crate) const PLAIN: &str = "4000000000001000";
pub(crate) const OTHER: &str = "5200000000001005";

pub(crate) const HOOK: &str = "http://127.0.0.1:9/hook";

pub(crate) struct Desk(MerchantDesk);

pg_support::is_a_desk!(Desk);

impl Desk {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn in_file(path: &Path, seed: u8) -> Self {
        Self::over(Sandbox::open(path, Settings::default(), [seed; 32]).unwrap())
    }

    /// With the main account changed.
    pub(crate) fn with(change: impl Fn(&mut Merchant)) -> Self {
        let mut main = Settings::default().merchants.by_name("main").unwrap().clone();
        change(&mut main);
        let settings = Settings::default().merchants(Merchants::with(vec![main]).unwrap());
        Self::over(pg_stores::sandbox_with(settings, [0; 32]))
    }

    /// With other settings of the sandbox.
    pub(crate) fn with_settings(change: impl Fn(Settings) -> Settings) -> Self {
        Self::over(pg_stores::sandbox_with(change(Settings::default()), [0; 32]))
    }

    fn over(sandbox: Sandbox) -> Self {
        Self(MerchantDesk::at(sandbox))
    }

    fn send(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        self.handle(request(method, path, body))
    }

    /// A call with its answer as text.
    pub(crate) fn call(&mut self, path: &str, pairs: &[(&str, &str)], sign: bool) -> (StatusCode, String) {
        let body = if sign {
            signed_form(&self.merchant, pairs)
        } else {
            let own =
                [("apiKey", self.merchant.api_key.expose()), ("apiPassword", self.merchant.api_password.expose())];
            body_of(&[&own, pairs].concat())
        };
        let response = self.send(Method::POST, &format!("/v3/{path}"), body);
        (response.status(), String::from_utf8(response.body().to_vec()).unwrap())
    }

    /// A signed call that fails: code and message.
    pub(crate) fn refused(&mut self, method: &str, pairs: &[(&str, &str)]) -> (String, String) {
        let (status, text) = self.call(&format!("{method}/json"), pairs, true);
        assert!(status.is_client_error(), "{method} {text}");
        let answer: Value = serde_json::from_str(&text).unwrap();
        let member = |name: &str| answer[name].as_str().unwrap().to_owned();
        (member("errorCode"), member("errorMessage"))
    }

    /// A token of a card that a customer paid with, good to May 2030.
    pub(crate) fn token(&mut self, number: &str, customer: &str) -> String {
        self.token_until(number, customer, ("05", "2030"))
    }

    pub(crate) fn token_until(&mut self, number: &str, customer: &str, (month, year): (&str, &str)) -> String {
        let order = [("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")];
        let card = [
            ("cardNumber", number),
            ("cardExpiryMonth", month),
            ("cardExpiryYear", &year[2..]),
            ("cardholderName", "R Holder"),
        ];
        let paid = self.done("transaction/auth", &[&order[..], &card[..]].concat());
        let pairs =
            [("transactionKey", paid["transactionKey"].as_str().unwrap()), ("merchantCustomerReference", customer)];
        let tokens = self.done("token/tokeniseTransactionKey", &pairs);
        tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap().to_owned()
    }

    pub(crate) fn updater_key(&self) -> String {
        self.merchant.account_updater_key.as_ref().unwrap().expose().to_owned()
    }

    /// Requests a batch and gives its key.
    pub(crate) fn request(&mut self, keys: &[&str], callback_url: &str) -> String {
        let (updater, keys) = (self.updater_key(), keys.join(","));
        let pairs = [("accountUpdaterKey", updater.as_str()), ("cardKey", &keys), ("callbackUrl", callback_url)];
        let answer = self.done("token/requestAccountUpdater", &pairs);
        assert_eq!(answer["result"], "OK");
        answer["batchKey"].as_str().unwrap().to_owned()
    }

    /// What a finished batch says.
    pub(crate) fn retrieve(&mut self, batch: &str) -> Value {
        self.done("token/retrieveAccountUpdater", &[("batchKey", batch)])
    }

    /// Requests a batch without a callback, lets it finish, and gives its entries.
    pub(crate) fn updated(&mut self, keys: &[&str]) -> Vec<Value> {
        let batch = self.request(keys, "");
        self.wait(120);
        self.retrieve(&batch)["cardKeyDetails"].as_array().unwrap().clone()
    }

    /// What the lookup of a token shows, if there is one.
    pub(crate) fn look_up(&mut self, key: &str) -> Option<Value> {
        self.done("token/lookup", &[("cardKey", key)])["cardKeyDetails"].get("0").cloned()
    }

    pub(crate) fn get(&mut self, path: &str) -> (StatusCode, Value) {
        self.control(Method::GET, path, "")
    }

    pub(crate) fn control(&mut self, method: Method, path: &str, body: &str) -> (StatusCode, Value) {
        let response = self.send(method, &format!("/_sandbox/{path}"), body.to_owned());
        (response.status(), serde_json::from_slice(response.body()).unwrap())
    }

    /// A switch of the control interface that works.
    pub(crate) fn tell(&mut self, path: &str, body: &str) -> Value {
        let (status, answer) = self.control(Method::POST, path, body);
        assert_eq!(status, 200, "{path} {answer}");
        answer
    }

    /// The one callback that is due, reported as answered with this status.
    pub(crate) fn deliver(&mut self, status: u16) -> Outgoing {
        let mut due = self.due();
        assert_eq!(due.len(), 1, "{due:?}");
        let outgoing = due.remove(0);
        let status = StatusCode::from_u16(status).unwrap();
        self.delivered(&outgoing.id, Ok(status));
        outgoing
    }

    /// The newest callback of the journal.
    pub(crate) fn newest(&mut self) -> Value {
        self.get("callbacks?limit=1").1[0].clone()
    }
}

/// The body of a callback as text.
pub(crate) fn body(outgoing: &Outgoing) -> &str {
    std::str::from_utf8(outgoing.request.body()).unwrap()
}
