//! A merchant at a sandbox without a socket.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode};
use pg_sandbox::{Outgoing, Sandbox, Timestamp, merchants::Merchant};
use serde_json::Value;

use super::form;

/// A sandbox, the time at which it is called, and the account that calls it. It begins at ten on 4 May 2026, with `main`.
pub struct MerchantDesk {
    /// The called sandbox.
    pub sandbox: Sandbox,
    /// The account that calls.
    pub merchant: Merchant,
    /// The time of the next call.
    pub now: Timestamp,
    /// Texts that no response may contain.
    hidden: &'static [&'static str],
}

/// Lets a test's own merchant, a struct over a desk, be used as that desk.
#[macro_export]
macro_rules! is_a_desk {
    ($merchant:ident) => {
        impl std::ops::Deref for $merchant {
            type Target = $crate::MerchantDesk;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }

        impl std::ops::DerefMut for $merchant {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    };
}

impl MerchantDesk {
    /// The account `main` at a sandbox that has it.
    ///
    /// # Panics
    /// When the sandbox has no account `main`.
    #[must_use]
    pub fn at(sandbox: Sandbox) -> Self {
        let merchant = sandbox.settings().merchants.by_name("main").expect("the account main").clone();
        Self { sandbox, merchant, now: Timestamp::parse("2026-05-04T10:00:00Z").expect("a time"), hidden: &[] }
    }

    /// Refuses responses that contain one of these texts.
    #[must_use]
    pub fn hiding(self, hidden: &'static [&'static str]) -> Self {
        Self { hidden, ..self }
    }

    /// The account of this name.
    ///
    /// # Panics
    /// If it does not exist.
    #[must_use]
    pub fn account(&self, name: &str) -> Merchant {
        self.sandbox.settings().merchants.by_name(name).expect("an account of this name").clone()
    }

    /// Makes later calls as another account.
    pub fn become_merchant(&mut self, name: &str) {
        self.merchant = self.account(name);
    }

    /// Lets seconds pass.
    pub fn wait(&mut self, seconds: u64) {
        self.pass(Duration::from_secs(seconds));
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }

    /// Sends any request.
    ///
    /// # Panics
    /// If the response contains a hidden text.
    pub fn handle(&mut self, request: Request<Bytes>) -> Response<Bytes> {
        self.handle_group(vec![request]).remove(0)
    }

    /// Sends requests as one group.
    ///
    /// # Panics
    /// If a response contains a hidden text.
    pub fn handle_group(&mut self, requests: Vec<Request<Bytes>>) -> Vec<Response<Bytes>> {
        let responses = self.sandbox.handle_group(self.now, requests);
        for response in &responses {
            let shown = format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()));
            assert!(self.hidden.iter().all(|hidden| !shown.contains(hidden)), "{shown}");
        }
        responses
    }

    /// A signed call of version 3, and its status and reply in JSON.
    ///
    /// # Panics
    /// If the reply is not JSON.
    pub fn call(&mut self, method: &str, pairs: &[(&str, &str)]) -> (u16, Value) {
        let response = self.version_3(&format!("{method}/json"), pairs);
        (response.status().as_u16(), serde_json::from_slice(response.body()).expect("JSON"))
    }

    /// A signed call of version 3 that succeeds.
    ///
    /// # Panics
    /// If it fails.
    pub fn done(&mut self, method: &str, pairs: &[(&str, &str)]) -> Value {
        let (status, reply) = self.call(method, pairs);
        assert_eq!(status, 200, "{method} {reply}");
        reply
    }

    /// A signed call of version 3. The path is the method, and the encoding of the reply if it is not XML.
    pub fn version_3(&mut self, path: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        let body = form::signed_form(&self.merchant, pairs);
        self.handle(form::request(Method::POST, &format!("/v3/{path}"), body))
    }

    /// A call of version 5.
    pub fn version_5(&mut self, method: &str, pairs: &[(&str, &str)]) -> Response<Bytes> {
        let body = form::enterprise_form(&self.merchant, pairs);
        self.handle(form::request(Method::POST, &format!("/enterprise/{method}"), body))
    }

    /// A reply of the control interface.
    ///
    /// # Panics
    /// If the reply is not JSON.
    pub fn control(&mut self, path: &str) -> Value {
        let response = self.handle(form::request(Method::GET, &format!("/_sandbox/{path}"), ""));
        serde_json::from_slice(response.body()).expect("JSON")
    }

    /// The callbacks that are due; they are not sent.
    pub fn due(&mut self) -> Vec<Outgoing> {
        self.sandbox.due(self.now)
    }

    /// Reports the result of a callback.
    pub fn delivered(&mut self, id: &str, result: Result<StatusCode, String>) {
        self.sandbox.delivered(self.now, id, result);
    }
}

/// The text of a header; empty without it. Headers may have bytes that are not ASCII.
///
/// # Panics
/// When it is not UTF-8.
#[must_use]
pub fn header(response: &Response<Bytes>, name: &str) -> String {
    let value = response.headers().get(name).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
    String::from_utf8(value).expect("UTF-8")
}

/// The text of an XML element without children; empty without it.
#[must_use]
pub fn element(xml: &str, name: &str) -> String {
    let rest = xml.split_once(&format!("<{name}>")).map(|(_, rest)| rest);
    let text = rest.and_then(|rest| rest.split_once(&format!("</{name}>")));
    text.map(|(text, _)| text.to_owned()).unwrap_or_default()
}
