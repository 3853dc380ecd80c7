//! Rules that concern several parameters together.

use crate::{PostForm, UpdateTransaction, Violations, text::Text};

/// The expiry date is one field or two (spec 2 §4.2).
pub(crate) fn post_form(form: &PostForm, violations: &mut Violations) {
    let given = |field: &Option<_>| field.as_ref().is_some_and(|text: &alloc::string::String| !text.is_empty());
    let source = "2 §4.2";
    if given(&form.card_expiry_date) {
        return;
    }
    match (given(&form.card_expiry_month), given(&form.card_expiry_year)) {
        (true, true) => {}
        (true, false) => violations.together("cardExpiryYear", "is required beside cardExpiryMonth", source),
        (false, true) => violations.together("cardExpiryMonth", "is required beside cardExpiryYear", source),
        (false, false) => {
            violations.together(
                "cardExpiryDate",
                "is required unless cardExpiryMonth and cardExpiryYear are given",
                source,
            );
        }
    }
}

/// An update must set at least one field; blank fields are ignored (spec 2 §4.4).
pub(crate) fn update_transaction(update: &UpdateTransaction, violations: &mut Violations) {
    let customer = update.merchant_customer_reference.as_ref().is_none_or(|reference| reference.text().is_empty());
    let merchant = update.merchant_reference.as_ref().is_none_or(|reference| reference.text().is_empty());
    if customer && merchant {
        violations.together("merchantReference", "or merchantCustomerReference is required", "2 §4.4");
    }
}
