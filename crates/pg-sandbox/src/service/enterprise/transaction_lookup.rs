//! `transaction_lookup` (spec 3 §4.8; A125).

use pg_model::{EnterpriseTransaction, EnterpriseTransactionLookup};

use super::{Context, Refusal, Serve, transaction};
use crate::{
    assumed,
    merchants::Merchant,
    records::{Payment, PaymentKind},
    service::money,
    timestamp::Timestamp,
};

impl Serve for EnterpriseTransactionLookup {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseTransaction, Refusal> {
        let payment = transaction::find(context, merchant, &self.trans_key)?;
        context.basis.assume_all([assumed::TRANSACTIONS_OF_BOTH_VERSIONS, assumed::STATUSES_OF_TRANSACTION_LOOKUP]);
        Ok(EnterpriseTransaction::default().with(|record| {
            record.status = status(&payment, context.now, context.settings.spoken().checkout.failed.first());
            record.token = payment.details.get(Payment::TOKEN_ID).map(String::as_str).unwrap_or_default().into();
            record.value = money::separated(payment.paid(), &payment.currency);
            record.currency = payment.currency.as_str().into();
        }))
    }
}

/// Returns the word for the result of a transaction.
fn status(payment: &Payment, now: Timestamp, failed: Option<&String>) -> String {
    // A check only authenticates. It makes no payment, so it is neither a failure nor a success.
    if matches!(payment.kind, PaymentKind::ThreeDSecureCheck | PaymentKind::ThreeDsAuthenticatedOnly) {
        return payment.kind.wire().to_owned();
    }
    let debit = matches!(payment.kind, PaymentKind::Auth | PaymentKind::Capture);
    if !payment.approved() {
        return failed.map_or("Failed", String::as_str).to_owned();
    }
    let word = if debit && payment.refundable() == 0 {
        "Refunded"
    } else if payment.kind != PaymentKind::PreAuth {
        "Success"
    } else if payment.released() {
        "Cancelled"
    } else if payment.captured == 0 && now >= payment.reserved_until() {
        "Voided"
    } else {
        "Success"
    };
    word.to_owned()
}
