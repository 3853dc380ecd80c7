//! The control interface below `/_sandbox/`: JSON about, and switches of, the sandbox itself.

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use serde_json::json;

use super::{Context, Reply};
use crate::cards;

mod access;
mod clock;

/// Answers a call of the control interface; `path` is what follows `/_sandbox/`.
pub(super) fn answer(context: &mut Context<'_>, path: &str, request: &Request<Bytes>) -> Reply {
    if let Err(reason) = access::check(context, request) {
        return error(StatusCode::FORBIDDEN, reason);
    }
    match (request.method(), path) {
        (&Method::GET, "merchants") => Reply::json(StatusCode::OK, &context.merchants().view()),
        (&Method::GET, "cards") => Reply::json(StatusCode::OK, &cards::view()),
        (&Method::GET, "clock") => clock::show(context),
        (&Method::POST, "clock") => clock::change(context, request),
        (_, "merchants" | "cards") => error(StatusCode::METHOD_NOT_ALLOWED, "only GET is accepted here"),
        (_, "clock") => error(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are accepted here"),
        _ => error(StatusCode::NOT_FOUND, "no such call; known are merchants, cards and clock"),
    }
}

fn error(status: StatusCode, reason: &str) -> Reply {
    Reply::json(status, &json!({ "error": reason }))
}
