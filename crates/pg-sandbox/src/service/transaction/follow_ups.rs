//! Operations on a payment: `transaction/capturepreauth`, `cancelpreauth` and `refund` (spec 2 §3.2, §4.4).

use pg_model::{CancelPreauth, CapturePreauth, Refund, Transaction};

use super::{
    Context, Refusal, Serve,
    operation::{self, Portion},
    references::References,
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{PaymentKind, Service},
};

impl Serve for CapturePreauth {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let portion = Portion::asked(self.transaction_value);
        let portion = portion.map_err(|refusal| refusal.assuming(assumed::LIFE_OF_A_PREAUTH))?;
        let mut preauth = operation::find_reservation(context, merchant, &self.transaction_key)?;
        let amount = operation::capture(merchant, &mut preauth, portion)?;
        operation::record(context, &preauth, PaymentKind::Capture, amount, references)
    }
}

impl Serve for CancelPreauth {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let portion = Portion::asked(self.transaction_value);
        let portion = portion.map_err(|refusal| refusal.assuming(assumed::LIFE_OF_A_PREAUTH))?;
        let mut preauth = operation::find_reservation(context, merchant, &self.transaction_key)?;
        let amount = operation::cancel(merchant, &mut preauth, portion, Service::V3)?;
        operation::record(context, &preauth, PaymentKind::CancelPreAuth, amount, references)
    }
}

impl Serve for Refund {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let portion = Portion::asked(self.transaction_value);
        let portion = portion.map_err(|refusal| refusal.assuming(assumed::SEVERAL_REFUNDS))?;
        let mut debit = operation::find(context, merchant, &self.transaction_key)?;
        operation::refuse_unless_refundable(context, &debit)?;
        let amount = portion.of(debit.refundable())?;
        debit.refunded += amount;
        operation::record(context, &debit, PaymentKind::Refund, amount, references)
    }
}
