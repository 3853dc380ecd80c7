//! A merchant at a sandbox whose store fails.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Response};
use pg_crypto::SessionCipher;
use pg_sandbox::{Sandbox, Settings, Timestamp, merchants::Merchant};
use pg_support::{body_of, enterprise_form, signed_form};
use pg_tests::failing_store::FailingStore;
use serde_json::Value;

/// Numbers that occur in no test but as a card's and its CV2.
pub(crate) const PAN: &str = "4000000000001000";
pub(crate) const CV2: &str = "9173";

const LISTS: [&str; 8] =
    ["transactions", "tokens", "sessions", "authentications", "checkouts", "batches", "callbacks", "sms"];
/// The key that seals the cards.
const KEY: [u8; 32] = [3; 32];

pub(crate) struct Shop {
    pub(crate) sandbox: Sandbox,
    pub(crate) store: FailingStore,
    pub(crate) merchant: Merchant,
    pub(crate) now: Timestamp,
}

/// A request that can be sent again.
pub(crate) struct Request {
    method: Method,
    pub(crate) path: String,
    body: String,
    api_key: String,
    /// Secrets besides the CV2 that no reply may repeat.
    secrets: Vec<String>,
}

impl Shop {
    pub(crate) fn open() -> Self {
        let store = FailingStore::new();
        let sandbox = Sandbox::over(Box::new(store.clone()), Settings::default(), &KEY, [1; 32]).unwrap();
        let merchant = sandbox.settings().merchants.by_name("main").unwrap().clone();
        Self { sandbox, store, merchant, now: Timestamp::parse("2026-05-04T10:00:00Z").unwrap() }
    }

    /// Opens another sandbox over the store of the last one.
    pub(crate) fn start_again(&mut self) {
        self.sandbox = Sandbox::over(Box::new(self.store.clone()), Settings::default(), &KEY, [2; 32]).unwrap();
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    pub(crate) fn send(&mut self, request: &Request) -> Response<Bytes> {
        let sent = pg_support::request(request.method.clone(), &request.path, request.body.clone());
        let response = self.sandbox.handle(self.now, sent);
        let shown = format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()));
        for secret in &request.secrets {
            assert!(!shown.contains(secret.as_str()), "{}: {secret} in {shown}", request.path);
        }
        // Four digits may be part of a trace code.
        let mut numbers = shown.split(|letter: char| !letter.is_ascii_digit());
        assert!(numbers.all(|number| number != CV2), "{}: {shown}", request.path);
        response
    }

    /// A signed call of version 3.
    pub(crate) fn version_3(&self, path: &str, pairs: &[(&str, &str)]) -> Request {
        self.request(Method::POST, &format!("/v3/{path}"), signed_form(&self.merchant, pairs))
    }

    pub(crate) fn version_5(&self, method: &str, pairs: &[(&str, &str)]) -> Request {
        self.request(Method::POST, &format!("/enterprise/{method}"), enterprise_form(&self.merchant, pairs))
    }

    pub(crate) fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Request {
        self.request(Method::POST, path, body_of(pairs))
    }

    pub(crate) fn request(&self, method: Method, path: &str, body: String) -> Request {
        let own = [&self.merchant.api_password, &self.merchant.sha_key].map(|secret| secret.expose().to_owned());
        let secrets = own.into_iter().chain([PAN.to_owned()]).collect();
        let api_key = self.merchant.api_key.expose().to_owned();
        Request { method, path: path.to_owned(), body, api_key, secrets }
    }

    /// A payment of 4.99 by raw card under a reference.
    pub(crate) fn payment(&self, reference: &str) -> Request {
        let pairs = [card(), order(), vec![("uniqueMerchantReference", reference)]].concat();
        self.version_3("transaction/auth/json", &pairs)
    }

    /// A batch of the account updater that has finished, whose callback is due.
    pub(crate) fn order_callback(&mut self) {
        let paid = self.payment("order-1");
        let paid: Value = serde_json::from_slice(self.send(&paid).body()).unwrap();
        let pairs = [("transactionKey", paid["transactionKey"].as_str().unwrap())];
        let made = self.version_3("token/tokeniseTransactionKey/json", &pairs);
        let made: Value = serde_json::from_slice(self.send(&made).body()).unwrap();
        let key = made["cardKeyDetails"]["0"]["cardKey"].as_str().unwrap();
        let updater = self.merchant.account_updater_key.clone().unwrap();
        let pairs =
            [("accountUpdaterKey", updater.expose()), ("cardKey", key), ("callbackUrl", "http://127.0.0.1:9/hook")];
        let asked = self.version_3("token/requestAccountUpdater/json", &pairs);
        assert_eq!(self.send(&asked).status(), 200);
        self.wait(121);
    }

    pub(crate) fn list(&mut self, name: &str) -> Value {
        let request = self.request(Method::GET, &format!("/_sandbox/{name}?limit=1000"), String::new());
        serde_json::from_slice(self.send(&request).body()).unwrap()
    }

    /// Everything that is recorded.
    pub(crate) fn lists(&mut self) -> Vec<Value> {
        LISTS.iter().map(|name| self.list(name)).collect()
    }

    /// The same without what differs from one sandbox to the next.
    pub(crate) fn summary(&mut self) -> Vec<String> {
        let mut lists = self.lists();
        lists.iter_mut().for_each(forget_keys);
        lists.iter().map(ToString::to_string).collect()
    }
}

impl Request {
    /// Whether a reply means that nothing was executed.
    pub(crate) fn has_failed(response: &Response<Bytes>) -> bool {
        let location = response.headers().get("location").map_or("", |location| location.to_str().unwrap());
        response.status().is_server_error() || location.starts_with("https://shop.example/error")
    }

    /// The documented error, in the shape of its service.
    pub(crate) fn assert_failed(&self, response: &Response<Bytes>, at: &str) {
        let body = String::from_utf8_lossy(response.body());
        if response.status() == 303 {
            // A browser is redirected to the merchant's error page (spec 2 §4.2).
            let location = response.headers()["location"].to_str().unwrap();
            let (_, query) = location.split_once("https://shop.example/error?").unwrap();
            let pairs: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
            let cipher = SessionCipher::new(self.api_key.as_str()).unwrap();
            let text = cipher.decrypt(&pairs[0].1, &pairs[1].1).unwrap();
            assert!(text.as_str().contains(r#""errorCode":"999""#), "{at}: {}", text.as_str());
            return;
        }
        assert_eq!(response.status(), 500, "{at}: {body}");
        let (kind, part) = if self.path.starts_with("/enterprise/") {
            ("application/xml", "<serviceResponse><errorcode>999</errorcode></serviceResponse>")
        } else if self.path.starts_with("/pay/") || self.path.starts_with("/3ds/") {
            ("text/html", "<!doctype html>")
        } else if self.path.ends_with("/json") {
            ("application/json", r#""errorCode":"999""#)
        } else {
            ("application/xml", "<errorCode>999</errorCode>")
        };
        let shown = response.headers()["content-type"].to_str().unwrap();
        assert!(shown.starts_with(kind) && body.contains(part), "{at}: {shown} {body}");
    }
}

pub(crate) fn card() -> Vec<(&'static str, &'static str)> {
    vec![("cardNumber", PAN), ("cardExpiryMonth", "12"), ("cardExpiryYear", "49"), ("cardCV2", CV2)]
}

pub(crate) fn order() -> Vec<(&'static str, &'static str)> {
    vec![("currency", "GBP"), ("itemName0", "Tea"), ("itemPrice0", "499")]
}

/// Keys and the bank's numbers come from the dice.
fn forget_keys(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(forget_keys),
        Value::Object(members) => {
            members.remove("bank");
            members.remove("cardUniqueIdentifier");
            members.values_mut().for_each(forget_keys);
        }
        Value::String(text) if text.len() >= 16 && text.chars().any(|digit| digit.is_ascii_digit()) => {
            *text = "key".to_owned();
        }
        _ => {}
    }
}
