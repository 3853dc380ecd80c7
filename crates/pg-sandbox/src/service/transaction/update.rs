//! `transaction/update` (spec 2 §4.4; A98).

use pg_model::{Acknowledgement, ApiRequest, ResultCode, UpdateTransaction, Violations};

use super::{Context, Refusal, Serve, charge::given, operation};
use crate::merchants::Merchant;
use crate::{assumed, codes::SandboxErrorCode};

const REFERENCE: &str = "merchantReference";
const CUSTOMER: &str = "merchantCustomerReference";

impl Serve for UpdateTransaction {
    /// One valid field is enough: an invalid field beside it is ignored (spec 2 §3.2, §4.4).
    fn broken_rules(&self) -> Violations {
        let all = self.check();
        let held = [
            (REFERENCE, given(self.merchant_reference.as_ref())),
            (CUSTOMER, given(self.merchant_customer_reference.as_ref())),
        ];
        if held.iter().any(|(name, value)| value.is_some() && !all.iter().any(|violation| violation.name == *name)) {
            return all
                .iter()
                .filter(|violation| ![REFERENCE, CUSTOMER].contains(&&*violation.name))
                .cloned()
                .collect();
        }
        all
    }

    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let reference = given(self.merchant_reference.as_ref());
        let customer = given(self.merchant_customer_reference.as_ref());
        let mut payment = operation::find(context, merchant, &self.transaction_key)?;
        let taken = |new: &Option<String>, held: &Option<String>| new.is_some() && held.is_some();
        if taken(&reference, &payment.merchant_reference) || taken(&customer, &payment.customer_reference) {
            return Err(SandboxErrorCode::FIELD_ALREADY_SET.into());
        }
        // An invalid field counts as supplied, and was compared above.
        let (reference, customer) = (valid(REFERENCE, reference), valid(CUSTOMER, customer));
        for (name, given, kept) in [
            (REFERENCE, self.merchant_reference.is_some(), reference.is_some()),
            (CUSTOMER, self.merchant_customer_reference.is_some(), customer.is_some()),
        ] {
            if given && !kept {
                context.warn(&format!("{name} was ignored: it is blank or invalid"));
            }
        }
        payment.reference_added |= reference.is_some();
        payment.merchant_reference = payment.merchant_reference.or(reference);
        payment.customer_reference = payment.customer_reference.or(customer);
        context.records.put(&payment)?;
        context.basis.assume(assumed::CODES_OF_UPDATE);
        Ok(Acknowledgement::default().with(|record| {
            record.result = ResultCode::OK;
        }))
    }
}

/// Returns a value if it follows the rules of its parameter.
fn valid(name: &str, value: Option<String>) -> Option<String> {
    let field = UpdateTransaction::INFO.fields.iter().find(|field| field.wire == name)?;
    value.filter(|value| field.broken_rule(value).is_none())
}
