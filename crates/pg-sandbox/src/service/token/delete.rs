//! `token/delete` (spec 1 §4.5).

use pg_model::{Acknowledgement, DeleteToken, ResultCode};

use super::{super::method::Serve, Context, Merchant, Refusal, find};
use crate::records::CardToken;

impl Serve for DeleteToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let token = find(context, merchant, &self.card_key, customer)?;
        context.records.remove::<CardToken>(&token.key)?;
        Ok(Acknowledgement::default().with(|record| {
            record.result = ResultCode::OK;
        }))
    }
}
