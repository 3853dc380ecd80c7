//! Log events of requests and callbacks.

use http::{Method, Request, StatusCode};
use serde_json::json;

use crate::{
    Peer,
    journal::{Answered, Entry, Parameters},
    log::Log,
    timestamp::Timestamp,
};

/// Logs a request of a service or of one of its pages.
pub(super) fn request(log: &Log, entry: &Entry) {
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
    log.event(entry.real_at, level, "request", members);
}

/// Logs a call of the control interface, or a page or form of the inspector.
pub(super) fn control<B>(log: &Log, time: Timestamp, request: &Request<B>, is_head: bool, status: StatusCode) {
    let method = if is_head { &Method::HEAD } else { request.method() };
    let members = json!({
        "peer": Peer::of(request).to_string(),
        "httpMethod": method.as_str(),
        "path": Parameters::masked_path(request.uri().path()),
        "status": status.as_u16(),
    });
    log.event(time, if status.is_server_error() { "error" } else { "info" }, "control", members);
}

/// Logs an attempt to deliver a callback.
pub(super) fn callback(log: &Log, time: Timestamp, id: &str, result: &Result<StatusCode, String>) {
    let is_delivered = matches!(result, Ok(status) if status.is_success());
    let members = json!({
        "callback": id,
        "status": result.as_ref().ok().map(|status| status.as_u16()),
        "problem": result.as_ref().err().map(|problem| pg_model::mask::text(problem)),
    });
    log.event(time, if is_delivered { "info" } else { "warning" }, "callback", members);
}
