//! `token/enable`, `token/disable` and `token/delete` (spec 1 §4.3 to §4.5).

use pg_model::{Acknowledgement, DeleteToken, DisableToken, EnableToken, ResultCode};

use super::{super::method::Serve, Context, Merchant, Refusal, find};
use crate::{assumed, records::CardToken};

impl Serve for EnableToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let mut token = find(context, merchant, &self.card_key, customer)?;
        if !token.enabled {
            token.enabled = true;
            context.records.put(&token)?;
        }
        Ok(done())
    }
}

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
        Ok(done())
    }
}

impl Serve for DeleteToken {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let token = find(context, merchant, &self.card_key, customer)?;
        context.records.remove::<CardToken>(&token.key)?;
        Ok(done())
    }
}

fn done() -> Acknowledgement {
    Acknowledgement::default().with(|record| record.result = ResultCode::OK)
}
