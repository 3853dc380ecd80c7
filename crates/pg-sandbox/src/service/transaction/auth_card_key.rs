//! `transaction/authCardKey` (spec 2 §4.4).

use pg_model::{AuthCardKey, Transaction};

use super::{Context, Refusal, Serve, authorise::authorise, card, charge::Charge};
use crate::{assumed, merchants::Merchant, records::PaymentKind};

impl Serve for AuthCardKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let customer = self.order.merchant_customer_reference.as_ref();
        let card = card::of_token(context, merchant, &self.card_key, customer)?;
        if self.card_cv2.is_some() {
            context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
        }
        authorise(context, merchant, PaymentKind::Auth, charge, card)
    }
}
