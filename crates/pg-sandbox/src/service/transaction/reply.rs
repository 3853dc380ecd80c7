//! Transactions as the service shows them.

use pg_model::{Transaction, TransactionType};

use crate::records::Payment;

/// The standard response of transaction methods (spec 2 §4.3).
pub(super) fn standard(payment: &Payment) -> Transaction {
    Transaction {
        transaction_status_code: payment.status_code.as_str().into(),
        transaction_status: payment.status.clone(),
        transaction_type: TransactionType::from(payment.kind.wire()),
        transaction_key: payment.key.as_str().into(),
        bank: payment.bank.iter().cloned().collect(),
        ..Transaction::default()
    }
}

/// One transaction of a lookup (assumption 21).
pub(super) fn row(payment: &Payment) -> Transaction {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    Transaction {
        merchant_reference: text(&payment.merchant_reference).into(),
        unique_merchant_reference: text(&payment.unique_reference).into(),
        merchant_customer_reference: text(&payment.customer_reference).into(),
        currency: payment.currency.as_str().into(),
        transaction_value: payment.amount.to_string(),
        original_transaction_key: text(&payment.parent).into(),
        created_on: payment.created.with_offset(),
        ..standard(payment)
    }
}
