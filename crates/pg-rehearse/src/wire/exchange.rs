//! A received request, as the judge reads it.

use bytes::Bytes;
use http::{HeaderMap, Request, request::Parts};
use pg_model::{METHODS, method::MethodInfo};

use super::{Act, On};

/// A request with its result.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    /// `transaction/auth`; empty when the path names no method.
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) parameters: Vec<(String, String)>,
    /// Header names and values.
    pub(crate) headers: Vec<(String, String)>,
    /// What the drill does to the request.
    pub(crate) act: Option<Act>,
    /// Whether the service has received the request.
    pub(crate) executed: bool,
    /// Whether the caller received the service's reply, or enough of it to know the result.
    pub(crate) answered: bool,
    /// The status of the reply that was sent.
    pub(crate) status: Option<u16>,
    /// The error code of the reply that was sent.
    pub(crate) error: Option<String>,
    /// Whether it is a lookup whose reply showed an approved payment to the caller.
    pub(crate) showed_payment: bool,
}

/// Methods that may charge.
const PAYMENTS: [&str; 8] = [
    "transaction/auth",
    "transaction/authCardKey",
    "transaction/authSessionKey",
    "transaction/auth3DSecure",
    "transaction/preauth",
    "transaction/preauth3DSecure",
    "enterprise/repeat",
    "page/pay",
];

const LATER: [&str; 6] = [
    "transaction/capturepreauth",
    "transaction/cancelpreauth",
    "transaction/refund",
    "enterprise/capture",
    "enterprise/cancel",
    "enterprise/refund",
];

/// Methods that look up a result.
const LOOKUPS: [&str; 3] = ["transaction/lookup", "enterprise/transaction_lookup", "token/retrieveAccountUpdater"];

impl Exchange {
    pub(super) fn of(parts: &Parts) -> Self {
        let path = parts.uri.path().to_owned();
        Self {
            method: method(&path).map(|info| format!("{info:?}")).unwrap_or_default(),
            path,
            query: parts.uri.query().map(ToOwned::to_owned),
            headers: headers(&parts.headers),
            ..Self::default()
        }
    }

    /// The length of the kept part of its head.
    pub(super) fn head_bytes(&self) -> usize {
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        self.path.len() + self.query.as_ref().map_or(0, String::len) + headers
    }

    pub(super) fn take_body(&mut self, body: &Bytes) {
        self.parameters = form_urlencoded::parse(body).into_owned().collect();
    }

    /// Returns the value of a parameter.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Whether it looks a payment up. The status of an authentication shows no payment, nor does a batch.
    pub(crate) fn looks_up_payment(&self) -> bool {
        matches!(self.method.as_str(), "transaction/lookup" | "enterprise/transaction_lookup")
    }

    /// Whether it looks up a payment among the requests before it, or a transaction with one of these keys, and the service
    /// does not refuse it by itself.
    pub(crate) fn looks_up(&self, before: &[Self], keys: &[&str]) -> bool {
        let is_sent = |name: &str, value: &str| {
            before.iter().filter(|one| !one.is(On::Lookup)).any(|one| {
                // A payment that was cut before its body may have any reference.
                one.parameter(name) == Some(value) || (one.is(On::Payment) && one.parameters.is_empty())
            })
        };
        let names_it = |(name, value): &(String, String)| match name.as_str() {
            "uniqueMerchantReference" | "merchantReference" => is_sent(name, value),
            "transactionKey" | "trans_key" => keys.contains(&value.as_str()),
            _ => false,
        };
        self.looks_up_payment() && self.refusal().is_none() && self.parameters.iter().any(names_it)
    }

    /// Returns the error code of a reply that comes from the service and not from the drill.
    pub(crate) fn refusal(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.act.is_none_or(Act::is_honest))
    }

    /// Whether it looks something up, and not the payment with another key than this one.
    pub(crate) fn is_lookup_of(&self, key: &str) -> bool {
        self.is(On::Lookup) && self.parameter("trans_key").is_none_or(|other| other == key)
    }

    /// Whether it initiates an authentication of the customer.
    pub(crate) fn is_initiation(&self) -> bool {
        self.method.starts_with("transaction/initiate3DSecure")
    }

    pub(crate) fn is(&self, on: On) -> bool {
        let name = self.method.as_str();
        match on {
            On::Any => !name.is_empty(),
            On::Payment => PAYMENTS.contains(&name),
            On::Lookup => LOOKUPS.contains(&name),
            On::Status => name == "transaction/getAuthenticationStatus",
            On::Later => LATER.contains(&name),
            On::Submission => name == "token/requestAccountUpdater",
            On::Retrieval => name == "token/retrieveAccountUpdater",
        }
    }
}

/// Returns the maximum size of a request.
pub(super) fn rebuilt(parts: Parts, body: Bytes) -> Request<Bytes> {
    Request::from_parts(parts, body)
}

fn headers(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()))
        .collect()
}

/// Returns the method that a path calls.
fn method(path: &str) -> Option<&'static MethodInfo> {
    let (service, name) = if let Some(rest) = path.strip_prefix("/v3/") {
        let mut parts = rest.split('/');
        (parts.next()?, parts.next()?)
    } else {
        ("enterprise", path.strip_prefix("/enterprise/")?.trim_end_matches('/'))
    };
    METHODS.iter().copied().find(|info| format!("{info:?}") == format!("{service}/{name}"))
}
