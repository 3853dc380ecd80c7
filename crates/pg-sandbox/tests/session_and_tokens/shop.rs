//! A merchant and its customer's browser, over a sandbox without a socket.

use std::{path::Path, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response};
use pg_crypto::{SessionCipher, ShaKey};
use pg_model::{RedirectData, ServiceError, decode_into};
use pg_sandbox::{Sandbox, Settings, Timestamp, merchants::Merchant};
use serde_json::Value;

/// A number that occurs in no test but as a card number: it must never come back whole.
pub(crate) const PAN: &str = "4000000000001000";
pub(crate) const CV2: &str = "9173";
pub(crate) const NEXT: &str = "https://shop.example/next";
pub(crate) const CURRENT: &str = "https://shop.example/card";
pub(crate) const ERROR_PAGE: &str = "https://shop.example/error";
/// A form that is right, but for the session key that [`Shop::post`] adds.
pub(crate) const GOOD: &[(&str, &str)] = &[
    ("cardNumber", PAN),
    ("cardExpiryMonth", "12"),
    ("cardExpiryYear", "2030"),
    ("nextPageUrl", NEXT),
    ("currentPageUrl", CURRENT),
];

pub(crate) struct Shop {
    pub(crate) sandbox: Sandbox,
    merchant: Merchant,
    pub(crate) now: Timestamp,
}

impl Shop {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn in_file(path: &Path) -> Self {
        Self::over(Sandbox::open(path, Settings::default(), [7; 32]).unwrap())
    }

    fn over(sandbox: Sandbox) -> Self {
        let merchant = sandbox.settings().merchants.by_name("main").unwrap().clone();
        Self { sandbox, merchant, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() }
    }

    /// From now on another account calls.
    pub(crate) fn become_merchant(&mut self, name: &str) {
        self.merchant = self.sandbox.settings().merchants.by_name(name).unwrap().clone();
    }

    pub(crate) fn api_key(&self) -> &str {
        self.merchant.api_key.expose()
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }

    /// A signed call and its answer as JSON, with the status.
    pub(crate) fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> (u16, Value) {
        let body = self.signed(pairs);
        let response = self.send(&format!("/v3/{method}/json"), body);
        (response.status().as_u16(), serde_json::from_slice(response.body()).unwrap())
    }

    /// A signed call that succeeds.
    pub(crate) fn done(&mut self, method: &str, pairs: &[(&str, &str)]) -> Value {
        let (status, answer) = self.call(method, pairs);
        assert_eq!(status, 200, "{method} {answer}");
        answer
    }

    /// A signed call that fails, and its error code.
    pub(crate) fn refused(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        let (status, answer) = self.call(method, pairs);
        assert_eq!(status, 400, "{method} {answer}");
        answer["errorCode"].as_str().unwrap().to_owned()
    }

    /// A signed call and its answer as text, in XML.
    pub(crate) fn xml(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        let body = self.signed(pairs);
        String::from_utf8(self.send(&format!("/v3/{method}"), body).body().to_vec()).unwrap()
    }

    /// What the answer to a signed call rests on.
    pub(crate) fn basis(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        let body = self.signed(pairs);
        let response = self.send(&format!("/v3/{method}"), body);
        String::from_utf8(response.headers()["pg-basis"].as_bytes().to_vec()).unwrap()
    }

    pub(crate) fn initiate(&mut self) -> String {
        self.initiate_for(ERROR_PAGE)
    }

    pub(crate) fn initiate_for(&mut self, error_page: &str) -> String {
        let answer = self.done("session/initiate", &[("errorPageUrl", error_page)]);
        answer["sessionKey"].as_str().unwrap().to_owned()
    }

    /// What the browser is told after posting a form to a session, in JSON.
    pub(crate) fn post(&mut self, session: &str, pairs: &[(&str, &str)]) -> Landing {
        let pairs: Vec<_> = [("sessionKey", session)].into_iter().chain(pairs.iter().copied()).collect();
        self.post_raw("/v3/session/postform/json", serde_urlencoded::to_string(pairs).unwrap())
    }

    /// The same with any path and body.
    pub(crate) fn post_raw(&mut self, path: &str, body: impl Into<Bytes>) -> Landing {
        let response = self.send(path, body);
        let landing = Landing::of(&response, self.merchant.api_key.expose());
        assert!(!format!("{landing:?}").contains(PAN), "{landing:?}");
        landing
    }

    pub(crate) fn send(&mut self, path: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        self.ask(Method::POST, path, body)
    }

    pub(crate) fn ask(&mut self, method: Method, path: &str, body: impl Into<Bytes>) -> Response<Bytes> {
        let form = "application/x-www-form-urlencoded";
        let request = Request::builder().method(method).uri(path).header("content-type", form);
        let response = self.sandbox.handle(self.now, request.body(body.into()).unwrap());
        let shown = format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()));
        assert!(!shown.contains(PAN), "{shown}");
        response
    }

    fn signed(&self, pairs: &[(&str, &str)]) -> String {
        let (key, password) = (self.merchant.api_key.expose(), self.merchant.api_password.expose());
        let mut all = vec![("apiKey", key), ("apiPassword", password)];
        all.extend_from_slice(pairs);
        let signature = pg_crypto::sign(&all, &ShaKey::new(self.merchant.sha_key.expose())).hex();
        all.push(("shaSignature", signature.as_str()));
        serde_urlencoded::to_string(all).unwrap()
    }
}

/// Where a redirect leads, and what it says.
#[derive(Debug)]
pub(crate) struct Landing {
    pub(crate) location: String,
    /// The names in the query in their order.
    pub(crate) names: Vec<String>,
    pub(crate) form_id: Option<String>,
    pub(crate) data: String,
    pub(crate) iv: String,
    /// The decrypted data; empty when there is none.
    pub(crate) text: String,
    pub(crate) basis: String,
}

impl Landing {
    fn of(response: &Response<Bytes>, api_key: &str) -> Self {
        assert_eq!(response.status(), 303, "{response:?}");
        let location = response.headers()["location"].to_str().unwrap().to_owned();
        let address = location.split('#').next().unwrap();
        let query = address.split_once('?').map_or("", |(_, query)| query);
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
        let last = |name: &str| pairs.iter().rev().find(|pair| pair.0 == name).map(|pair| pair.1.clone());
        let (data, iv) = (last("data").unwrap_or_default(), last("iv").unwrap_or_default());
        let text = if data.is_empty() {
            String::new()
        } else {
            SessionCipher::new(api_key).unwrap().decrypt(&data, &iv).unwrap().as_str().to_owned()
        };
        Self {
            names: pairs.iter().map(|pair| pair.0.clone()).collect(),
            form_id: last("formId"),
            data,
            iv,
            text,
            basis: String::from_utf8(response.headers()["pg-basis"].as_bytes().to_vec()).unwrap(),
            location,
        }
    }

    /// The address without everything that was appended to it and its fragment.
    pub(crate) fn page(&self) -> &str {
        let appended = ["formId=", "data=", "iv="].iter().filter_map(|name| self.location.find(name)).min();
        self.location[..appended.unwrap_or(self.location.len())].trim_end_matches(['?', '&'])
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(crate) fn shown(&self) -> RedirectData {
        let mut data = RedirectData::default();
        decode_into(self.text.as_bytes(), &mut data).unwrap();
        data
    }

    /// The code on the error page, which gets nothing else.
    pub(crate) fn error(&self) -> String {
        let mut error = ServiceError::default();
        decode_into(self.text.as_bytes(), &mut error).unwrap();
        assert!(error.extra.is_empty(), "{}", self.text);
        assert!(!error.error_message.is_empty() && error.trace_code.as_str().len() == 9, "{}", self.text);
        error.error_code.as_str().to_owned()
    }

    /// Names of wrong fields with their codes, in order.
    pub(crate) fn faults(&self) -> Vec<(String, String)> {
        let errors = self.shown().errors;
        errors.iter().map(|(name, error)| (name.to_owned(), error.error_code.as_str().to_owned())).collect()
    }
}

/// The form with some values replaced, added, or, with an empty value, left out.
pub(crate) fn with<'a>(form: &[(&'a str, &'a str)], changes: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let changed = |name: &str| changes.iter().any(|change| change.0 == name);
    let kept = form.iter().filter(|pair| !changed(pair.0));
    kept.chain(changes.iter().filter(|change| !change.1.is_empty())).copied().collect()
}
