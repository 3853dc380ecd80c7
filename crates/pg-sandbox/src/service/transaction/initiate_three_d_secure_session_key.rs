//! `transaction/initiate3DSecureSessionKey` (spec 2 §3.3, §4.4).

use pg_model::{InitiateThreeDSecureSessionKey, ThreeDSecureInitiation};

use super::{Context, Refusal, Serve, card, charge::Charge, initiate_three_d_secure::initiate};
use crate::merchants::Merchant;

impl Serve for InitiateThreeDSecureSessionKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<ThreeDSecureInitiation, Refusal> {
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let card = card::of_session(context, merchant, &self.session_key)?;
        initiate(context, merchant, charge, card, Some(&self.return_url))
    }
}
