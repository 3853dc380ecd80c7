//! `transaction/initiate3DSecureCardKey` (spec 2 §3.3, §4.4; A06).

use pg_model::{InitiateThreeDSecureCardKey, ThreeDSecureInitiation};

use super::{Context, Refusal, Serve, card, charge::Charge, initiate_three_d_secure::initiate};
use crate::{assumed, merchants::Merchant};

impl Serve for InitiateThreeDSecureCardKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<ThreeDSecureInitiation, Refusal> {
        context.basis.assume(assumed::PARAMETERS_OF_INITIATE3DSECURECARDKEY);
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let customer = self.order.merchant_customer_reference.as_ref();
        let card = card::of_token(context, merchant, &self.card_key, customer)?;
        if self.card_cv2.is_some() {
            context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
        }
        initiate(context, merchant, charge, card, self.return_url.as_ref())
    }
}
