//! Requests as merchants send them, and tokens inserted directly into the records.

use http::{Method, StatusCode};
use serde_json::Value;

use super::super::*;
use crate::{
    merchants::Merchant,
    records::{CardToken, Details, HeldCard},
};

pub(super) const NOW: &str = "2026-05-04T10:00:00Z";

pub(super) fn now() -> Timestamp {
    Timestamp::parse(NOW).unwrap()
}

pub(super) fn request(method: Method, path: &str, body: impl Into<Bytes>) -> Request<Bytes> {
    let form = "application/x-www-form-urlencoded";
    Request::builder().method(method).uri(path).header("content-type", form).body(body.into()).unwrap()
}

pub(super) fn signed(merchant: &Merchant, pairs: &[(&str, &str)]) -> String {
    let credentials = [("apiKey", merchant.api_key.expose()), ("apiPassword", merchant.api_password.expose())];
    let mut all: Vec<(&str, &str)> = credentials.iter().chain(pairs).copied().collect();
    let key = pg_crypto::ShaKey::new(merchant.sha_key.expose());
    let signed = pg_crypto::form_arrays(&all);
    let signed: Vec<(&str, &str)> = signed.iter().map(|(name, value)| (&**name, &**value)).collect();
    let signature = pg_crypto::sign(&signed, &key).hex();
    all.push(("shaSignature", signature.as_str()));
    serde_urlencoded::to_string(all).unwrap()
}

pub(super) fn account(name: &str) -> Merchant {
    Settings::default().merchants.by_name(name).unwrap().clone()
}

pub(super) fn post(sandbox: &mut Sandbox, path: &str, body: impl Into<Bytes>) -> (StatusCode, String) {
    text(&sandbox.handle(now(), request(Method::POST, path, body)))
}

pub(super) fn get(sandbox: &mut Sandbox, path: &str) -> (StatusCode, Value) {
    let response = sandbox.handle(now(), request(Method::GET, path, ""));
    (response.status(), serde_json::from_slice(response.body()).unwrap())
}

pub(super) fn text(response: &Response<Bytes>) -> (StatusCode, String) {
    (response.status(), String::from_utf8(response.body().to_vec()).unwrap())
}

/// Inserts a token of an account directly into the records, and returns its key.
pub(super) fn token(sandbox: &mut Sandbox, merchant: &str) -> String {
    let key = sandbox.keys.card(now());
    let expiry = ("01", "2030");
    let card = HeldCard::seal(&sandbox.vault, sandbox.keys.dice(), &key, "4111111111111111", expiry);
    let token = CardToken {
        key: key.clone(),
        merchant: merchant.to_owned(),
        unique_identifier: 1,
        customer_reference: Some("customer-7".to_owned()),
        enabled: true,
        card,
        details: Details::new(),
        parent: None,
        created: now(),
    };
    super::stores::put(sandbox, &token);
    key
}

pub(super) fn stored(sandbox: &mut Sandbox, key: &str) -> Option<CardToken> {
    Transaction::new(&mut *sandbox.store).get(key).unwrap()
}
