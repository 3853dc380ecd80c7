//! A structured log: one line of JSON for each event.
//!
//! Names of members never change. Values are masked as in the journal: no card number, no CV2, no credential, no value of a
//! parameter.

use std::{fmt, sync::Arc};

use http::{Method, Request, StatusCode};
use serde_json::{Value, json};

use crate::{
    Peer,
    journal::{Answered, Entry, Parameters},
    timestamp::Timestamp,
};

/// Receives one line of JSON for each event of a sandbox: a request, a callback, a store that is lost or reached again.
///
/// The function is called by the thread that answers requests, so it must not wait.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl Log {
    /// A log that gives each line, without a line break, to this function.
    #[must_use]
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(write))
    }

    /// Logs an event with its own members. The level is `info`, `warning` or `error`.
    pub fn event(&self, time: Timestamp, level: &'static str, event: &'static str, mut members: Value) {
        members["time"] = time.to_string().into();
        members["level"] = level.into();
        members["event"] = event.into();
        (self.0)(&members.to_string());
    }

    /// Logs a request of a service or of one of its pages.
    pub(crate) fn request(&self, entry: &Entry) {
        let reply = entry.reply.as_ref();
        let status = reply.map(|reply| reply.status);
        let level = if status.is_some_and(|status| status >= 500) { "error" } else { "info" };
        let members = json!({
            "account": entry.merchant,
            "peer": entry.peer.to_string(),
            "httpMethod": entry.http_method.as_str(),
            "path": entry.path,
            "method": entry.info.map(|info| format!("{info:?}")),
            "status": status,
            "errorCode": reply.and_then(|reply| reply.error_code.as_deref()),
            "basis": reply.and_then(Answered::basis),
            "warnings": reply.map(Answered::warnings),
            "fault": entry.fault.map(|fault| fault.name()),
            "accountTime": entry.at.to_string(),
        });
        self.event(entry.real_at, level, "request", members);
    }

    /// Logs a call of the control interface, or a page or form of the inspector.
    pub(crate) fn control<B>(&self, time: Timestamp, request: &Request<B>, is_head: bool, status: StatusCode) {
        let method = if is_head { &Method::HEAD } else { request.method() };
        let members = json!({
            "peer": Peer::of(request).to_string(),
            "httpMethod": method.as_str(),
            "path": Parameters::masked(request.uri().path()),
            "status": status.as_u16(),
        });
        self.event(time, if status.is_server_error() { "error" } else { "info" }, "control", members);
    }

    /// Logs an attempt to deliver a callback.
    pub(crate) fn callback(&self, time: Timestamp, id: &str, result: &Result<StatusCode, String>) {
        let is_delivered = matches!(result, Ok(status) if status.is_success());
        let members = json!({
            "callback": id,
            "status": result.as_ref().ok().map(|status| status.as_u16()),
            "problem": result.as_ref().err().map(|problem| pg_model::mask::text(problem)),
        });
        self.event(time, if is_delivered { "info" } else { "warning" }, "callback", members);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log")
    }
}
