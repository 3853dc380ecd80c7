//! `capture`, `cancel` and `refund` (spec 3 §3.2, §4.3 to §4.5; A100).

use pg_model::{
    Decimal, EnterpriseCancel, EnterpriseCapture, EnterpriseRefund, EnterpriseResult, ErrorCode, SystemAction,
};

use super::{
    Context, Refusal, Serve, amount, result,
    transaction::{self, Portion, References, Step},
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{Payment, PaymentKind, Service},
};

impl Serve for EnterpriseCapture {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        let mut preauth = transaction::find(context, merchant, &self.prev_trans_key)?;
        let portion = portion(&self.trans_value, &preauth)?;
        transaction::refuse_unless_reserved(context, &preauth)?;
        let amount = transaction::capture(merchant, &mut preauth, portion)?;
        record(context, &preauth, (PaymentKind::Capture, SystemAction::CAPTURE), amount, self.trans_class)
    }
}

impl Serve for EnterpriseCancel {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        let mut preauth = transaction::find(context, merchant, &self.prev_trans_key)?;
        let portion = portion(&self.trans_value, &preauth)?;
        transaction::refuse_unless_reserved(context, &preauth)?;
        let amount = transaction::cancel(merchant, &mut preauth, portion, Service::V5)?;
        record(context, &preauth, (PaymentKind::CancelPreAuth, SystemAction::CANCEL), amount, self.trans_class)
    }
}

impl Serve for EnterpriseRefund {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        let mut debit = transaction::find(context, merchant, &self.prev_trans_key)?;
        let portion = portion(&self.trans_value, &debit)?;
        if let Some(currency) = self.currency.filter(|currency| !currency.is_empty()) {
            context.basis.assume(assumed::CURRENCY_OF_THE_VERSION_5_REFUND);
            if currency.as_str() != debit.currency {
                return Err(ErrorCode::CURRENCY_NOT_SUPPORTED.into());
            }
        }
        transaction::refuse_unless_refundable(context, &debit)?;
        let amount = portion.of(debit.refundable())?;
        debit.refunded += amount;
        record(context, &debit, (PaymentKind::Refund, SystemAction::REFUND), amount, self.trans_class)
    }
}

/// Returns the portion of the original that `trans_value` names.
fn portion(value: &Decimal, original: &Payment) -> Result<Portion, Refusal> {
    Portion::asked(Some(amount::payable(value, &original.currency)?))
}

/// Records the operation and the changed original, and returns the reply.
fn record(
    context: &mut Context<'_>,
    original: &Payment,
    (kind, action): (PaymentKind, SystemAction),
    amount: u64,
    trans_class: Option<String>,
) -> Result<EnterpriseResult, Refusal> {
    let details = result::class(trans_class);
    let step = Step { kind, service: Service::V5, amount, details, references: References::default() };
    let payment = transaction::perform(context, original, step)?;
    context.basis.assume(assumed::TRANSACTIONS_OF_BOTH_VERSIONS);
    Ok(result::of(context, &payment, action))
}
