//! `transaction/cancelpreauth` (spec 2 §3.2, §4.4).

use pg_model::{CancelPreauth, Transaction};

use super::{
    Context, Refusal, Serve,
    operation::{self, Portion},
};
use crate::{merchants::Merchant, records::PaymentKind};

impl Serve for CancelPreauth {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let portion = Portion::asked(self.transaction_value).map_err(|refusal| refusal.assuming(96))?;
        let mut preauth = operation::find_reservation(context, merchant, &self.transaction_key)?;
        let amount = portion.of(preauth.reserved())?;
        preauth.cancelled += amount;
        operation::record(context, &preauth, PaymentKind::CancelPreAuth, amount)
    }
}
