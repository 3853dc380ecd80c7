//! Transactions as the service shows them.

use pg_model::{Transaction, TransactionType};

use crate::records::Payment;

/// Returns the standard response of transaction methods (spec 2 §4.3).
pub(super) fn standard(payment: &Payment) -> Transaction {
    Transaction::default().with(|record| {
        record.transaction_status_code = payment.status_code.as_str().into();
        record.transaction_status = payment.status.clone();
        record.transaction_type = TransactionType::from(payment.kind.wire());
        record.transaction_key = payment.key.as_str().into();
        payment.bank.iter().for_each(|(name, value)| record.bank.add(name, value));
    })
}

/// One transaction of a lookup (A21).
pub(super) fn row(payment: &Payment) -> Transaction {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    standard(payment).with(|record| {
        record.merchant_reference = text(&payment.merchant_reference).into();
        record.unique_merchant_reference = text(&payment.unique_reference).into();
        record.merchant_customer_reference = text(&payment.customer_reference).into();
        record.currency = payment.currency.as_str().into();
        record.transaction_value = payment.amount.to_string();
        record.original_transaction_key = text(&payment.parent).into();
        record.created_on = payment.created.with_offset();
    })
}
