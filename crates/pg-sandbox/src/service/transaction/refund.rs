//! `transaction/refund` (spec 2 §3.2, §4.4).

use pg_model::{Refund, Transaction};

use super::{
    Context, Refusal, Serve,
    operation::{self, Portion},
    references::References,
};
use crate::{assumed, merchants::Merchant, records::PaymentKind};

impl Serve for Refund {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let portion =
            Portion::asked(self.transaction_value).map_err(|refusal| refusal.assuming(assumed::SEVERAL_REFUNDS))?;
        let mut debit = operation::find(context, merchant, &self.transaction_key)?;
        operation::refuse_unless_refundable(context, &debit)?;
        let amount = portion.of(debit.refundable())?;
        debit.refunded += amount;
        operation::record(context, &debit, PaymentKind::Refund, amount, references)
    }
}
