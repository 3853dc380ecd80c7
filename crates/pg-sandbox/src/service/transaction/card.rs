//! The card of a payment: sent, posted to a session, or stored under a token.

use pg_model::{CardDetails, CardKey, ErrorCode, MerchantCustomerReference, SessionKey};

use super::{Context, Refusal};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed, cards, expiry,
    merchants::Merchant,
    records::{Details, HeldCard, Payment, Session},
    secret::Secret,
    service::token,
    timestamp::Timestamp,
};

/// An unencrypted card, for the time of one request.
pub(in crate::service) struct PayingCard {
    pub(super) number: Secret,
    /// Two digits.
    expiry_month: String,
    /// Four digits.
    expiry_year: String,
    /// The token under which it was stored.
    pub(super) card_key: Option<String>,
    /// The session to which it was posted.
    pub(super) session_key: Option<String>,
    /// The customer for whom it was stored.
    pub(super) customer_reference: Option<String>,
    /// Card, customer and address texts that were stored with it, by wire name.
    pub(super) details: Details,
}

/// Reads raw card details: the number must be valid (A12) and not past its expiry (A104). The CV2 is dropped (A101).
pub(super) fn raw(context: &mut Context<'_>, details: &CardDetails) -> Result<PayingCard, Refusal> {
    let number = details.number.expose();
    if !cards::luhn_valid(number) {
        return Err(Refusal::from(ErrorCode::INVALID_CARD_NUMBER).assuming(assumed::THE_LUHN_DIGIT_IS_NOT_A_FIELD_RULE));
    }
    context.basis.assume(assumed::TWO_DIGIT_YEARS);
    let year = expiry::four_digits(&details.expiry_year);
    let card = PayingCard::new(Secret::new(number), &details.expiry_month, &year);
    if card.is_past(context.now) {
        return Err(Refusal::from(ErrorCode::INVALID_CARD_EXPIRY).assuming(assumed::RAW_CARDS_THAT_HAVE_EXPIRED));
    }
    if details.cv2.is_some() {
        context.basis.assume(assumed::THE_CV2_AFTER_AUTHORISATION);
    }
    Ok(card)
}

/// Returns the card that was posted to a session of the account (spec 2 §3.1; A56, A78 and A85).
pub(super) fn of_session(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &SessionKey,
) -> Result<PayingCard, Refusal> {
    let found = context.records.get_of::<Session>(&merchant.name, key.as_str())?;
    let session =
        found.ok_or_else(|| Refusal::from(ErrorCode::INVALID_SESSION_KEY).assuming(assumed::KEYS_OF_OTHER_ACCOUNTS))?;
    if session.expired(context.now) {
        return Err(Refusal::from(ErrorCode::SESSION_EXPIRED).assuming(assumed::EXPIRY_OF_A_SESSION));
    }
    let held = session.card.ok_or_else(|| Refusal::from(SandboxErrorCode::SESSION_HAS_NO_CARD))?;
    context.basis.assume(assumed::HOW_OFTEN_A_SESSION_KEY_PAYS);
    let card = PayingCard::stored(context, &held, &session.key)?;
    let (customer_reference, details) = (payable(session.customer_reference)?, session.details);
    Ok(PayingCard { session_key: Some(session.key), customer_reference, details, ..card })
}

/// Returns the card of an enabled token of the account. A customer reference in the request must be the token's (A57,
/// A58 and A61).
pub(super) fn of_token(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &CardKey,
    customer: Option<&MerchantCustomerReference>,
) -> Result<PayingCard, Refusal> {
    let token = token::find(context, merchant, key, customer)?;
    if !token.enabled {
        return Err(SandboxErrorCode::CARD_KEY_DISABLED.into());
    }
    let card = PayingCard::stored(context, &token.card, &token.key)?;
    if card.expiry_month.is_empty() || card.expiry_year.is_empty() {
        return Err(Refusal::from(ErrorCode::INVALID_CARD_EXPIRY).assuming(assumed::LIMITS_OF_UPDATECARDKEYDETAILS));
    }
    let (customer_reference, details) = (payable(token.customer_reference)?, token.details);
    Ok(PayingCard { card_key: Some(token.key), customer_reference, details, ..card })
}

/// Returns a customer reference that a transaction can store: 45 characters (spec 2 §2.3). Requests with a longer
/// reference are refused, but an older store may contain one (A04).
fn payable(reference: Option<String>) -> Result<Option<String>, Refusal> {
    match &reference {
        Some(text) if text.chars().count() > 45 => Err(Refusal::from(ErrorCode::INVALID_MERCHANT_REFERENCE)
            .about("merchantCustomerReference")
            .assuming(assumed::LENGTH_OF_A_CUSTOMER_REFERENCE)),
        _ => Ok(reference),
    }
}

impl PayingCard {
    /// Returns the card of an earlier payment, to charge it again; `None` if the payment has none.
    pub(in crate::service) fn of_payment(context: &Context<'_>, payment: &Payment) -> Result<Option<Self>, Refusal> {
        let Some(held) = &payment.card else { return Ok(None) };
        let card = Self::stored(context, held, &payment.key)?;
        Ok(Some(Self { card_key: payment.card_key.clone(), ..card }))
    }

    /// Creates an unencrypted card, with its expiry in two and four digits.
    pub(in crate::service) fn new(number: Secret, month: &str, year: &str) -> Self {
        Self {
            number,
            expiry_month: month.to_owned(),
            expiry_year: year.to_owned(),
            card_key: None,
            session_key: None,
            customer_reference: None,
            details: Details::new(),
        }
    }

    fn stored(context: &Context<'_>, held: &HeldCard, owner: &str) -> Result<Self, Refusal> {
        let number = held.number(context.vault, owner)?;
        Ok(Self::new(number, &held.expiry_month, &held.expiry_year))
    }

    /// Whether the card is past its expiry.
    pub(super) fn is_past(&self, now: Timestamp) -> bool {
        expiry::is_past(&self.expiry_month, &self.expiry_year, now)
    }

    /// Returns the card sealed for the record of its payment.
    pub(super) fn sealed(&self, context: &mut Context<'_>, owner: &str) -> HeldCard {
        let expiry = (self.expiry_month.as_str(), self.expiry_year.as_str());
        HeldCard::seal(context.vault, context.keys.dice(), owner, self.number.expose(), expiry)
    }
}
