//! The client session and the card tokens as a merchant meets them: through requests and answers
//! alone, in memory, on a clock that the test turns.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod at_rest;
mod card_form_rules;
mod error_page;
mod expiry;
mod hostile;
mod initiate;
mod openssl;
mod redirects;
mod several_posts;
mod states;
mod tokenise;
mod tokens;
mod validation;
mod wrong_fields;

use std::path::Path;

use bytes::Bytes;
use http::{Method, Response};
use pg_crypto::SessionCipher;
use pg_model::{RedirectData, ServiceError, decode_into};
use pg_sandbox::{Sandbox, Settings};
use pg_support::{MerchantDesk, body_of, header, request};
use serde_json::Value;

pub(crate) use pg_support::with;

/// A number that occurs in no test but as a card number: it must never come back whole.
pub(crate) const PAN: &str = "4000000000001000";
pub(crate) const CV2: &str = "9173";
pub(crate) const NEXT: &str = "https://shop.example/next";
pub(crate) const CURRENT: &str = "https://shop.example/card";
pub(crate) const ERROR_PAGE: &str = "https://shop.example/error";
/// A valid form without its session key, which [`Shop::post`] adds.
pub(crate) const GOOD: &[(&str, &str)] = &[
    ("cardNumber", PAN),
    ("cardExpiryMonth", "12"),
    ("cardExpiryYear", "2030"),
    ("nextPageUrl", NEXT),
    ("currentPageUrl", CURRENT),
];

pub(crate) struct Shop(MerchantDesk);

pg_support::is_a_desk!(Shop);

impl Shop {
    pub(crate) fn new() -> Self {
        Self::over(pg_stores::sandbox())
    }

    pub(crate) fn in_file(path: &Path) -> Self {
        Self::over(Sandbox::open(path, Settings::default(), [7; 32]).unwrap())
    }

    fn over(sandbox: Sandbox) -> Self {
        Self(MerchantDesk::at(sandbox).hiding(&[PAN]))
    }

    pub(crate) fn api_key(&self) -> &str {
        self.merchant.api_key.expose()
    }

    /// A signed call that fails, and its error code.
    pub(crate) fn refused(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        let (status, answer) = self.call(method, pairs);
        assert_eq!(status, 400, "{method} {answer}");
        answer["errorCode"].as_str().unwrap().to_owned()
    }

    /// A signed call and its answer as text, in XML.
    pub(crate) fn xml(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        String::from_utf8(self.version_3(method, pairs).body().to_vec()).unwrap()
    }

    /// What the answer to a signed call rests on.
    pub(crate) fn basis(&mut self, method: &str, pairs: &[(&str, &str)]) -> String {
        header(&self.version_3(method, pairs), "pg-basis")
    }

    pub(crate) fn initiate(&mut self) -> String {
        self.initiate_for(ERROR_PAGE)
    }

    pub(crate) fn initiate_for(&mut self, error_page: &str) -> String {
        let answer = self.done("session/initiate", &[("errorPageUrl", error_page)]);
        answer["sessionKey"].as_str().unwrap().to_owned()
    }

    /// Where the browser is redirected after posting a form to a session, in JSON.
    pub(crate) fn post(&mut self, session: &str, pairs: &[(&str, &str)]) -> Landing {
        let pairs: Vec<_> = [("sessionKey", session)].into_iter().chain(pairs.iter().copied()).collect();
        self.post_raw("/v3/session/postform/json", body_of(&pairs))
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
        self.handle(request(method, path, body))
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
            basis: header(response, "pg-basis"),
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
