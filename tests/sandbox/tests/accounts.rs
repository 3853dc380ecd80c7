//! Accounts that are made and removed while the sandbox runs: each is alone with its clock, its faults and its records.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod failing_store;
mod isolation;
mod key_order;
mod lifetime;
mod misuse;
mod servers;

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use pg_sandbox::{Outgoing, Sandbox, Settings, Timestamp, merchants::Merchant, secret::Secret};
use pg_support::{request, signed_form};
use serde_json::Value;

/// A sandbox and the time of the next request.
pub(crate) struct Shared {
    pub(crate) sandbox: Sandbox,
    pub(crate) now: Timestamp,
}

impl Shared {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn over(sandbox: Sandbox) -> Self {
        Self { sandbox, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() }
    }

    pub(crate) fn pass(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    pub(crate) fn send(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> (u16, Value) {
        let response = self.sandbox.handle(self.now, request(method, path, body));
        (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or_default())
    }

    pub(crate) fn get(&mut self, path: &str) -> Value {
        let (status, value) = self.send(Method::GET, &format!("/_sandbox/{path}"), "");
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> Value {
        let (status, value) = self.send(Method::POST, &format!("/_sandbox/{path}"), body.to_owned());
        assert_eq!(status, 200, "{path}: {value}");
        value
    }

    /// A call of the control interface that is refused, with status, code and reason.
    pub(crate) fn refused(&mut self, method: Method, path: &str, body: &str) -> (u16, String, String) {
        let (status, value) = self.send(method, &format!("/_sandbox/{path}"), body.to_owned());
        let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        (status, text("code"), text("error"))
    }

    /// Makes an account.
    pub(crate) fn account(&mut self, body: &str) -> Job {
        Job::of(&self.post("accounts", body))
    }

    pub(crate) fn due(&mut self) -> Vec<Outgoing> {
        self.sandbox.due(self.now)
    }
}

/// An account, and calls as it.
#[derive(Clone)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) merchant: Merchant,
}

impl Job {
    /// The account that was shown when it was made.
    pub(crate) fn of(shown: &Value) -> Self {
        let mut merchant = Settings::default().merchants.by_name("main").unwrap().clone();
        let secret = |name: &str| Secret::new(shown[name].as_str().unwrap());
        (merchant.api_key, merchant.api_password) = (secret("apiKey"), secret("apiPassword"));
        merchant.sha_key = secret("shaKey");
        merchant.account_updater_key = shown["accountUpdaterKey"].as_str().map(Secret::new);
        merchant.name = shown["name"].as_str().unwrap().to_owned();
        let enterprise = merchant.enterprise.as_mut().unwrap();
        (enterprise.api_key, enterprise.api_password) = (secret("enterpriseApiKey"), secret("enterpriseApiPassword"));
        Self { name: merchant.name.clone(), merchant }
    }

    /// A configured account.
    pub(crate) fn configured(name: &str) -> Self {
        let merchant = Settings::default().merchants.by_name(name).unwrap().clone();
        Self { name: name.to_owned(), merchant }
    }

    /// A signed call of version 3.
    pub(crate) fn call(&self, at: &mut Shared, method: &str, pairs: &[(&str, &str)]) -> (u16, Value) {
        at.send(Method::POST, &format!("/v3/{method}/json"), signed_form(&self.merchant, pairs))
    }

    pub(crate) fn done(&self, at: &mut Shared, method: &str, pairs: &[(&str, &str)]) -> Value {
        let (status, reply) = self.call(at, method, pairs);
        assert_eq!(status, 200, "{} {method}: {reply}", self.name);
        reply
    }

    /// Charges an approved card under its own reference, and gives the key of the transaction.
    pub(crate) fn pay(&self, at: &mut Shared, reference: &str) -> String {
        let paid = self.done(at, "transaction/auth", &pg_support::payment(reference));
        paid["transactionKey"].as_str().unwrap().to_owned()
    }

    pub(crate) fn session(&self, at: &mut Shared) -> (u16, Value) {
        self.call(at, "session/initiate", &[("errorPageUrl", "https://shop.example/error")])
    }

    /// A batch of the account updater for one card, which calls back.
    pub(crate) fn batch(&self, at: &mut Shared) {
        let key = self.pay(at, "for a batch");
        let tokens = self.done(at, "token/tokeniseTransactionKey", &[("transactionKey", &key)]);
        let request = [
            ("accountUpdaterKey", self.merchant.account_updater_key.as_ref().unwrap().expose()),
            ("cardKey", tokens["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap()),
            ("callbackUrl", "http://127.0.0.1:9/callback"),
        ];
        self.done(at, "token/requestAccountUpdater", &request);
    }
}
