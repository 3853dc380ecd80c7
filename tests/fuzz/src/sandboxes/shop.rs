//! A sandbox, a merchant's account in it, and the keys from its replies so far.

use std::{collections::HashMap, net::IpAddr, time::Duration};

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header::CONTENT_TYPE};
use pg_model::method::MethodInfo;
use pg_sandbox::{Peer, ResponseDelivery, Sandbox, Timestamp, merchants::Merchant};
use serde_json::Value;

use crate::{secrets::CARD_NUMBER, usual};

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
    /// Keys of existing records, by parameter name.
    pub(super) known: HashMap<&'static str, String>,
    /// Requests come from one of these machines.
    pub(super) peer: u8,
    /// Whether faults are set, which can cause any response.
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

    /// Sends a request from a merchant's machine; checks and stores the reply.
    pub(super) fn send(&mut self, mut request: Request<Bytes>) -> Response<Bytes> {
        if self.peer > 1 {
            request.extensions_mut().insert(Peer(IpAddr::from([10, 0, 0, self.peer])));
        }
        let (path, is_head) = (request.uri().path().to_owned(), request.method() == Method::HEAD);
        let response = self.sandbox.handle(self.now, request);
        self.check(&path, is_head, &response);
        for (key, names) in KEYS {
            if let Some(found) = usual::found_in(&response, key) {
                self.known.extend(names.iter().map(|name| (*name, found.clone())));
            }
        }
        self.answers.push((response.status(), response.body().to_vec()));
        response
    }

    fn check(&self, path: &str, is_head: bool, response: &Response<Bytes>) {
        let (status, body) = (response.status(), response.body());
        let odd = ResponseDelivery::of(response) != ResponseDelivery::Send || self.faulty;
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
        if is_head {
            assert!(text.is_empty(), "{path}: {text}");
        } else if shape.starts_with(b"application/json") {
            assert!(serde_json::from_str::<Value>(&text).is_ok(), "{path}: {text}");
        } else if shape.starts_with(b"text/xml") || shape.starts_with(b"application/xml") {
            let mut reader = quick_xml::Reader::from_str(&text);
            while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
        }
        if path.starts_with("/v3/") || path.starts_with("/enterprise/") {
            assert!(response.headers().contains_key("pg-basis"), "{path} rests on nothing: {response:?}");
        }
    }

    /// Checks that a text shows no card number and no credential of the merchant.
    pub(super) fn hides(&self, what: &str, text: &str) {
        let own = self.merchant.enterprise.as_ref().unwrap();
        let secrets = [&self.merchant.api_password, &self.merchant.sha_key, &own.api_password];
        for secret in secrets.into_iter().map(|secret| secret.expose()).chain([CARD_NUMBER]) {
            assert!(!text.contains(secret), "{what} shows {secret}: {text}");
        }
    }

    /// The parameters of a valid call.
    pub(super) fn parameters(&self, method: &MethodInfo) -> Vec<(String, String)> {
        let fields = method.fields.iter();
        fields.filter_map(|field| Some((field.wire.replace("{n}", "0"), self.usual(method, field.wire)?))).collect()
    }

    /// The credentials of a call, without the signature.
    pub(super) fn credentials(&self, method: &MethodInfo) -> Vec<(String, String)> {
        usual::credentials(method, &self.merchant)
    }

    fn usual(&self, method: &MethodInfo, wire: &str) -> Option<String> {
        match wire {
            "cardNumber" => Some(CARD_NUMBER.to_owned()),
            "callbackUrl" | "callback_url" => Some("http://127.0.0.1:9/told".to_owned()),
            _ => usual::value(method, wire, &self.merchant, &self.known),
        }
    }
}
