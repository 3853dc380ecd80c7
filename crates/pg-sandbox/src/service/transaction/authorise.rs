//! What every authorisation does, whatever the card comes from: auth and preauth by raw card, card
//! key, session key or authentication, the hosted payment page, and a repeated charge.

use std::collections::BTreeMap;

use pg_model::{ErrorCode, SandboxErrorCode, Transaction};

use super::{
    Context, Refusal,
    bank::{self, Verdict},
    card::PayingCard,
    charge::Charge,
    reply,
};
use crate::{
    merchants::Merchant,
    records::{Payment, PaymentKind, UniqueReference},
    secret::Secret,
    vault::Sealed,
};

/// [`pay`] with the reply of the gateway's methods.
pub(super) fn authorise(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    charge: Charge,
    card: PayingCard,
) -> Result<Transaction, Refusal> {
    Ok(reply::standard(&pay(context, merchant, kind, charge, card)?))
}

/// Asks the bank for a charge on a card and records the transaction, approved or declined.
///
/// Refused with 950 when the unique reference is used up, and with 119 when the bank does not answer.
pub(in crate::service) fn pay(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    charge: Charge,
    card: PayingCard,
) -> Result<Payment, Refusal> {
    let key = context.keys.record(context.now);
    let verdict = Verdict::of(card.number.expose(), card.is_past(context.now));
    if let Some(reference) = &charge.unique_reference {
        let transaction = (verdict != Verdict::Silent).then(|| key.clone());
        use_up(context, &UniqueReference::new(&merchant.name, reference, transaction))?;
    }
    if let Some(session) = &card.session_key
        && context.cv2.take(session).is_some()
    {
        context.basis.assume(101);
    }
    let answer = match verdict {
        Verdict::Approved => bank::approved(context, true),
        Verdict::Declined(code) => bank::declined(context, &code),
        Verdict::Silent => {
            // The request has reached the bank, so its reference stays used up (assumption 92).
            context.records.keep()?;
            return Err(Refusal::from(ErrorCode::NO_RESPONSE_FROM_BANK).assuming(93));
        }
    };
    let mut details = card.details.clone();
    details.extend(charge.details);
    let payment = Payment {
        card: Some(card.sealed(context, &key)),
        recipient: sealed(context, &key, &charge.recipient),
        customer_reference: customer(context, charge.customer_reference, &card),
        key,
        merchant: merchant.name.clone(),
        kind,
        service: charge.service,
        status_code: answer.code,
        status: answer.status,
        amount: charge.amount,
        currency: charge.currency,
        parent: charge.parent,
        merchant_reference: charge.merchant_reference,
        reference_added: false,
        unique_reference: charge.unique_reference,
        captured: 0,
        cancelled: 0,
        refunded: 0,
        card_key: card.card_key,
        bank: answer.bank,
        details,
        created: context.now,
    };
    context.records.put(&payment)?;
    Ok(payment)
}

/// A reference is used up by the first request that reaches the bank with it (assumption 92).
fn use_up(context: &mut Context<'_>, reference: &UniqueReference) -> Result<(), Refusal> {
    context.basis.assume(92);
    if context.records.insert(reference)? { Ok(()) } else { Err(SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.into()) }
}

/// The customer of the request, otherwise the one whose card it is (assumptions 86 and 103).
fn customer(context: &mut Context<'_>, given: Option<String>, card: &PayingCard) -> Option<String> {
    if given.is_some() {
        return given;
    }
    let stored = card.customer_reference.clone()?;
    context.basis.assume(if card.card_key.is_some() { 103 } else { 86 });
    Some(stored)
}

fn sealed(
    context: &mut Context<'_>,
    owner: &str,
    recipient: &BTreeMap<&'static str, Secret>,
) -> BTreeMap<String, Sealed> {
    let mut seal = |secret: &Secret| context.vault.seal(context.keys.dice(), owner, secret.expose());
    recipient.iter().map(|(&name, secret)| (name.to_owned(), seal(secret))).collect()
}
