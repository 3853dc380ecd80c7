//! `token/disable` (spec 1 §4.4).

use pg_model::{Acknowledgement, DisableToken, ResultCode};

use super::{super::method::Serve, Context, Merchant, Refusal, find};
use crate::assumed;

impl Serve for DisableToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let mut token = find(context, merchant, &self.card_key, customer)?;
        if token.enabled {
            token.enabled = false;
            context.records.put(&token)?;
        } else {
            context.basis.assume(assumed::DISABLING_A_DISABLED_TOKEN);
        }
        Ok(Acknowledgement::default().with(|record| {
            record.result = ResultCode::OK;
        }))
    }
}
