//! Two merchants and their customers' browsers at one sandbox.

use bytes::Bytes;
use http::{Method, Response};
use pg_sandbox::merchants::Merchant;
use pg_support::{MerchantDesk, element, enterprise_form, header, request, signed_form};
use serde_json::Value;

use super::sandbox;

/// A card that is approved until the end of 2049.
pub(crate) const APPROVED: &str = "4000000000001000";
/// Another one, of another scheme.
pub(crate) const ANOTHER: &str = "5200000000001005";
pub(crate) const DECLINED: &str = "4000000000002008";
pub(crate) const POOR: &str = "4000000000003006";
pub(crate) const SILENT: &str = "4000000000004004";
pub(crate) const UNHEARD: &str = "4000000000011009";
/// A key of the right form that nothing has.
pub(crate) const NO_KEY: &str = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";
/// When a model begins, in Unix seconds: 10:00 on 4 May 2026, UTC.
pub(crate) const START: u64 = 1_777_888_800;

const NUMBERS: [&str; 5] = [APPROVED, ANOTHER, DECLINED, POOR, SILENT];

/// A merchant: `main` or `other`, which may do the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Who {
    Main,
    Other,
}

impl Who {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Other => "other",
        }
    }
}

/// The index of what was made so many before the newest of a list; one that is in no list when there were not so many.
/// Steps name things so, because that survives best when a sequence is shrunk.
pub(crate) fn before_newest(length: usize, before: usize) -> usize {
    length.checked_sub(before + 1).unwrap_or(usize::MAX)
}

/// Parameters with values that were made for one call.
pub(crate) type Pairs = Vec<(&'static str, String)>;

pub(crate) struct Service {
    desk: MerchantDesk,
    /// What the last answer rests on.
    basis: String,
}

impl Service {
    pub(crate) fn open() -> Self {
        Self { desk: MerchantDesk::at(sandbox()), basis: String::new() }
    }

    /// Whether the last answer rests on this assumption.
    pub(crate) fn rests_on(&self, assumption: &str) -> bool {
        self.basis.split(", ").any(|one| one == assumption)
    }

    pub(crate) fn wait(&mut self, seconds: u64) {
        self.desk.wait(seconds);
    }

    /// A signed call of version 3: the reply, or the code of the error.
    pub(crate) fn version_3(&mut self, who: Who, method: &str, pairs: Pairs) -> Result<Value, String> {
        let body = signed_form(&self.merchant(who), &texts(&pairs));
        let response = self.send_body(Method::POST, &format!("/v3/{method}/json"), &body, 1).remove(0);
        let body: Value = serde_json::from_slice(response.body()).unwrap();
        match response.status().as_u16() {
            200 => Ok(body),
            400 => Err(body["errorCode"].as_str().unwrap().to_owned()),
            status => panic!("{method}: {status} {body}"),
        }
    }

    /// A call of version 5: the reply, or the code of the error.
    pub(crate) fn version_5(&mut self, who: Who, method: &str, pairs: Pairs) -> Result<Xml, String> {
        let body = enterprise_form(&self.merchant(who), &texts(&pairs));
        let response = self.send_body(Method::POST, &format!("/enterprise/{method}"), &body, 1).remove(0);
        let xml = Xml(String::from_utf8(response.body().to_vec()).unwrap());
        match response.status().as_u16() {
            200 => Ok(xml),
            400 => Err(xml.text("errorcode")),
            status => panic!("{method}: {status} {}", xml.0),
        }
    }

    /// Everything in a list of the control interface, oldest first.
    pub(crate) fn list(&mut self, name: &str) -> Vec<Value> {
        let response = self.send(Method::GET, &format!("/_sandbox/{name}?limit=1000"), &Vec::new());
        let mut list: Vec<Value> = serde_json::from_slice(response.body()).unwrap();
        list.reverse();
        list
    }

    /// Any request with a form.
    pub(crate) fn send(&mut self, method: Method, path: &str, pairs: &Pairs) -> Response<Bytes> {
        self.send_often(method, path, pairs, 1).pop().unwrap()
    }

    /// The same request several times in one go.
    pub(crate) fn send_often(
        &mut self,
        method: Method,
        path: &str,
        pairs: &Pairs,
        times: usize,
    ) -> Vec<Response<Bytes>> {
        self.send_body(method, path, &pg_support::body_of(&texts(pairs)), times)
    }

    fn send_body(&mut self, method: Method, path: &str, body: &str, times: usize) -> Vec<Response<Bytes>> {
        let group = (0..times).map(|_| request(method.clone(), path, body.to_owned())).collect();
        let responses = self.desk.handle_group(group);
        for response in &responses {
            let shown = format!("{:?} {}", response.headers(), String::from_utf8_lossy(response.body()));
            assert!(NUMBERS.iter().all(|number| !shown.contains(number)), "{shown}");
            self.basis = header(response, "pg-basis");
        }
        responses
    }

    pub(crate) fn merchant(&self, who: Who) -> Merchant {
        self.desk.account(who.name())
    }
}

/// A reply of version 5.
#[derive(Debug)]
pub(crate) struct Xml(String);

impl Xml {
    /// The text of an element without children; empty when it is not there.
    pub(crate) fn text(&self, name: &str) -> String {
        element(&self.0, name)
    }
}

fn texts(pairs: &Pairs) -> Vec<(&str, &str)> {
    pairs.iter().map(|(name, value)| (*name, value.as_str())).collect()
}

/// The text of a member; empty when it is not there or null.
pub(crate) fn text<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}
