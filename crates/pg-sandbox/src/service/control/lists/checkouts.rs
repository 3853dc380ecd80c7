//! Tokens of the hosted checkout.

use pg_model::{Amount, Currency};
use serde_json::{Value, json};

use super::{CheckoutToken, Timestamp, details, optional, text};
use crate::{
    records::{TokenEnd, UNLIMITED},
    secret_parameter,
};

pub(super) fn view(token: &CheckoutToken, now: Timestamp) -> Value {
    let left = |count: i64| if count == UNLIMITED { json!("unlimited") } else { json!(count) };
    json!({
        "tokenid": token.key,
        "merchant": token.merchant,
        "state": state(token, now),
        "transactionType": token.kind.wire(),
        "amount": token.amount,
        "amountDecimal": Amount::new(token.amount, Currency::from(&*token.currency)).to_decimal().to_string(),
        "currency": token.currency,
        "usesLeft": left(token.uses),
        "redemptionsLeft": left(token.redemptions),
        "starts": token.start.to_string(),
        "expires": token.expires.to_string(),
        "page": format!("/pay/{}", token.key),
        "successUrl": secret_parameter::masked(&token.success_url),
        "cancelUrl": secret_parameter::masked(&token.cancel_url),
        "callbackUrl": token.callback_url.as_deref().map(secret_parameter::masked),
        "redemptionRedirectUrl": token.redemption_redirect_url.as_deref().map(secret_parameter::masked),
        "autoRedirect": token.auto_redirect,
        "transReference": optional(token.reference.as_ref()),
        "transCategory": token.category,
        "applet": text(&token.applet),
        "options": details(&token.options),
        "threeDSecure": token.three_d_secure,
        "items": token.items.iter().map(|item| json!({
            "name": text(&item.name),
            "price": text(&item.price),
            "quantity": item.pieces(),
        })).collect::<Value>(),
        "user": details(&token.user),
        "created": token.created.to_string(),
    })
}

fn state(token: &CheckoutToken, now: Timestamp) -> &'static str {
    match token.end(now) {
        None => "open",
        Some(TokenEnd::Cancelled) => "cancelled",
        Some(TokenEnd::NotStarted) => "not-started",
        Some(TokenEnd::Expired) => "expired",
        Some(TokenEnd::UsedUp) => "used-up",
    }
}
