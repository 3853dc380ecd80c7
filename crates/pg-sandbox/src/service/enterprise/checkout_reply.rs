//! A checkout token as the service shows it (spec 3 §2.1; assumptions 115 and 116).

use pg_model::{CheckoutItemLine, CheckoutToken as Reply, CheckoutUser, Token};

use super::result;
use crate::{
    records::{CheckoutItem, CheckoutToken, Details},
    timestamp::Timestamp,
};

/// The reply of gettoken; `base` is the address of the sandbox's own pages.
pub(super) fn of(token: &CheckoutToken, base: &str) -> Reply {
    Reply {
        token: Token {
            token_id: token.key.as_str().into(),
            merchant: token.merchant.clone(),
            applet: token.applet.clone(),
            redemption_url: format!("{base}/pay/{}", token.key).into(),
            token_start: time(token.start),
            token_expiry: time(token.expires),
            creation: time(token.created),
            uses: token.uses.to_string(),
            redemptions: token.redemptions.to_string(),
            success_url: token.success_url.as_str().into(),
            cancel_url: token.cancel_url.as_str().into(),
            callback_url: token.callback_url.as_deref().unwrap_or_default().into(),
            trans_type: result::trans_type(token.kind),
            trans_cat: token.category.as_str().into(),
            currency: token.currency.as_str().into(),
            ..Token::default()
        },
        user: user(&token.user),
        items: token.items.iter().map(line).collect(),
        ..Reply::default()
    }
}

/// The customer and the billing address as far as they are stored.
pub(super) fn user(stored: &Details) -> CheckoutUser {
    let text = |name: &str| stored.get(name).cloned().unwrap_or_default();
    CheckoutUser {
        salutation: text("salutation"),
        first_name: text("first_name"),
        surname: text("surname"),
        mobile_phone: text("mobile_phone"),
        home_phone: text("home_phone"),
        property_name: text("property_name"),
        address_1: text("address_1"),
        address_2: text("address_2"),
        town: text("town"),
        county: text("county"),
        postcode: text("postcode"),
        country: text("country"),
        ..CheckoutUser::default()
    }
}

fn line(item: &CheckoutItem) -> CheckoutItemLine {
    CheckoutItemLine {
        name: item.name.clone(),
        price: item.price.as_str().into(),
        quantity: item.quantity.map(|quantity| quantity.to_string()).unwrap_or_default(),
        reference: item.reference.clone().unwrap_or_default(),
        ..CheckoutItemLine::default()
    }
}

/// Whole seconds in UTC: `2024-05-01T12:00:00Z` (assumption 115).
fn time(instant: Timestamp) -> String {
    Timestamp::from_millis(instant.seconds() * 1000).to_string()
}
