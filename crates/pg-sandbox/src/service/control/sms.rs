//! `GET /_sandbox/sms`: the text messages that would have been sent (assumption 127).

use bytes::Bytes;
use http::{Request, StatusCode};

use super::{Context, Refusal, Reply, error, listing::Listing, shown};
use crate::records::TextMessage;

pub(super) fn list(context: &mut Context<'_>, request: &Request<Bytes>) -> Result<Reply, Refusal> {
    let listing = match Listing::of(request) {
        Ok(listing) => listing,
        Err(problem) => return Ok(error(StatusCode::BAD_REQUEST, &problem)),
    };
    let messages = context.records.find::<TextMessage>(&listing.query())?;
    Ok(shown(&messages.iter().map(TextMessage::view).collect()))
}
