//! `transaction/authSessionKey` (spec 2 §4.4).

use pg_model::{AuthSessionKey, Transaction};

use super::{Context, Refusal, Serve, authorise::authorise, card, charge::Charge};
use crate::{merchants::Merchant, records::PaymentKind};

impl Serve for AuthSessionKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let card = card::of_session(context, merchant, &self.session_key)?;
        authorise(context, merchant, PaymentKind::Auth, charge, card)
    }
}
