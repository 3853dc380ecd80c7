//! Payments by raw card, card key and session key: `transaction/auth`, `authCardKey`, `authSessionKey` and `preauth`
//! (spec 2 §4.4).

use pg_model::{Auth, AuthCardKey, AuthSessionKey, Preauth, Transaction};

use super::{Context, Permission, Refusal, Serve, authorise::authorise, card, charge::Charge};
use crate::{assumed, merchants::Merchant, records::PaymentKind};

impl Serve for Auth {
    const PERMISSION: Permission = Permission::RawCards;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let card = card::raw(context, &self.card)?;
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        authorise(context, merchant, PaymentKind::Auth, charge, card)
    }
}

impl Serve for Preauth {
    const PERMISSION: Permission = Permission::RawCards;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let card = card::raw(context, &self.card)?;
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        authorise(context, merchant, PaymentKind::PreAuth, charge, card)
    }
}

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

impl Serve for AuthSessionKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let card = card::of_session(context, merchant, &self.session_key)?;
        authorise(context, merchant, PaymentKind::Auth, charge, card)
    }
}
