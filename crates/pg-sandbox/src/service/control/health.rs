//! `GET /_sandbox/health/live` and `/ready`, for load balancers and container platforms. They are open to every machine and
//! say nothing else.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use serde_json::json;

use crate::service::Reply;

/// The path below `/_sandbox/` that says that the process runs, whatever its store does.
pub(crate) const LIVE: &str = "health/live";
/// The path that is answered from the store: an error if requests could not be answered now.
pub(crate) const READY: &str = "health/ready";

/// The reply to a probe; `None` for any other request. To be here, a request has been given an open transaction.
pub(super) fn answer(path: &str, request: &Request<Bytes>) -> Option<Reply> {
    let status = match path {
        LIVE => "live",
        READY => "ready",
        _ => return None,
    };
    (request.method() == Method::GET).then(|| Reply::json(StatusCode::OK, &json!({ "status": status })))
}
