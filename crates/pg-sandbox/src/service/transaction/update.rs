//! `transaction/update` (spec 2 §4.4; assumption 98).

use pg_model::{Acknowledgement, ResultCode, SandboxErrorCode, UpdateTransaction};

use super::{Context, Refusal, Serve, charge::given, operation};
use crate::merchants::Merchant;

impl Serve for UpdateTransaction {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let reference = given(self.merchant_reference.as_ref());
        let customer = given(self.merchant_customer_reference.as_ref());
        let mut payment = operation::find(context, merchant, &self.transaction_key)?;
        let taken = |new: &Option<String>, held: &Option<String>| new.is_some() && held.is_some();
        if taken(&reference, &payment.merchant_reference) || taken(&customer, &payment.customer_reference) {
            return Err(SandboxErrorCode::FIELD_ALREADY_SET.into());
        }
        payment.reference_added |= reference.is_some();
        payment.merchant_reference = payment.merchant_reference.or(reference);
        payment.customer_reference = payment.customer_reference.or(customer);
        context.records.put(&payment)?;
        context.basis.assume(98);
        Ok(Acknowledgement { result: ResultCode::OK, ..Acknowledgement::default() })
    }
}
