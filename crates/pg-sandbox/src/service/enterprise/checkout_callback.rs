//! The callback after a hosted payment (spec 3 §6; A121).

use super::{Context, Refusal, amount, result};
use crate::{
    assumed,
    records::{CallbackKind, CheckoutToken, Payment},
    service::callback::{self, NewCallback},
};

/// Schedules the callback if the token names a URL.
pub(super) fn tell(context: &mut Context<'_>, token: &CheckoutToken, payment: &Payment) -> Result<(), Refusal> {
    let Some(url) = &token.callback_url else { return Ok(()) };
    context.basis.assume(assumed::THE_CHECKOUT_CALLBACK);
    let callback = NewCallback {
        merchant: &token.merchant,
        kind: CallbackKind::Checkout,
        about: &payment.key,
        url,
        content_type: "application/x-www-form-urlencoded",
        body: body(token, payment),
    };
    let now = context.now;
    Ok(callback::enqueue(context, callback, now)?)
}

fn body(token: &CheckoutToken, payment: &Payment) -> String {
    let trans_type = result::trans_type(payment.kind);
    let value = amount::decimal(payment.amount, &payment.currency);
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.append_pair("tokenid", &token.key)
        .append_pair("trans_key", &payment.key)
        .append_pair("trans_type", trans_type.as_str())
        .append_pair("trans_value", value.as_str())
        .append_pair("currency", &payment.currency)
        .append_pair("status", "1");
    for (name, text) in [
        ("trans_reference", payment.merchant_reference.as_ref()),
        ("trans_class", payment.details.get(Payment::TRANS_CLASS)),
    ] {
        form.extend_pairs(text.map(|text| (name, text)));
    }
    form.finish()
}
