//! `transaction/auth` (spec 2 §4.4).

use pg_model::{Auth, Transaction};

use super::{Context, Permission, Refusal, Serve, authorise, card};
use crate::{merchants::Merchant, records::PaymentKind};

impl Serve for Auth {
    const PERMISSION: Permission = Permission::RawCards;

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let details = authorise::details(&self);
        let card = card::raw(context, &self.card)?;
        authorise::authorise(context, merchant, PaymentKind::Auth, &self.order, card, details)
    }
}
