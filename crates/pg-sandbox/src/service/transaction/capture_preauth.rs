//! `transaction/capturepreauth` (spec 2 §3.2, §4.4).

use pg_model::{CapturePreauth, Transaction};

use super::{
    Context, Refusal, Serve,
    operation::{self, Portion},
};
use crate::{merchants::Merchant, records::PaymentKind};

impl Serve for CapturePreauth {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let portion = Portion::asked(self.transaction_value).map_err(|refusal| refusal.assuming(96))?;
        let mut preauth = operation::find_reservation(context, merchant, &self.transaction_key)?;
        let amount = portion.of(preauth.reserved())?;
        preauth.captured += amount;
        operation::record(context, &preauth, PaymentKind::Capture, amount)
    }
}
