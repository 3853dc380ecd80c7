//! `capture` (spec 3 §3.2, §4.4; A100).

use pg_model::{EnterpriseCapture, EnterpriseResult, SystemAction};

use super::{
    Context, Refusal, Serve, amount, result,
    transaction::{self, Portion, References, Step},
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{PaymentKind, Service},
};

impl Serve for EnterpriseCapture {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<EnterpriseResult, Refusal> {
        let mut preauth = transaction::find(context, merchant, &self.prev_trans_key)?;
        let portion = Portion::asked(Some(amount::payable(&self.trans_value, &preauth.currency)?))?;
        transaction::refuse_unless_reserved(context, &preauth)?;
        let amount = transaction::capture(merchant, &mut preauth, portion)?;
        let details = result::class(self.trans_class);
        let step = Step {
            kind: PaymentKind::Capture,
            service: Service::V5,
            amount,
            details,
            references: References::default(),
        };
        let payment = transaction::perform(context, &preauth, step)?;
        context.basis.assume(assumed::TRANSACTIONS_OF_BOTH_VERSIONS);
        Ok(result::of(context, &payment, SystemAction::CAPTURE))
    }
}
