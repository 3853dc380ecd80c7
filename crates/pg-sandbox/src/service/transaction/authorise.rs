//! What every authorisation does, whatever the card comes from: auth and preauth by raw card, card
//! key, session key or authentication, the hosted payment page, and a repeated charge.

use std::collections::BTreeMap;

use pg_model::{ErrorCode, SandboxErrorCode, Transaction};

use super::{
    Context, Refusal,
    bank::{self, Answer, Verdict},
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
    let verdict = Verdict::of(card.number.expose(), card.is_past(context.now));
    let attempt = Attempt::new(context, merchant, kind, charge, card);
    attempt.use_up_reference(context, verdict != Verdict::Silent)?;
    attempt.put_to_bank(context, &verdict)
}

/// A charge on a card, and the key of the transaction that it will be.
pub(super) struct Attempt<'a> {
    key: String,
    merchant: &'a Merchant,
    kind: PaymentKind,
    charge: Charge,
    card: PayingCard,
}

impl<'a> Attempt<'a> {
    /// An attempt with a key of its own.
    pub(super) fn new(
        context: &mut Context<'_>,
        merchant: &'a Merchant,
        kind: PaymentKind,
        charge: Charge,
        card: PayingCard,
    ) -> Self {
        Self { key: context.keys.record(context.now), merchant, kind, charge, card }
    }

    /// The unique reference is used up by the first request that reaches the bank with it, whether or
    /// not that leaves a transaction (assumption 92).
    pub(super) fn use_up_reference(&self, context: &mut Context<'_>, recorded: bool) -> Result<(), Refusal> {
        let Some(reference) = &self.charge.unique_reference else { return Ok(()) };
        context.basis.assume(92);
        let used = UniqueReference::new(&self.merchant.name, reference, recorded.then(|| self.key.clone()));
        if context.records.insert(&used)? { Ok(()) } else { Err(SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.into()) }
    }

    /// An authorisation: the session forgets its CV2, and the transaction is recorded as the bank
    /// decides.
    pub(super) fn put_to_bank(self, context: &mut Context<'_>, verdict: &Verdict) -> Result<Payment, Refusal> {
        if let Some(session) = &self.card.session_key
            && context.cv2.take(session).is_some()
        {
            context.basis.assume(101);
        }
        let answer = match verdict {
            Verdict::Approved => bank::approved(context, true),
            Verdict::Declined(code) => bank::declined(context, code),
            Verdict::Silent => {
                // The request has reached the bank, so its reference stays used up (assumption 92).
                context.records.keep()?;
                return Err(Refusal::from(ErrorCode::NO_RESPONSE_FROM_BANK).assuming(93));
            }
        };
        self.record(context, answer)
    }

    /// The transaction with this answer.
    pub(super) fn record(self, context: &mut Context<'_>, answer: Answer) -> Result<Payment, Refusal> {
        let Self { key, merchant, kind, charge, card } = self;
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

fn sealed(context: &mut Context<'_>, owner: &str, recipient: &BTreeMap<String, Secret>) -> BTreeMap<String, Sealed> {
    let mut seal = |secret: &Secret| context.vault.seal(context.keys.dice(), owner, secret.expose());
    recipient.iter().map(|(name, secret)| (name.clone(), seal(secret))).collect()
}
