//! The common steps of every authorisation: auth and preauth by raw card, card
//! key, session key or authentication, the hosted payment page, and a repeated charge.

use std::collections::BTreeMap;

use pg_model::Transaction;

use super::{
    Context, Refusal,
    bank::{self, Answer, Verdict},
    card::PayingCard,
    charge::Charge,
    reply,
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{Payment, PaymentKind},
    secret::Secret,
    service::{cv2, unique_reference},
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
/// Refuses with 119 if the bank does not answer; see [`refuse_unheard`](bank::refuse_unheard) for a lost answer.
pub(in crate::service) fn pay(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    charge: Charge,
    card: PayingCard,
) -> Result<Payment, Refusal> {
    let verdict = Verdict::of(card.number.expose(), card.is_past(context.now));
    Attempt::new(context, merchant, kind, charge, card).put_to_bank(context, &verdict)
}

/// A charge on a card, and the key of its future transaction.
pub(super) struct Attempt<'a> {
    key: String,
    merchant: &'a Merchant,
    kind: PaymentKind,
    charge: Charge,
    card: PayingCard,
}

impl<'a> Attempt<'a> {
    /// Creates an attempt with its own key.
    pub(super) fn new(
        context: &mut Context<'_>,
        merchant: &'a Merchant,
        kind: PaymentKind,
        charge: Charge,
        card: PayingCard,
    ) -> Self {
        Self { key: context.keys.record(context.now), merchant, kind, charge, card }
    }

    /// Authorises the charge: drops the session's CV2, and records the transaction as the bank decides.
    pub(super) fn put_to_bank(self, context: &mut Context<'_>, verdict: &Verdict) -> Result<Payment, Refusal> {
        if let Some(session) = &self.card.session_key
            && cv2::take(context, session)?
        {
            // The CV2 is dropped even if the bank does not answer.
            context.records.keep()?;
            context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
        }
        bank::listen(context)?;
        let answer = match verdict {
            Verdict::Approved => bank::approved(context, true),
            Verdict::Declined(code) => bank::declined(context, code),
            Verdict::Silent => return Err(bank::no_response()),
            Verdict::Unheard => {
                bank::lose_answer(context);
                bank::approved(context, true)
            }
        };
        self.record(context, answer)
    }

    /// Returns the transaction with this answer.
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
            reference_added: charge.reference_added,
            unique_reference: charge.unique_reference,
            captured: 0,
            cancelled: 0,
            closed: false,
            refunded: 0,
            card_key: card.card_key,
            bank: answer.bank,
            details,
            created: context.now,
        };
        unique_reference::lead_to(context, &payment.key);
        context.records.put(&payment)?;
        Ok(payment)
    }
}

/// Returns the customer of the request, otherwise the customer whose card it is (A86 and A103).
fn customer(context: &mut Context<'_>, given: Option<String>, card: &PayingCard) -> Option<String> {
    if given.is_some() {
        return given;
    }
    let stored = card.customer_reference.clone()?;
    context.basis.assume(if card.card_key.is_some() {
        assumed::CUSTOMER_REFERENCE_OF_A_PAYMENT_BY_CARD_KEY
    } else {
        assumed::CUSTOMER_REFERENCE_OF_A_SESSION
    });
    Some(stored)
}

fn sealed(context: &mut Context<'_>, owner: &str, recipient: &BTreeMap<String, Secret>) -> BTreeMap<String, Sealed> {
    let mut seal = |secret: &Secret| context.vault.seal(context.keys.dice(), owner, secret.expose());
    recipient.iter().map(|(name, secret)| (name.clone(), seal(secret))).collect()
}
