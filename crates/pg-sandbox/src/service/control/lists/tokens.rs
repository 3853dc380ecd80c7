//! Card tokens.

use serde_json::{Value, json};

use super::{CardToken, Timestamp, card, details, optional};

pub(super) fn view(token: &CardToken, _: Timestamp) -> Value {
    json!({
        "cardKey": token.key,
        "merchant": token.merchant,
        "enabled": token.enabled,
        "cardUniqueIdentifier": token.unique_identifier,
        "merchantCustomerReference": optional(token.customer_reference.as_ref()),
        "card": card(&token.card),
        "details": details(&token.details),
        "parent": token.parent,
        "created": token.created.to_string(),
    })
}
