//! Handles one request: records it, executes it or not, replies or not.

use std::{convert::Infallible, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::{Act, Answer, Exchange, LateAt, On, Wire, body::Reply, edit::edited, exchange};
use crate::{clock, finding::Lane};

/// The connection must be closed.
#[derive(Debug, thiserror::Error)]
#[error("closed by the drill")]
pub(super) struct Cut;

/// The maximum number of bytes of a request.
const MOST: usize = 4 << 20;
/// How long a killed integration has to receive its reply.
const BEFORE_KILL: Duration = Duration::from_millis(5);

pub(super) async fn answer(wire: Arc<Wire>, request: Request<Incoming>) -> Result<Response<Reply>, Cut> {
    let (parts, body) = request.into_parts();
    if parts.uri.path().starts_with("/_sandbox") {
        return Ok(plain(StatusCode::NOT_FOUND, "the control interface is not part of the service"));
    }
    let mut exchange = Exchange::of(&parts);
    // A connection may be older than an outage.
    if !wire.takes_request(exchange.head_bytes()) || wire.reach.is_down() {
        return Err(Cut);
    }
    // No other fault is decided before the body says whose order the request is about.
    let is_early = wire.state().rules.iter().any(|(rule, _)| rule.act == Act::CutAfterHead);
    let early = if is_early { wire.act(&exchange) } else { None };
    if early == Some(Act::CutAfterHead) {
        wire.arrived(exchange, early);
        return Err(Cut);
    }
    let body = Limited::new(body, MOST).collect().await.map_err(|_| Cut)?.to_bytes();
    if !wire.takes(body.len()) {
        return Err(Cut);
    }
    exchange.take_body(&body);
    if wire.is_of_another_drill(&exchange) {
        wire.note(Lane::Integration, Lane::Wire, "a request about the order of an earlier drill: connection closed");
        return Err(Cut);
    }
    let act = if is_early { early } else { wire.act(&exchange) };
    let encoding = Encoding::of(&exchange.path);
    let number = wire.arrived(exchange, act);
    let request = exchange::rebuilt(parts, body);
    wire.meet(act, number, encoding, request).await
}

impl Wire {
    /// Returns the fault of this request.
    fn act(&self, exchange: &Exchange) -> Option<Act> {
        let mut state = self.state();
        if state.lookups_fail.is_some() && exchange.is(On::Lookup) {
            return state.lookups_fail;
        }
        // What is looked up before anything was paid or moved meets no fault of the lookups after it.
        let is_early = [On::Payment, On::Later].into_iter().any(|on| {
            let mut sent = state.exchanges.iter().skip(state.before_rules);
            state.rules.iter().any(|(rule, _)| rule.on == on) && !sent.any(|one| one.is(on))
        });
        let mut met = None;
        for (rule, seen) in &mut state.rules {
            if exchange.is(rule.on) && !(is_early && rule.on == On::Lookup) {
                *seen += 1;
                if met.is_none() && rule.meets(*seen) {
                    met = Some(rule.act);
                }
            }
        }
        met
    }

    fn arrived(&self, mut exchange: Exchange, act: Option<Act>) -> usize {
        exchange.act = act;
        let name = if exchange.method.is_empty() { exchange.path.clone() } else { exchange.method.clone() };
        let reference = ["uniqueMerchantReference", "transactionKey", "trans_key", "batchKey", "authenticationKey"]
            .iter()
            .find_map(|name| exchange.parameter(name).map(|value| format!(" ({value})")))
            .unwrap_or_default();
        self.note(Lane::Integration, Lane::Wire, format!("{name}{reference}"));
        if let Some(act) = act.filter(|act| !act.comes_after()) {
            self.note(Lane::Wire, Lane::Wire, act.told());
        }
        let mut state = self.state();
        state.exchanges.push(exchange);
        state.exchanges.len() - 1
    }

    /// Sends a request to the service.
    pub(super) fn execute(&self, number: usize, request: Request<Bytes>) -> Option<Response<Bytes>> {
        if self.state().exchanges.get(number).is_some_and(|one| one.is(On::Retrieval)) {
            self.house.hasten();
        }
        let before = crate::books::Books::read(&self.house).ok();
        let response = self.house.send(request).ok();
        let mut act = None;
        if let Some(exchange) = self.state().exchanges.get_mut(number) {
            exchange.executed = true;
            act = exchange.act;
        }
        self.note(Lane::Wire, Lane::Service, "arrives");
        if let (Some(before), Ok(after)) = (before, crate::books::Books::read(&self.house)) {
            for entry in after.since(&before) {
                self.note(Lane::Service, Lane::Ledger, entry.told());
            }
        }
        if let Some(act) = act.filter(|act| act.comes_after()) {
            self.note(Lane::Wire, Lane::Wire, act.told());
        }
        response
    }

    async fn meet(
        self: Arc<Self>,
        act: Option<Act>,
        number: usize,
        encoding: Encoding,
        request: Request<Bytes>,
    ) -> Result<Response<Reply>, Cut> {
        match act {
            Some(Act::DropRequest | Act::CutAfterHead) => Err(Cut),
            Some(Act::DropReply) => {
                self.execute(number, request);
                Err(Cut)
            }
            Some(Act::Outage) => {
                self.execute(number, request);
                self.reach.fall().await;
                Err(Cut)
            }
            Some(Act::Hold) => {
                self.execute(number, request);
                std::future::pending().await
            }
            Some(Act::Late(at)) => {
                self.state().late.push((at, number, request));
                std::future::pending().await
            }
            Some(Act::Kill { executed, answered }) => self.kill_with(executed, answered, number, request).await,
            Some(Act::Answer { executed, answer }) => {
                let is_lookup = answer == Answer::NothingFound;
                let found = if is_lookup { self.nothing_found(encoding) } else { None };
                if executed {
                    self.execute(number, request);
                }
                let response = found.unwrap_or_else(|| invented(answer, encoding, &self.trap));
                Ok(self.reply(number, act, response))
            }
            Some(Act::Twice { second }) => {
                let copy = Request::from_parts(clone_parts(&request), request.body().clone());
                let first = self.execute(number, copy).ok_or(Cut)?;
                let other = self.execute(number, request).ok_or(Cut)?;
                Ok(self.reply(number, act, if second { other } else { first }))
            }
            Some(Act::Slow(milliseconds)) => {
                let response = self.execute(number, request).ok_or(Cut)?;
                clock::pause(Duration::from_millis(milliseconds)).await;
                Ok(self.reply(number, act, response))
            }
            Some(Act::Silence { charged }) => {
                let method = self.state().exchanges.get(number).map(|one| one.method.clone()).unwrap_or_default();
                let kind = if charged { "no-response-charged" } else { "no-response" };
                self.house.silence(&method, kind).map_err(|_| Cut)?;
                let response = self.execute(number, request).ok_or(Cut)?;
                Ok(self.reply(number, act, response))
            }
            Some(Act::Edit(edit)) => {
                let response = self.execute(number, request).ok_or(Cut)?;
                let edited = edited(edit, response);
                Ok(self.tell(number, act, edited))
            }
            None => {
                let response = self.execute(number, request).ok_or(Cut)?;
                let is_lookup = self.state().exchanges.get(number).is_some_and(|one| one.is(On::Lookup));
                let reply = self.reply(number, act, response);
                if is_lookup {
                    self.arrive_late(LateAt::AfterLookup);
                }
                Ok(reply)
            }
        }
    }

    async fn kill_with(
        self: Arc<Self>,
        executed: bool,
        answered: bool,
        number: usize,
        request: Request<Bytes>,
    ) -> Result<Response<Reply>, Cut> {
        let response = if executed { self.execute(number, request) } else { None };
        match response.filter(|_| answered) {
            Some(response) => {
                let reply = self.reply(number, Some(Act::Kill { executed, answered }), response);
                let start = self.state().starts;
                tokio::spawn(async move {
                    clock::pause(BEFORE_KILL).await;
                    // The integration may have ended and been restarted.
                    if self.state().starts == start {
                        self.kill.notify_waiters();
                    }
                });
                Ok(reply)
            }
            None => {
                self.kill.notify_waiters();
                std::future::pending().await
            }
        }
    }

    fn reply(&self, number: usize, act: Option<Act>, response: Response<Bytes>) -> Response<Reply> {
        self.tell(number, act, response.map(Reply::whole_of))
    }

    /// Records the reply.
    fn tell(&self, number: usize, act: Option<Act>, response: Response<(Bytes, Reply)>) -> Response<Reply> {
        let status = response.status().as_u16();
        let (parts, (text, body)) = response.into_parts();
        let text = String::from_utf8_lossy(&text).into_owned();
        let error = field(&text, "errorCode").or_else(|| field(&text, "errorcode"));
        let told = [("transactionStatusCode", "status"), ("errorCode", "error"), ("errorcode", "error")]
            .iter()
            .find_map(|(name, told)| field(&text, name).map(|code| format!(", {told} {code}")))
            .unwrap_or_default();
        self.note(Lane::Wire, Lane::Integration, format!("HTTP {status}{told}"));
        let honest = act.is_none_or(Act::is_honest);
        if let Some(exchange) = self.state().exchanges.get_mut(number) {
            exchange.status = Some(status);
            exchange.answered = honest && error.as_deref() != Some("119");
            exchange.showed_payment = honest && exchange.looks_up_payment() && error.is_none() && shows_payment(&text);
            exchange.error = error;
        }
        Response::from_parts(parts, body)
    }

    /// Returns the service's reply to an empty lookup.
    fn nothing_found(&self, encoding: Encoding) -> Option<Response<Bytes>> {
        let name = if encoding == Encoding::Json { "json" } else { "xml" };
        self.house.raw("transaction/lookup", name, &[("uniqueMerchantReference", "pg-rehearse-no-such-order")]).ok()
    }
}

/// The encoding of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Json,
    Xml,
}

impl Encoding {
    fn of(path: &str) -> Self {
        if path.trim_end_matches('/').ends_with("/json") { Self::Json } else { Self::Xml }
    }
}

impl Reply {
    pub(super) fn whole_of(bytes: Bytes) -> (Bytes, Self) {
        (bytes.clone(), Self::whole(bytes))
    }
}

fn clone_parts(request: &Request<Bytes>) -> http::request::Parts {
    let mut parts = Request::new(()).into_parts().0;
    parts.method = request.method().clone();
    parts.uri = request.uri().clone();
    parts.headers = request.headers().clone();
    parts
}

fn plain(status: StatusCode, text: &str) -> Response<Reply> {
    let mut response = Response::new(Reply::whole(Bytes::copy_from_slice(text.as_bytes())));
    *response.status_mut() = status;
    response
}

/// Returns a reply that does not come from the service.
fn invented(answer: Answer, encoding: Encoding, trap: &str) -> Response<Bytes> {
    let page = "<!DOCTYPE html><title>Welcome</title><h1>Please log in to this network</h1>";
    let (status, kind, body) = match answer {
        Answer::Gateway(status) => (status, "text/html", format!("<h1>{status}</h1>")),
        Answer::Error(status, code, message) => {
            let body = match encoding {
                Encoding::Json => {
                    format!(r#"{{"errorCode":"{code}","traceCode":"123456789","errorMessage":"{message}"}}"#)
                }
                Encoding::Xml => format!(
                    "<?xml version=\"1.0\"?><serviceResponse><errorCode>{code}</errorCode><traceCode>123456789</traceCode>\
                     <errorMessage>{message}</errorMessage></serviceResponse>"
                ),
            };
            (status, if encoding == Encoding::Json { "application/json" } else { "text/xml" }, body)
        }
        Answer::Empty | Answer::NothingFound => (200, "text/plain", String::new()),
        Answer::Html => (200, "text/html", page.to_owned()),
        Answer::OtherOrder => record(encoding, &OTHER_ORDER),
        Answer::Declined => record(encoding, &DECLINED),
        Answer::Undocumented => record(encoding, &UNDOCUMENTED),
        Answer::Elsewhere(status) => (status, "text/html", String::new()),
    };
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    response.headers_mut().insert(header::CONTENT_TYPE, http::HeaderValue::from_static(kind));
    if let (Answer::Elsewhere(_), Ok(location)) = (answer, format!("{trap}/v3/elsewhere").parse()) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

/// The reply to the payment of another order: another reference, amount and currency.
const OTHER_ORDER: [(&str, &str); 7] = [
    ("transactionStatusCode", "600"),
    ("transactionStatus", "Transaction approved"),
    ("transactionType", "Auth"),
    ("transactionKey", "70f2d3b4c5a697887766554433221100"),
    ("uniqueMerchantReference", "another-order"),
    ("currency", "EUR"),
    ("transactionValue", "499"),
];

/// The reply to a transaction that the bank declined.
const DECLINED: [(&str, &str); 2] = [("transactionStatusCode", "901"), ("transactionStatus", "Transaction declined")];

/// A reply with a status code that no document lists.
const UNDOCUMENTED: [(&str, &str); 2] =
    [("transactionStatusCode", "640"), ("transactionStatus", "Transaction referred")];

/// Returns the reply with these fields.
fn record(encoding: Encoding, fields: &[(&str, &str)]) -> (u16, &'static str, String) {
    match encoding {
        Encoding::Json => {
            let members: serde_json::Map<_, _> =
                fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
            (200, "application/json", serde_json::Value::Object(members).to_string())
        }
        Encoding::Xml => {
            let elements: String = fields.iter().map(|(name, value)| format!("<{name}>{value}</{name}>")).collect();
            (200, "text/xml", format!("<?xml version=\"1.0\"?><serviceResponse>{elements}</serviceResponse>"))
        }
    }
}

/// Returns the first value of a field, in JSON or XML.
pub(super) fn field(text: &str, name: &str) -> Option<String> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    if let Some((_, rest)) = text.split_once(&open) {
        return rest.split_once(&close).map(|(value, _)| value.to_owned());
    }
    let (_, rest) = text.split_once(&format!("\"{name}\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start().trim_start_matches('"');
    let value: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
    Some(value).filter(|value| !value.is_empty())
}

/// Whether a reply to a lookup lists an approved payment, in the words of either version.
fn shows_payment(text: &str) -> bool {
    text.contains("<status>Success<")
        || text.split("transactionStatusCode").skip(1).any(|rest| {
            let value = rest.trim_start_matches(|letter: char| letter.is_whitespace() || "\":>".contains(letter));
            value.starts_with("600")
        })
}

/// Accepts requests that followed a redirect, which an integration must not do.
pub(super) async fn trap(wire: Arc<Wire>, listener: TcpListener) {
    while let Ok((stream, _)) = listener.accept().await {
        let wire = Arc::clone(&wire);
        let service = service_fn(move |request: Request<Incoming>| {
            let wire = Arc::clone(&wire);
            async move {
                let (parts, body) = request.into_parts();
                let body = Limited::new(body, MOST).collect().await.map(|body| body.to_bytes()).unwrap_or_default();
                wire.note(Lane::Integration, Lane::Wire, "follows the redirect to another host");
                if !wire.takes_request(body.len()) {
                    return Ok(Response::new(Full::new(Bytes::new())));
                }
                let text = format!("{} {:?} {}", parts.uri, parts.headers, String::from_utf8_lossy(&body));
                wire.state().trapped.push(text);
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::new())))
            }
        });
        drop(http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service).await);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_shows_a_payment_if_any_of_its_rows_is_approved() {
        for text in [
            r#"{"transactions": [{"transactionStatusCode": "607"}, {"transactionStatusCode": "600"}]}"#,
            r#"{"transactionStatusCode":600}"#,
            "<transactionStatusCode>600</transactionStatusCode>",
            "<response><status>Success</status></response>",
        ] {
            assert!(shows_payment(text), "{text}");
        }
        for text in [r#"{"transactionStatusCode": "607"}"#, "<status>Failed</status>", r#"{"transactions": {}}"#] {
            assert!(!shows_payment(text), "{text}");
        }
    }
}
