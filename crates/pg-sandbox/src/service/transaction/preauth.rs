//! `transaction/preauth` (spec 2 §4.4).

use pg_model::{Preauth, Transaction};

use super::{Context, Permission, Refusal, Serve, authorise::authorise, card, charge::Charge};
use crate::{merchants::Merchant, records::PaymentKind};

impl Serve for Preauth {
    const PERMISSION: Permission = Permission::RawCards;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let card = card::raw(context, &self.card)?;
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        authorise(context, merchant, PaymentKind::PreAuth, charge, card)
    }
}
