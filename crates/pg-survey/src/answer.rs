//! A reply in any encoding, and the evidence that it gives.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use pg_proto::{
    model::{
        Dialect, Encoding, Record, Remedy, ServiceError, Session, decode_as, decode_into, dialect::ErrorMeaning, mask,
        method::MethodInfo,
    },
    shown,
};

use serde::Serialize;

use crate::{point::Seen, probe::Probe};

/// The longest excerpt of a message, in characters.
const EXCERPT: usize = 100;
/// A shorter text is not treated as a secret, since it would match anywhere.
const SHORTEST_SECRET: usize = 4;

/// A reply.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) http: u16,
    /// Empty if it names none.
    pub(crate) code: String,
    /// Masked.
    pub(crate) message: String,
    /// The redirect target.
    pub(crate) location: Option<String>,
    /// The version of the method; 3 for a page.
    version: u8,
    /// Masked.
    content_type: String,
    /// Whether the body is a reply of the method.
    is_readable: bool,
    body: Bytes,
    /// The body of the request, whose secrets texts of the reply may repeat.
    request: Bytes,
}

impl Answer {
    /// Reads a reply to the request with this body. Of a page, which has no method, only the form is known.
    pub(crate) fn of(response: &http::Response<Bytes>, request: &Bytes, info: Option<&MethodInfo>) -> Self {
        let mut error = ServiceError::default();
        // A page of a proxy is neither of them, and has no code.
        let readable = decode_into(response.body(), &mut error).is_ok();
        let code = if readable { error.error_code.as_str().to_owned() } else { String::new() };
        let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
        let is_readable = match info {
            Some(info) => decode_as(response.body(), (info.new_reply)()).is_ok(),
            None => Encoding::of(response.body()).is_some(),
        };
        Self {
            http: response.status().as_u16(),
            message: masked(if readable { &error.error_message } else { "" }, request),
            code: mask::text(&code),
            version: info.map_or(3, |info| info.service.version),
            location: header(LOCATION).map(str::to_owned),
            content_type: masked(header(CONTENT_TYPE).unwrap_or_default(), request),
            is_readable,
            body: response.body().clone(),
            request: request.clone(),
        }
    }

    /// Whether the request succeeded.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.http) && self.code.is_empty() && self.is_readable
    }

    /// Whether the request opened a session.
    pub(crate) fn is_session(&self) -> bool {
        self.record::<Session>().is_some_and(|session| !session.session_key.is_empty())
    }

    /// Whether the reply may come from another program than the service, such as a proxy: it is not the method's reply,
    /// and has neither an error code nor a status that refuses the request.
    pub(crate) fn is_foreign(&self) -> bool {
        self.code.is_empty() && !self.is_success() && !(400..500).contains(&self.http)
    }

    /// Returns status and content type, for people.
    pub(crate) fn head(&self) -> String {
        match &*self.content_type {
            "" => format!("HTTP {}, without a content type", self.http),
            content_type => format!("HTTP {}, content type {content_type}", self.http),
        }
    }

    /// Returns the observation about a request that should be refused.
    pub(crate) fn seen(&self) -> Seen {
        if self.is_success() {
            Seen::Accepted
        } else if self.code.is_empty() {
            Seen::Page(self.http)
        } else {
            Seen::Refused { code: self.code.clone(), http: Some(self.http) }
        }
    }

    /// Returns the reply as a record; `None` unless it is a success.
    pub(crate) fn record<R: Record + Default>(&self) -> Option<R> {
        let mut record = R::default();
        (self.is_success() && decode_into(&self.body, &mut record).is_ok()).then_some(record)
    }

    /// Returns the beginning of a text of the reply, masked.
    pub(crate) fn masked(&self, text: &str) -> String {
        masked(text, &self.request)
    }

    /// Whether the documents list the reply's code.
    pub(crate) fn is_documented(&self) -> bool {
        self.meaning().known
    }

    /// Whether the service refused the credentials, according to the documents' codes, or may have refused them, by a
    /// status without a code.
    pub(crate) fn refuses_credentials(&self) -> bool {
        self.may_mean(&[Remedy::FixCredentials]) || (self.code.is_empty() && self.http == 401)
    }

    /// Whether the service has locked the address out, according to the documents' codes.
    pub(crate) fn says_locked_out(&self) -> bool {
        self.may_mean(&[Remedy::WaitOneMinute, Remedy::WaitFiveMinutes])
    }

    /// Whether the documents give the code one of these remedies, in this version or in the other one: a survey stops rather than
    /// fail to log in again.
    fn may_mean(&self, remedies: &[Remedy]) -> bool {
        let of = |version| Dialect::documented().error_meaning(version, &self.code.as_str().into(), self.http);
        [3, 5].into_iter().map(of).any(|meaning| meaning.known && remedies.contains(&meaning.remedy))
    }

    fn meaning(&self) -> ErrorMeaning {
        Dialect::documented().error_meaning(self.version, &self.code.as_str().into(), self.http)
    }
}

/// Returns a text of the service without card numbers, and without secrets of the request that the service repeats.
fn masked(text: &str, request: &Bytes) -> String {
    let mut text = text.to_owned();
    for (name, value) in form_urlencoded::parse(request) {
        if value.len() >= SHORTEST_SECRET && shown(&name, &value) != *value {
            text = text.replace(&*value, "***");
        }
    }
    let printable = |c: char| if c.is_control() { ' ' } else { c };
    mask::text(&text).chars().take(EXCERPT).map(printable).collect()
}

/// One request and its reply, masked.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Evidence {
    /// HTTP method and path.
    pub request: String,
    /// The HTTP status.
    pub http: u16,
    /// The error code, if there is one.
    pub code: String,
    /// The beginning of the message that came with the code.
    pub excerpt: String,
}

impl Evidence {
    pub(crate) fn of(probe: &Probe, answer: &Answer) -> Self {
        let (code, excerpt) = (answer.code.clone(), answer.message.clone());
        Self { request: probe.request.shown(), http: answer.http, code, excerpt }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str, request: &'static str) -> Answer {
        let response = http::Response::builder().status(status).body(Bytes::from(body.to_owned())).expect("a reply");
        let lookup = pg_proto::model::method::method("transaction/lookup");
        Answer::of(&response, &Bytes::from_static(request.as_bytes()), lookup)
    }

    #[test]
    fn a_survey_stops_for_the_codes_of_either_version() {
        let of = |method, code: &str| {
            let body = format!("<serviceResponse><errorcode>{code}</errorcode></serviceResponse>");
            let response = http::Response::builder().status(400).body(Bytes::from(body)).expect("a reply");
            Answer::of(&response, &Bytes::new(), pg_proto::model::method::method(method))
        };
        for method in ["transaction/lookup", "enterprise/transaction_lookup"] {
            assert!(
                ["102", "105", "123", "3"].into_iter().all(|code| of(method, code).refuses_credentials()),
                "{method}"
            );
            assert!(["121", "122"].into_iter().all(|code| of(method, code).says_locked_out()), "{method}");
            assert!(!of(method, "777").refuses_credentials() && !of(method, "777").says_locked_out(), "{method}");
        }
    }

    #[test]
    fn parts_of_a_request_in_its_reply_are_masked() {
        let body = r#"{"errorCode":"7","errorMessage":"no user hunter22 with 4000000000001000"}"#;
        let said = answer(400, body, "apiPassword=hunter22&currency=user");
        assert_eq!(said.message, "no user *** with 400000******1000");
        assert_eq!(said.seen(), Seen::Refused { code: "7".to_owned(), http: Some(400) });
    }

    #[test]
    fn credentials_are_refused_by_documented_codes_or_by_a_bare_status() {
        let code = |code: &str| format!(r#"{{"errorCode":"{code}","errorMessage":""}}"#);
        assert!(answer(400, &code("102"), "").refuses_credentials());
        assert!(answer(401, "<html>", "").refuses_credentials());
        assert!(!answer(401, &code("777"), "").refuses_credentials());
        assert!(answer(403, &code("121"), "").says_locked_out() && answer(403, &code("122"), "").says_locked_out());
        assert!(!answer(429, &code("777"), "").says_locked_out());
        assert_eq!(answer(405, "<html>", "").seen(), Seen::Page(405));
    }

    #[test]
    fn only_replies_of_the_method_error_codes_and_refusing_statuses_are_of_the_service() {
        for (status, body) in
            [(200, "<h1>Wi-Fi</h1>"), (200, "[1,2,3]"), (200, "{}"), (200, ""), (302, ""), (502, "<html>")]
        {
            let answer = answer(status, body, "");
            assert!(answer.is_foreign() && !answer.is_success() && !answer.is_session(), "{status} {body}");
        }
        let empty = r#"{"transactions":{}}"#;
        for (status, body) in [(200, empty), (500, r#"{"errorCode":"7"}"#), (405, "<html>"), (413, "")] {
            assert!(!answer(status, body, "").is_foreign(), "{status} {body}");
        }
    }
}
