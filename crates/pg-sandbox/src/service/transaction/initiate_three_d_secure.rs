//! The first step of 3-D Secure: the check that is recorded, and the authentication that it opens
//! (spec 2 §3.3).

use pg_model::{StatusCode, ThreeDSecureInitiation, TransactionType, Url};

use super::{
    Context, Refusal,
    authentication::{ECI, eci_of, unauthenticated_eci},
    authorise::Attempt,
    bank::Answer,
    card::PayingCard,
    charge::Charge,
};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed,
    cards::Scenario,
    merchants::Merchant,
    records::{Authentication, AuthenticationEnd, Payment, PaymentKind},
};

/// Opens an authentication for a charge on a card, and records the check; nothing is charged.
///
/// `return_to` is the `Location` header for the customer's return. If the card's bank does not answer, the reply has no
/// authentication (A105).
pub(in crate::service) fn open(
    context: &mut Context<'_>,
    merchant: &Merchant,
    charge: Charge,
    card: PayingCard,
    return_to: Option<String>,
) -> Result<(Payment, Option<Authentication>), Refusal> {
    context.basis.assume(assumed::WHEN_AN_INITIATION_FAILS);
    let scenario = Scenario::of(card.number.expose());
    let (service, session_key) = (charge.service, card.session_key.clone());
    let code = match scenario {
        Scenario::NoResponse => StatusCode::THREE_D_SECURE_FAILED,
        _ => StatusCode::THREE_D_SECURE_SUCCESS,
    };
    let bank = vec![(ECI.to_owned(), unauthenticated_eci(card.number.expose()).to_owned())];
    let status = code.message().unwrap_or_default().to_owned();
    let attempt = Attempt::new(context, merchant, PaymentKind::ThreeDSecureCheck, charge, card);
    let check = attempt.record(context, Answer { code: code.as_str().to_owned(), status, bank })?;
    if code == StatusCode::THREE_D_SECURE_FAILED {
        return Ok((check, None));
    }
    context.basis.assume(assumed::UNKNOWN_AUTHENTICATION_KEYS_AND_THEIR_LIFETIME);
    let authentication = Authentication {
        key: context.keys.record(context.now),
        merchant: merchant.name.clone(),
        service,
        check: check.key.clone(),
        return_to,
        session_key,
        end: (scenario == Scenario::NotEnrolled).then_some(AuthenticationEnd::NotEnrolled),
        payment: None,
        created: context.now,
    };
    context.records.put(&authentication)?;
    Ok((check, Some(authentication)))
}

/// [`open`] for the gateway's methods, with their reply.
pub(super) fn initiate(
    context: &mut Context<'_>,
    merchant: &Merchant,
    charge: Charge,
    card: PayingCard,
    return_url: Option<&Url>,
) -> Result<ThreeDSecureInitiation, Refusal> {
    let return_to = return_url.filter(|url| !url.is_empty()).map(|url| location(context, url)).transpose()?;
    let (check, authentication) = open(context, merchant, charge, card, return_to)?;
    let base = context.own_address();
    let address = authentication.as_ref().map(|authentication| base + &authentication.page());
    Ok(ThreeDSecureInitiation::default().with(|record| {
        record.transaction_status_code = check.status_code.as_str().into();
        record.transaction_status = check.status.clone();
        record.transaction_type = TransactionType::from(check.kind.wire());
        record.transaction_key = check.key.as_str().into();
        record.bank_eci_value = eci_of(&check).to_owned();
        record.authentication_key = authentication.map(|authentication| authentication.key).unwrap_or_default().into();
        record.authentication_url = address.unwrap_or_default().into();
    }))
}

/// Returns the merchant's address as it was sent, with nothing appended (A110).
fn location(context: &mut Context<'_>, url: &Url) -> Result<String, Refusal> {
    let malformed = || Refusal::from(SandboxErrorCode::INVALID_PARAMETER).about("returnUrl");
    let page = context.page("returnUrl", url.as_str()).ok_or_else(malformed)?;
    let location = page.with(&[]).map_err(|_| malformed())?;
    Ok(location.to_str().map_err(|_| malformed())?.to_owned())
}
