//! The steps of 3-D Secure that open an authentication and pay with it: `transaction/initiate3DSecureCardKey`,
//! `initiate3DSecureSessionKey`, `auth3DSecure` and `preauth3DSecure` (spec 2 §3.3, §4.4; A06).

use pg_model::{
    AuthThreeDSecure, AuthenticationKey, InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey,
    PreauthThreeDSecure, ThreeDSecureInitiation, Transaction,
};

use super::{
    Context, Refusal, Serve, authentication, card, charge::Charge, initiate_three_d_secure::initiate,
    references::References, reply,
};
use crate::{
    assumed,
    merchants::Merchant,
    records::{PaymentKind, Service},
};

impl Serve for InitiateThreeDSecureCardKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<ThreeDSecureInitiation, Refusal> {
        context.basis.assume(assumed::PARAMETERS_OF_INITIATE3DSECURECARDKEY);
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let customer = self.order.merchant_customer_reference.as_ref();
        let card = card::of_token(context, merchant, &self.card_key, customer)?;
        if self.card_cv2.is_some() {
            context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
        }
        initiate(context, merchant, charge, card, self.return_url.as_ref())
    }
}

impl Serve for InitiateThreeDSecureSessionKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<ThreeDSecureInitiation, Refusal> {
        let charge = Charge::of(&self, &self.order, context, merchant)?;
        let card = card::of_session(context, merchant, &self.session_key)?;
        initiate(context, merchant, charge, card, Some(&self.return_url))
    }
}

impl Serve for AuthThreeDSecure {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        pay(context, merchant, PaymentKind::Auth, &self.authentication_key, references)
    }
}

impl Serve for PreauthThreeDSecure {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Transaction, Refusal> {
        let references = References::of(
            self.merchant_reference.as_ref(),
            self.unique_merchant_reference.as_ref(),
            self.merchant_customer_reference.as_ref(),
        );
        pay(context, merchant, PaymentKind::PreAuth, &self.authentication_key, references)
    }
}

fn pay(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    key: &AuthenticationKey,
    references: References,
) -> Result<Transaction, Refusal> {
    let authentication = authentication::find(context, merchant, Service::V3, key.as_str())?;
    Ok(reply::standard(&authentication::pay(context, merchant, kind, authentication, references)?))
}
