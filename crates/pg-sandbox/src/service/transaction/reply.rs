//! Transactions as the service shows them.

use pg_model::{ApiRequest as _, Transaction, TransactionLookup, TransactionType};

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

/// One transaction of a lookup (A21 and A100).
pub(super) fn row(payment: &Payment) -> Transaction {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    standard(payment).with(|record| {
        // Only a trans_reference can be longer than a lookup takes.
        let is_in_version_3 = |text: &&String| {
            let field = TransactionLookup::INFO.field("merchantReference");
            field.is_some_and(|field| field.length.admits(text.chars().count()))
        };
        let reference = payment.merchant_reference.as_ref().filter(is_in_version_3);
        record.merchant_reference = reference.cloned().unwrap_or_default().into();
        record.unique_merchant_reference = text(&payment.unique_reference).into();
        record.merchant_customer_reference = text(&payment.customer_reference).into();
        record.currency = payment.currency.as_str().into();
        record.transaction_value = payment.amount.to_string();
        record.original_transaction_key = text(&payment.parent).into();
        record.created_on = payment.created.with_offset();
    })
}
