//! A checkout token as the service shows it (spec 3 §2.1; A115 and A116).

use pg_model::{CheckoutItemLine, CheckoutToken as Reply, CheckoutUser, Token};

use super::result;
use crate::{
    records::{CheckoutItem, CheckoutToken, Details},
    timestamp::Timestamp,
};

/// Returns the reply of gettoken; `base` is the address of the sandbox's own pages.
pub(super) fn of(token: &CheckoutToken, base: &str) -> Reply {
    Reply::default().with(|reply| {
        reply.token = Token::default().with(|record| {
            record.token_id = token.key.as_str().into();
            record.merchant = token.merchant.clone();
            record.applet = token.applet.clone();
            record.redemption_url = format!("{base}/pay/{}", token.key).into();
            record.token_start = time(token.start);
            record.token_expiry = time(token.expires);
            record.creation = time(token.created);
            record.uses = token.uses.to_string();
            record.redemptions = token.redemptions.to_string();
            record.success_url = token.success_url.as_str().into();
            record.cancel_url = token.cancel_url.as_str().into();
            record.callback_url = token.callback_url.as_deref().unwrap_or_default().into();
            record.trans_type = result::trans_type(token.kind);
            record.trans_cat = token.category.as_str().into();
            record.currency = token.currency.as_str().into();
        });
        reply.user = user(&token.user);
        reply.items = token.items.iter().map(line).collect();
    })
}

/// The stored customer and billing address.
pub(super) fn user(stored: &Details) -> CheckoutUser {
    let text = |name: &str| stored.get(name).cloned().unwrap_or_default();
    CheckoutUser::default().with(|record| {
        record.salutation = text("salutation");
        record.first_name = text("first_name");
        record.surname = text("surname");
        record.mobile_phone = text("mobile_phone");
        record.home_phone = text("home_phone");
        record.property_name = text("property_name");
        record.address_1 = text("address_1");
        record.address_2 = text("address_2");
        record.town = text("town");
        record.county = text("county");
        record.postcode = text("postcode");
        record.country = text("country");
    })
}

fn line(item: &CheckoutItem) -> CheckoutItemLine {
    CheckoutItemLine::default().with(|record| {
        record.name = item.name.clone();
        record.price = item.price.as_str().into();
        record.quantity = item.quantity.map(|quantity| quantity.to_string()).unwrap_or_default();
        record.reference = item.reference.clone().unwrap_or_default();
    })
}

/// Returns whole seconds in UTC: `2024-05-01T12:00:00Z` (A115).
fn time(instant: Timestamp) -> String {
    Timestamp::from_millis(instant.seconds() * 1000).to_string()
}
