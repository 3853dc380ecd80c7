//! `transaction/preauth3DSecure` (spec 2 §3.3, §4.4).

use pg_model::{PreauthThreeDSecure, Transaction};

use super::{Context, Refusal, Serve, authentication, references::References, reply};
use crate::{
    merchants::Merchant,
    records::{PaymentKind, Service},
};

impl Serve for PreauthThreeDSecure {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let key = self.authentication_key.as_str();
        let authentication = authentication::find(context, merchant, Service::V3, key)?;
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        let payment = authentication::pay(context, merchant, PaymentKind::PreAuth, authentication, references)?;
        Ok(reply::standard(&payment))
    }
}
