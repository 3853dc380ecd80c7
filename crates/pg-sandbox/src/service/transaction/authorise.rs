//! What every authorisation does, whatever the card comes from: auth and preauth by raw card, card
//! key, session key or authentication.

use pg_model::{Method, Order, ParameterSink, SandboxErrorCode, Transaction, TransactionType, field::Field};

use super::{Context, Refusal, bank, card::PayingCard, order};
use crate::{
    merchants::Merchant,
    records::{Details, HeldCard, Payment, PaymentKind, Service, UniqueReference},
};

/// Authorises an order with a card and records the transaction, approved or declined.
pub(super) fn authorise(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    order: &Order,
    card: PayingCard,
    details: Details,
) -> Result<Transaction, Refusal> {
    order::check(order, merchant)?;
    let amount = order::total(order)?;
    let key = context.keys.record(context.now);
    let unique_reference = given(order.unique_merchant_reference.as_ref().map(|reference| reference.as_str()));
    if let Some(reference) = &unique_reference {
        use_up(context, merchant, reference, &key)?;
    }
    let number = card.number.expose();
    let decision = bank::authorise(context, number)?;
    let expiry = (card.expiry_month.as_str(), card.expiry_year.as_str());
    let customer = given(order.merchant_customer_reference.as_ref().map(|reference| reference.as_str()));
    let payment = Payment {
        card: Some(HeldCard::seal(context.vault, context.keys.dice(), &key, number, expiry)),
        key,
        merchant: merchant.name.clone(),
        kind,
        service: Service::V3,
        status_code: decision.code,
        status: decision.status.to_owned(),
        amount,
        currency: order.currency.as_str().to_owned(),
        parent: None,
        merchant_reference: given(order.merchant_reference.as_ref().map(|reference| reference.as_str())),
        unique_reference,
        customer_reference: customer.or(card.customer_reference),
        captured: 0,
        cancelled: 0,
        refunded: 0,
        card_key: card.card_key,
        bank: decision.bank,
        details,
        created: context.now,
    };
    context.records.put(&payment)?;
    Ok(reply(&payment))
}

/// A reference is used up by a request that leaves a transaction; a refusal gives it back, because
/// the records of a refused request are undone (assumption 92).
fn use_up(context: &mut Context<'_>, merchant: &Merchant, reference: &str, key: &str) -> Result<(), Refusal> {
    context.basis.assume(92);
    let used = UniqueReference::new(&merchant.name, reference, Some(key.to_owned()));
    if context.records.insert(&used)? { Ok(()) } else { Err(SandboxErrorCode::DUPLICATE_UNIQUE_REFERENCE.into()) }
}

/// The standard response of transaction methods (spec 2 §4.3).
pub(super) fn reply(payment: &Payment) -> Transaction {
    Transaction {
        transaction_status_code: payment.status_code.as_str().into(),
        transaction_status: payment.status.clone(),
        transaction_type: TransactionType::from(payment.kind.wire()),
        transaction_key: payment.key.as_str().into(),
        bank: payment.bank.iter().cloned().collect(),
        ..Transaction::default()
    }
}

fn given(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

/// What a request says about items, cardholder and customer, as it stands on the wire; nothing that
/// is sensitive, and nothing that a payment holds in a field of its own.
pub(super) fn details<M: Method>(request: &M) -> Details {
    let mut recorded = Recorded(Details::new());
    request.visit(&mut recorded);
    recorded.0
}

struct Recorded(Details);

const OWN_FIELDS: &[&str] = &[
    "currency",
    "merchantReference",
    "uniqueMerchantReference",
    "merchantCustomerReference",
    "cardExpiryMonth",
    "cardExpiryYear",
    "cardKey",
    "sessionKey",
];

impl ParameterSink for Recorded {
    fn credentials(&mut self) {}

    fn parameter(&mut self, field: &'static Field, name: &str, value: &str) {
        if !field.sensitive && !value.is_empty() && !OWN_FIELDS.contains(&field.wire) {
            self.0.insert(name.to_owned(), value.to_owned());
        }
    }

    fn list(&mut self, _field: &'static Field, _name: &str, _values: &mut dyn Iterator<Item = &str>) {}
}
