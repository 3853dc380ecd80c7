//! `GET /_sandbox/sms`: the text messages that would have been sent (assumption 127).

use bytes::Bytes;
use http::{Request, StatusCode};

use super::{Context, Reply, error, listing::Listing};
use crate::records::TextMessage;

pub(super) fn list(context: &mut Context<'_>, request: &Request<Bytes>) -> Reply {
    let listing = match Listing::of(request) {
        Ok(listing) => listing,
        Err(problem) => return error(StatusCode::BAD_REQUEST, &problem),
    };
    match context.records.find::<TextMessage>(&listing.query()) {
        Ok(messages) => Reply::json(StatusCode::OK, &messages.iter().map(TextMessage::view).collect()),
        Err(problem) => error(StatusCode::INTERNAL_SERVER_ERROR, &problem.to_string()),
    }
}
