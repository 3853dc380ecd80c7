//! Transactions of both services, with their possible operations.

use pg_model::{Amount, Currency};
use serde_json::{Value, json};

use super::{Payment, Timestamp, card, details, optional};
use crate::records::{PaymentKind, Service};

pub(super) fn view(payment: &Payment, now: Timestamp) -> Value {
    let reservation = payment.kind == PaymentKind::PreAuth && payment.approved();
    let reserved = if now < payment.reserved_until() { payment.reserved() } else { 0 };
    json!({
        "transactionKey": payment.key,
        "merchant": payment.merchant,
        "transactionType": payment.kind.wire(),
        "service": match payment.service { Service::V3 => "v3", Service::V5 => "v5" },
        "transactionStatusCode": payment.status_code,
        "transactionStatus": payment.status,
        "approved": payment.approved(),
        "amount": payment.amount,
        "amountDecimal": decimal(payment.amount, &payment.currency),
        "currency": payment.currency,
        "captured": payment.captured,
        "cancelled": payment.cancelled,
        "refunded": payment.refunded,
        "capturable": reserved,
        "cancellable": reserved,
        "refundable": payment.refundable(),
        "reservedUntil": reservation.then(|| payment.reserved_until().to_string()),
        "parent": payment.parent,
        "merchantReference": optional(payment.merchant_reference.as_ref()),
        "uniqueMerchantReference": optional(payment.unique_reference.as_ref()),
        "merchantCustomerReference": optional(payment.customer_reference.as_ref()),
        "card": payment.card.as_ref().map(card),
        "cardKey": payment.card_key,
        "bank": bank(payment),
        "details": details(&payment.details),
        "created": payment.created.to_string(),
    })
}

/// Returns the reply of the sandbox's own bank, in full. Its numbers are as long as card numbers, but are no card
/// numbers.
fn bank(payment: &Payment) -> Value {
    payment.bank.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect()
}

/// Returns an amount in currency units, with a point before the decimals.
fn decimal(minor: u64, currency: &str) -> String {
    Amount::new(minor, Currency::from(currency)).to_decimal().to_string()
}
