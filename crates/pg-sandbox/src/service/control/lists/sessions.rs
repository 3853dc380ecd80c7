//! Client sessions.

use serde_json::{Value, json};

use super::{Session, Timestamp, card, details, optional, text, texts};

pub(super) fn view(session: &Session, now: Timestamp) -> Value {
    json!({
        "sessionKey": session.key,
        "merchant": session.merchant,
        "expired": session.expired(now),
        "expires": session.expires.to_string(),
        "errorPageUrl": text(&session.error_page_url),
        "merchantCustomerReference": optional(session.customer_reference.as_ref()),
        "card": session.card.as_ref().map(card),
        "details": details(&session.details),
        "collected": texts(session.collected.iter().map(|(name, value)| (name, value))),
        "created": session.created.to_string(),
    })
}
