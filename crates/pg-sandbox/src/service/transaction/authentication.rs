//! The later states of an authentication: the customer's answer, and the one payment (spec 2 §3.3; A106 to A110).

use super::{
    Context, Refusal, authorise::Attempt, bank::Verdict, card::PayingCard, charge::Charge,
    operation::refuse_other_currency, references::References,
};
use crate::codes::{SandboxErrorCode, SandboxStatusCode};
use crate::{
    assumed,
    cards::{Scenario, Scheme},
    merchants::Merchant,
    records::{Authentication, AuthenticationEnd, CardToken, Payment, PaymentKind, Service, UniqueReference},
};

/// The parameter with the electronic commerce indicator of a check (spec 2 §2.5; A105 and A106).
pub(super) const ECI: &str = "bankECIValue";

/// Returns the account's authentication with this key, if it was opened through this service. An authentication of
/// another account or service is unknown (A56 and A107).
pub(in crate::service) fn find(
    context: &mut Context<'_>,
    merchant: &Merchant,
    service: Service,
    key: &str,
) -> Result<Authentication, Refusal> {
    let found = context.records.get_of::<Authentication>(&merchant.name, key)?;
    found.filter(|authentication| authentication.service == service).ok_or_else(unknown)
}

/// Returns the check of an authentication.
pub(in crate::service) fn check_of(
    context: &mut Context<'_>,
    authentication: &Authentication,
) -> Result<Payment, Refusal> {
    let found = context.records.get_of::<Payment>(&authentication.merchant, &authentication.check)?;
    found.ok_or_else(unknown)
}

fn unknown() -> Refusal {
    Refusal::from(SandboxErrorCode::UNKNOWN_AUTHENTICATION_KEY).assuming(assumed::KEYS_OF_OTHER_ACCOUNTS)
}

/// A customer's answer to a challenge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::service) enum CustomerAnswer {
    /// Passes the authentication.
    Authenticate,
    /// Fails the authentication.
    Fail,
    /// Returns to the shop.
    Abandon,
}

/// Records the answer to a challenge that has not ended. A challenge that has ended does not change (A110).
pub(in crate::service) fn answer(
    context: &mut Context<'_>,
    authentication: &mut Authentication,
    answer: CustomerAnswer,
) -> Result<(), Refusal> {
    if authentication.ended(context.now).is_some() {
        return Ok(());
    }
    let mut check = check_of(context, authentication)?;
    let Some(card) = PayingCard::of_payment(context, &check)? else { return Err(unknown()) };
    let number = card.number.expose();
    let end = match answer {
        CustomerAnswer::Abandon => AuthenticationEnd::Abandoned,
        CustomerAnswer::Authenticate if Scenario::of(number) != Scenario::ChallengeFailed => {
            check.kind = PaymentKind::ThreeDsAuthenticatedOnly;
            check.bank = vec![(ECI.to_owned(), authenticated_eci(number).to_owned())];
            context.records.put(&check)?;
            AuthenticationEnd::Authenticated
        }
        CustomerAnswer::Authenticate | CustomerAnswer::Fail => AuthenticationEnd::Failed,
    };
    authentication.end = Some(end);
    Ok(context.records.put(authentication)?)
}

/// Pays or reserves the amount of an authentication.
///
/// The card decides, however the authentication ended, since the merchant chose to proceed (spec 2 §3.3). The hosted
/// page has no such choice: a challenge that was not passed is declined with 907 (A122). Refuses with 961 before the
/// authentication has ended, with 962 if an approval or a decline has used it up, with 940 or 942 if the token of its card
/// was deleted or is disabled, and with 119 if the bank does not answer (A108).
pub(in crate::service) fn pay(
    context: &mut Context<'_>,
    merchant: &Merchant,
    kind: PaymentKind,
    mut authentication: Authentication,
    references: References,
) -> Result<Payment, Refusal> {
    if authentication.payment.is_some() {
        return Err(SandboxErrorCode::AUTHENTICATION_ALREADY_USED.into());
    }
    let end = authentication.ended(context.now);
    let end = end.ok_or_else(|| Refusal::from(SandboxErrorCode::AUTHENTICATION_NOT_FINISHED))?;
    context.basis.assume_all([
        assumed::AUTH3DSECURE_AND_PREAUTH3DSECURE_TAKE_THE_KEY_AND_REFERENCES,
        assumed::PAYING_AFTER_EACH_OUTCOME,
        assumed::REFERENCES_OF_A_3_D_SECURE_PAYMENT,
    ]);

    let check = check_of(context, &authentication)?;
    refuse_other_currency(context, &check)?;
    refuse_without_token(context, &check, &references)?;
    let Some(mut card) = PayingCard::of_payment(context, &check)? else { return Err(unknown()) };
    card.session_key = authentication.session_key.clone();
    let number = card.number.expose();
    let insists = authentication.service == Service::V5 || Scenario::of(number) == Scenario::ChallengeRequired;
    let verdict = match end {
        AuthenticationEnd::Failed | AuthenticationEnd::Abandoned | AuthenticationEnd::TimedOut if insists => {
            Verdict::Declined(SandboxStatusCode::AUTHENTICATION_DECLINED)
        }
        _ => Verdict::of(number, card.is_past(context.now)),
    };
    let mut charge = Charge::of_check(context, &check)?;
    references.replace(&mut charge);
    let payment = Attempt::new(context, merchant, kind, charge, card).put_to_bank(context, &verdict)?;
    if payment.unique_reference == check.unique_reference {
        find_by_reference(context, &payment)?;
    }
    authentication.end = Some(end);
    authentication.payment = Some(payment.key.clone());
    context.records.put(&authentication)?;
    Ok(payment)
}

/// Refuses to charge the card of a token that was deleted since the authentication began, or is disabled (A61 and A108),
/// and a customer reference that is not the token's (A103): it validates the card key (spec 2 §4.4), and the check has
/// the token's. The authentication is not used up.
fn refuse_without_token(context: &mut Context<'_>, check: &Payment, references: &References) -> Result<(), Refusal> {
    let Some(key) = &check.card_key else { return Ok(()) };
    let found = context.records.get_of::<CardToken>(&check.merchant, key)?;
    let token = found.ok_or_else(|| Refusal::from(SandboxErrorCode::UNKNOWN_CARD_KEY))?;
    if references.customer.is_some() && references.customer != check.customer_reference {
        return Err(Refusal::from(SandboxErrorCode::CUSTOMER_REFERENCE_MISMATCH)
            .assuming(assumed::CUSTOMER_REFERENCE_OF_A_PAYMENT_BY_CARD_KEY));
    }
    if token.enabled { Ok(()) } else { Err(SandboxErrorCode::CARD_KEY_DISABLED.into()) }
}

/// The unique reference of a check also finds the payment.
fn find_by_reference(context: &mut Context<'_>, payment: &Payment) -> Result<(), Refusal> {
    let Some(reference) = &payment.unique_reference else { return Ok(()) };
    let key = UniqueReference::key_of(&payment.merchant, reference);
    if let Some(mut used) = context.records.get::<UniqueReference>(&key)? {
        used.payment = Some(payment.key.clone());
        context.records.put(&used)?;
    }
    Ok(())
}

/// Returns the indicator for a card whose customer was not authenticated.
pub(super) fn unauthenticated_eci(number: &str) -> &'static str {
    if Scheme::of(number) == Some(Scheme::Mastercard) { "00" } else { "07" }
}

/// Returns the indicator for a card whose customer was authenticated.
fn authenticated_eci(number: &str) -> &'static str {
    if Scheme::of(number) == Some(Scheme::Mastercard) { "02" } else { "05" }
}

/// Returns the indicator of a check.
pub(super) fn eci_of(check: &Payment) -> &str {
    check.bank.iter().find(|(name, _)| name == ECI).map(|(_, value)| value.as_str()).unwrap_or_default()
}
