//! `refund` (spec 3 §3.2, §4.3; A100).

use pg_model::{EnterpriseRefund, EnterpriseResult, ErrorCode, SystemAction};

use super::{
    Context, Refusal, Serve, amount, result,
    transaction::{self, Portion, References, Step},
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{PaymentKind, Service},
};

impl Serve for EnterpriseRefund {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        let mut debit = transaction::find(context, merchant, &self.prev_trans_key)?;
        let portion = Portion::asked(Some(amount::payable(&self.trans_value, &debit.currency)?))?;
        if let Some(currency) = self.currency.filter(|currency| !currency.is_empty()) {
            context.basis.assume(assumed::CURRENCY_OF_THE_VERSION_5_REFUND);
            if currency.as_str() != debit.currency {
                return Err(ErrorCode::CURRENCY_NOT_SUPPORTED.into());
            }
        }
        transaction::refuse_unless_refundable(context, &debit)?;
        let amount = portion.of(debit.refundable())?;
        debit.refunded += amount;
        let details = result::class(self.trans_class);
        let step = Step {
            kind: PaymentKind::Refund,
            service: Service::V5,
            amount,
            details,
            references: References::default(),
        };
        let payment = transaction::perform(context, &debit, step)?;
        context.basis.assume(assumed::TRANSACTIONS_OF_BOTH_VERSIONS);
        Ok(result::of(context, &payment, SystemAction::REFUND))
    }
}
