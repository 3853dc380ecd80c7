//! `token/enable` (spec 1 §4.3).

use pg_model::{Acknowledgement, EnableToken, ResultCode};

use super::{super::method::Serve, Context, Merchant, Refusal, find};

impl Serve for EnableToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let mut token = find(context, merchant, &self.card_key, customer)?;
        if !token.enabled {
            token.enabled = true;
            context.records.put(&token)?;
        }
        Ok(Acknowledgement::default().with(|record| {
            record.result = ResultCode::OK;
        }))
    }
}
