//! A sandbox, the account of a merchant in it, and what its replies have named so far.

use std::{collections::HashMap, net::IpAddr, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header::CONTENT_TYPE};
use pg_model::method::{Credentials, MethodInfo};
use pg_sandbox::{Disposition, Peer, Sandbox, Timestamp, merchants::Merchant};
use serde_json::Value;

use crate::secrets::CARD_NUMBER;

/// Keys that replies name, and the parameters that take them.
const KEYS: [(&str, &[&str]); 6] = [
    ("sessionKey", &["sessionKey"]),
    ("transactionKey", &["transactionKey", "prev_trans_key", "trans_key"]),
    ("cardKey", &["cardKey", "cardKeys"]),
    ("batchKey", &["batchKey"]),
    ("authenticationKey", &["authenticationKey"]),
    ("tokenid", &["tokenid"]),
];

pub(super) struct Shop {
    pub(super) sandbox: Sandbox,
    pub(super) merchant: Merchant,
    pub(super) now: Timestamp,
    /// Keys of what there is, by the names of parameters.
    pub(super) known: HashMap<&'static str, String>,
    /// Requests come from one of these machines.
    pub(super) peer: u8,
    /// A fault may answer anything.
    pub(super) faulty: bool,
    pub(super) answers: Vec<(StatusCode, Vec<u8>)>,
}

impl Shop {
    pub(super) fn open() -> Self {
        let sandbox = Sandbox::in_memory();
        let merchant = sandbox.settings().merchants.by_name("main").unwrap().clone();
        let now = Timestamp::parse("2026-05-04T10:00:00Z").unwrap();
        let (known, answers) = (HashMap::new(), Vec::new());
        Self { sandbox, merchant, now, known, peer: 1, faulty: false, answers }
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }

    /// Sends a request from a merchant's machine; what comes back is checked and remembered.
    pub(super) fn send(&mut self, mut request: Request<Bytes>) -> Response<Bytes> {
        if self.peer > 1 {
            request.extensions_mut().insert(Peer(IpAddr::from([10, 0, 0, self.peer])));
        }
        let path = request.uri().path().to_owned();
        let response = self.sandbox.handle(self.now, request);
        self.check(&path, &response);
        for (key, names) in KEYS {
            if let Some(found) = found_in(&response, key) {
                self.known.extend(names.iter().map(|name| (*name, found.clone())));
            }
        }
        self.answers.push((response.status(), response.body().to_vec()));
        response
    }

    fn check(&self, path: &str, response: &Response<Bytes>) {
        let (status, body) = (response.status(), response.body());
        let odd = Disposition::of(response) != Disposition::Send || self.faulty;
        assert!(odd || status.as_u16() < 500, "{path}: {response:?}");
        let text = String::from_utf8_lossy(body);
        assert!(!text.contains(">999<") && !text.contains("\"999\""), "{path}: {text}");
        if !matches!(path, "/_sandbox/merchants" | "/_sandbox/merchants/") {
            self.hides(path, &text);
        }
        self.hides(path, &format!("{:?}", response.headers()));
        if odd {
            return;
        }
        let shape = response.headers().get(CONTENT_TYPE).map(|value| value.as_bytes().to_vec()).unwrap_or_default();
        if shape.starts_with(b"application/json") {
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{path}: {text}");
        } else if shape.starts_with(b"text/xml") || shape.starts_with(b"application/xml") {
            let mut reader = quick_xml::Reader::from_str(&text);
            while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
        }
        if path.starts_with("/v3/") || path.starts_with("/enterprise/") {
            assert!(response.headers().contains_key("pg-basis"), "{path} rests on nothing: {response:?}");
        }
    }

    /// Nothing shows a card number or what only the merchant knows.
    pub(super) fn hides(&self, what: &str, text: &str) {
        let own = self.merchant.enterprise.as_ref().unwrap();
        let secrets = [&self.merchant.api_password, &self.merchant.sha_key, &own.api_password];
        for secret in secrets.into_iter().map(|secret| secret.expose()).chain([CARD_NUMBER]) {
            assert!(!text.contains(secret), "{what} shows {secret}: {text}");
        }
    }

    /// The parameters of a call with everything right.
    pub(super) fn parameters(&self, method: &MethodInfo) -> Vec<(String, String)> {
        let fields = method.fields.iter();
        fields.filter_map(|field| Some((field.wire.replace("{n}", "0"), self.usual(method, field.wire)?))).collect()
    }

    /// The credentials of a call, without the signature.
    pub(super) fn credentials(&self, method: &MethodInfo) -> Vec<(String, String)> {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        match method.credentials {
            Credentials::Session => Vec::new(),
            Credentials::Signed => vec![
                pair("apiKey", self.merchant.api_key.expose()),
                pair("apiPassword", self.merchant.api_password.expose()),
            ],
            Credentials::Enterprise => {
                let own = self.merchant.enterprise.as_ref().unwrap();
                vec![
                    pair("api_key", own.api_key.expose()),
                    pair("api_password", own.api_password.expose()),
                    pair("version", "5"),
                ]
            }
        }
    }

    pub(super) fn usual(&self, method: &MethodInfo, wire: &str) -> Option<String> {
        let fixed = match wire {
            "cardNumber" => CARD_NUMBER,
            "cardExpiryMonth" => "12",
            "cardExpiryYear" if method.service.name == "transaction" => "49",
            "cardExpiryYear" => "2049",
            "cardCV2" => "917",
            "currency" => "GBP",
            "itemName{n}" | "item_name[{n}]" => "Tea",
            "itemPrice{n}" => "499",
            "item_price[{n}]" | "trans_value" => "4.99",
            "errorPageUrl" | "nextPageUrl" | "currentPageUrl" | "returnUrl" => "https://shop.example/page",
            "callbackUrl" | "callback_url" => "http://127.0.0.1:9/told",
            "accountUpdaterKey" => self.merchant.account_updater_key.as_ref()?.expose(),
            "msisdn" => "447700900000",
            "message" => "Hello",
            "property_name" if method.name == "address" => "1",
            "postcode" if method.name == "address" => "SW1A 1AA",
            "trans_type" if method.name == "repeat" => "Auth",
            _ => self.known.get(wire)?,
        };
        Some(fixed.to_owned())
    }
}

fn found_in(response: &Response<Bytes>, name: &str) -> Option<String> {
    fn within(value: &Value, name: &str) -> Option<String> {
        let members = value.as_object()?;
        let own = members.get(name).and_then(Value::as_str).map(str::to_owned);
        own.or_else(|| members.values().find_map(|inner| within(inner, name)))
    }
    let text = std::str::from_utf8(response.body()).ok()?;
    let found = match serde_json::from_str(text) {
        Ok(value) => within(&value, name),
        Err(_) => Some(text.split_once(&format!("<{name}>"))?.1.split_once('<')?.0.to_owned()),
    };
    found.filter(|key| !key.is_empty())
}
