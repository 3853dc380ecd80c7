//! `transaction/capturepreauth` (spec 2 §3.2, §4.4).

use pg_model::{CapturePreauth, Transaction};

use super::{
    Context, Refusal, Serve,
    operation::{self, Portion},
    references::References,
};
use crate::{assumed, merchants::Merchant, records::PaymentKind};

impl Serve for CapturePreauth {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let portion =
            Portion::asked(self.transaction_value).map_err(|refusal| refusal.assuming(assumed::LIFE_OF_A_PREAUTH))?;
        let mut preauth = operation::find_reservation(context, merchant, &self.transaction_key)?;
        let amount = operation::capture(merchant, &mut preauth, portion)?;
        operation::record(context, &preauth, PaymentKind::Capture, amount, references)
    }
}
