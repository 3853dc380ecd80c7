//! One of the sandboxes over a database, called in its own process.

use bytes::Bytes;
use http::{Method, Request, Response};
use pg_sandbox::{Sandbox, Settings, StoreKey, Timestamp};
use serde_json::Value;

use super::KEY;

pub(super) struct Process {
    pub(super) sandbox: Sandbox,
    pub(super) now: Timestamp,
}

impl Process {
    /// Opens a sandbox; each needs its own number.
    pub(super) fn open(url: &str, number: u8) -> Self {
        let key = StoreKey::from_bytes(KEY);
        let sandbox = Sandbox::open_postgres(url, &key, Settings::default(), [number; 32]).unwrap();
        Self { sandbox, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() }
    }

    pub(super) fn send(&mut self, method: Method, path: &str, body: &str) -> (u16, Value) {
        shown(&self.sandbox.handle(self.now, request(method, path, body)))
    }

    /// A signed call of version 3.
    pub(super) fn call(&mut self, account: &str, method: &str, pairs: &[(&str, &str)]) -> (u16, Value) {
        let body = self.signed(account, pairs);
        self.send(Method::POST, &format!("/v3/{method}/json"), &body)
    }

    pub(super) fn signed(&self, account: &str, pairs: &[(&str, &str)]) -> String {
        let merchant = self.sandbox.settings().merchants.by_name(account).unwrap();
        pg_support::signed_form(merchant, pairs)
    }

    /// Charges an approved card under a reference, and gives the reply.
    pub(super) fn pay(&mut self, reference: &str) -> (u16, Value) {
        let pairs = payment(reference);
        let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
        self.call("main", "transaction/auth", &pairs)
    }
}

/// The parameters of a payment.
pub(super) fn payment(reference: &str) -> Vec<(&'static str, String)> {
    pg_support::payment(reference).map(|(name, value)| (name, value.to_owned())).into()
}

pub(super) fn request(method: Method, path: &str, body: &str) -> Request<Bytes> {
    let form = if body.starts_with('{') { "application/json" } else { "application/x-www-form-urlencoded" };
    let request = Request::builder().method(method).uri(path).header("content-type", form);
    request.body(Bytes::from(body.to_owned())).unwrap()
}

pub(super) fn shown(response: &Response<Bytes>) -> (u16, Value) {
    (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap_or_default())
}
