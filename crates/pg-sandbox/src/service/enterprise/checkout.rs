//! The payment of a checkout token on the hosted page (spec 3 §1, §3.1).

use std::collections::BTreeMap;

use pg_model::ErrorCode;

use super::{
    Context, Refusal, checkout_callback,
    transaction::{self, Charge, PayingCard, References},
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{Authentication, CheckoutToken, Details, Payment, Service},
};

/// Asks the bank for the token's amount. An approval uses the token once and is reported to the merchant. `None` if the
/// bank did not answer (A93).
pub(in super::super) fn pay(
    context: &mut Context<'_>,
    merchant: &Merchant,
    token: &mut CheckoutToken,
    card: PayingCard,
    cardholder_name: &str,
) -> Result<Option<Payment>, Refusal> {
    context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
    meet_fault(context)?;
    let answer = transaction::pay(context, merchant, token.kind, charge(token, cardholder_name), card);
    settle(context, token, answer)
}

/// Opens the authentication that the token requires; the customer returns to `return_to`. `None` if the card's bank did
/// not answer (A105 and A122).
pub(in super::super) fn open_authentication(
    context: &mut Context<'_>,
    merchant: &Merchant,
    token: &CheckoutToken,
    card: PayingCard,
    cardholder_name: &str,
    return_to: String,
) -> Result<Option<Authentication>, Refusal> {
    context.basis.assume_all([assumed::THE_CV2_AFTER_AUTHORISATION, assumed::OPTIONS_OF_A_CHECKOUT_TOKEN]);
    let charge = charge(token, cardholder_name);
    let (_, opened) = transaction::open_authentication(context, merchant, charge, card, Some(return_to))?;
    Ok(opened)
}

/// [`pay`] with the card of an authentication that has ended: declined unless the customer was
/// authenticated or the card has no 3-D Secure (A122).
pub(in super::super) fn pay_authenticated(
    context: &mut Context<'_>,
    merchant: &Merchant,
    token: &mut CheckoutToken,
    authentication: Authentication,
) -> Result<Option<Payment>, Refusal> {
    context.basis.assume(assumed::OPTIONS_OF_A_CHECKOUT_TOKEN);
    meet_fault(context)?;
    let answer = transaction::authentication::pay(context, merchant, token.kind, authentication, References::default());
    settle(context, token, answer)
}

fn charge(token: &CheckoutToken, cardholder_name: &str) -> Charge {
    Charge {
        service: Service::V5,
        parent: None,
        amount: token.amount,
        currency: token.currency.clone(),
        merchant_reference: token.reference.clone(),
        reference_added: false,
        unique_reference: None,
        customer_reference: None,
        details: details(token, cardholder_name),
        recipient: BTreeMap::new(),
    }
}

/// The page is not a method, so its faults apply when it asks the bank.
fn meet_fault(context: &mut Context<'_>) -> Result<(), Refusal> {
    context.silence = context.faults.meet_page(&mut context.records)?;
    Ok(context.records.keep()?)
}

/// An approval whose answer was lost uses the token like any other, and sends no callback (A93).
fn settle(
    context: &mut Context<'_>,
    token: &mut CheckoutToken,
    answer: Result<Payment, Refusal>,
) -> Result<Option<Payment>, Refusal> {
    let payment = match answer {
        Err(refusal) if refusal.code() == ErrorCode::NO_RESPONSE_FROM_BANK.as_str() => {
            context.basis.join(refusal.basis());
            return Ok(None);
        }
        answered => answered?,
    };
    let unheard = context.unheard.take();
    if payment.approved() {
        token.pay(unheard.is_some());
        context.records.put(token)?;
    }
    if let Some(basis) = unheard {
        context.basis = basis;
        context.basis.assume(assumed::NO_RESPONSE_FROM_THE_BANK);
        return Ok(None);
    }
    if payment.approved() {
        checkout_callback::tell(context, token, &payment)?;
    }
    Ok(Some(payment))
}

/// Returns customer and address under the names of version 3, so that a token created from the payment has them (A136).
const STORED_AS: &[(&str, &str)] = &[
    ("salutation", "customerTitle"),
    ("first_name", "customerFirstName"),
    ("surname", "customerSurname"),
    ("email", "customerEmail"),
    ("mobile_phone", "customerMobile"),
    ("home_phone", "customerLandline"),
    ("property_name", "cardholderAddressPropertyName"),
    ("address_1", "cardholderAddressLine1"),
    ("address_2", "cardholderAddressLine2"),
    ("town", "cardholderAddressTown"),
    ("county", "cardholderAddressCounty"),
    ("postcode", "cardholderAddressPostcode"),
    ("country", "cardholderAddressCountry"),
    ("terminal_key", "terminalKey"),
    ("trans_class", Payment::TRANS_CLASS),
    ("payment_source", "payment_source"),
];

fn details(token: &CheckoutToken, cardholder_name: &str) -> Details {
    let given = |&(name, stored_as): &(&str, &str)| {
        let text = token.user.get(name).or_else(|| token.options.get(name))?;
        Some((stored_as.to_owned(), text.clone()))
    };
    let mut details: Details = STORED_AS.iter().filter_map(given).collect();
    details.insert(Payment::TOKEN_ID.to_owned(), token.key.clone());
    details.insert("trans_cat".to_owned(), token.category.clone());
    if !cardholder_name.is_empty() {
        details.insert("cardholderName".to_owned(), cardholder_name.to_owned());
    }
    for (number, item) in token.items.iter().enumerate() {
        let mut put = |name: &str, text: String| details.insert(format!("item_{name}[{number}]"), text);
        put("name", item.name.clone());
        put("price", item.price.clone());
        put("quantity", item.pieces().to_string());
        if let Some(reference) = &item.reference {
            put("reference", reference.clone());
        }
    }
    details
}
