//! `token/tokeniseTransactionKey` (spec 1 §4.7).

use pg_model::{
    ApiRequest as _, CardKey, CardKeyDetails, MerchantCustomerReference, TokeniseTransactionKey, UpdateCardKeyDetails,
    field::Length,
};

use super::{
    super::{
        method::Serve,
        stray_number::{is_of_card, is_of_token},
    },
    Context, Merchant, Refusal, detail, find, fits, warn_of_mask,
};
use crate::codes::SandboxErrorCode;
use crate::{
    assumed, card_numbers,
    records::{CardToken, Details, HeldCard, Payment, PaymentKind},
    store::Query,
};

impl Serve for TokeniseTransactionKey {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<CardKeyDetails, Refusal> {
        let found = context.records.get_of::<Payment>(&merchant.name, self.transaction_key.as_str())?;
        let payment = found.ok_or_else(|| {
            Refusal::from(SandboxErrorCode::UNKNOWN_TRANSACTION_KEY).assuming(assumed::KEYS_OF_OTHER_ACCOUNTS)
        })?;
        let card = card_of(&payment)?;
        let customer = self.merchant_customer_reference.as_ref();
        let token = match self.card_key.filter(|key| !key.is_empty()) {
            Some(key) => {
                let token = with_parent(context, merchant, &key, customer, &payment, card)?;
                context.records.put(&token)?;
                token
            }
            None => {
                let customer = customer.map(|customer| customer.as_str()).filter(|customer| !customer.is_empty());
                let customer = customer.or(payment.customer_reference.as_deref());
                match existing(context, &payment, customer)? {
                    Some(token) => token,
                    None => create(context, &payment, card, customer)?,
                }
            }
        };
        context.basis.assume(assumed::EMPTY_FIELDS_IN_REPLIES_OF_THE_SANDBOX);
        Ok(detail::all(&[token]))
    }
}

/// Returns the card of an approved payment; anything else is error 944 (A63).
fn card_of(payment: &Payment) -> Result<&HeldCard, Refusal> {
    let kind = matches!(payment.kind, PaymentKind::Auth | PaymentKind::PreAuth | PaymentKind::Capture);
    let card = payment.card.as_ref().filter(|_| kind && payment.approved());
    card.ok_or_else(|| SandboxErrorCode::TRANSACTION_HAS_NO_CARD.into())
}

/// Returns the token with this key and with another parent, if it holds the card of the payment (A64).
fn with_parent(
    context: &mut Context<'_>,
    merchant: &Merchant,
    key: &CardKey,
    customer: Option<&MerchantCustomerReference>,
    payment: &Payment,
    card: &HeldCard,
) -> Result<CardToken, Refusal> {
    context.basis.assume(assumed::TOKENISING_WITH_A_CARD_KEY);
    let mut token = find(context, merchant, key, None)?;
    if identifier(context, payment, card)? != token.unique_identifier {
        return Err(
            Refusal::from(SandboxErrorCode::TRANSACTION_HAS_NO_CARD).assuming(assumed::TOKENISING_WITH_A_CARD_KEY)
        );
    }
    fits(&token, customer)?;
    token.parent = Some(payment.key.clone());
    Ok(token)
}

/// Returns the token that the same request made before (A62).
fn existing(
    context: &mut Context<'_>,
    payment: &Payment,
    customer: Option<&str>,
) -> Result<Option<CardToken>, Refusal> {
    let made = Query::oldest(u32::MAX).of(&payment.merchant).equal(CardToken::PARENT, &payment.key);
    let tokens = context.records.find::<CardToken>(&made)?;
    context.basis.assume(assumed::TOKENISING_A_TRANSACTION_AGAIN);
    Ok(tokens.into_iter().find(|token| token.customer_reference.as_deref() == customer))
}

/// Creates a token, enabled, with everything known about the payment's card (A59 and A65).
fn create(
    context: &mut Context<'_>,
    payment: &Payment,
    card: &HeldCard,
    customer: Option<&str>,
) -> Result<CardToken, Refusal> {
    context.basis.assume_all([
        assumed::ENABLED_FLAG_OF_A_NEW_TOKEN,
        assumed::CONTENT_OF_A_NEW_TOKEN,
        assumed::FORM_OF_CARD_KEYS_AND_CARD_IDENTIFIERS,
    ]);
    let key = context.keys.card(context.now);
    let number = card.number(context.vault, &payment.key)?;
    let token = CardToken {
        merchant: payment.merchant.clone(),
        unique_identifier: identifier(context, payment, card)?,
        customer_reference: customer.map(str::to_owned),
        enabled: true,
        card: card.moved(context.vault, context.keys.dice(), &payment.key, &key)?,
        details: details(&payment.details, number.expose()),
        parent: Some(payment.key.clone()),
        created: context.now,
        key,
    };
    context.records.put(&token)?;
    for (name, text) in payment.details.iter().filter(|(name, _)| is_of_token(name)) {
        if card_numbers::masked_in_token(name, text, number.expose()) != text.as_str() {
            warn_of_mask(context, name);
        }
    }
    Ok(token)
}

fn identifier(context: &Context<'_>, payment: &Payment, card: &HeldCard) -> Result<u64, Refusal> {
    let number = card.number(context.vault, &payment.key)?;
    Ok(context.vault.card_identifier(&payment.merchant, number.expose()))
}

/// Returns the texts of a payment that a token record has. The form has another name for the fixed line.
fn details(recorded: &Details, number: &str) -> Details {
    let text = |(name, value): (&String, &String)| {
        let name = if name == "customerLandline" { "customerTelephone" } else { name };
        is_of_token(name).then(|| (name.to_owned(), fitting(name, value, number)))
    };
    recorded.iter().filter_map(text).collect()
}

/// Returns a text without card numbers (A200), cut to the record's length, since the hosted service accepts longer ones
/// (A65). The documents give no length for the card's own texts (spec 1 §2.1).
fn fitting(name: &str, text: &str, number: &str) -> String {
    let text = card_numbers::masked_in_token(name, text, number);
    match UpdateCardKeyDetails::INFO.field(name).map(|field| field.length) {
        Some(Length::Between(_, most)) if !is_of_card(name) => text.chars().take(most.into()).collect(),
        _ => text.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 1 §2.1, A65
    #[test]
    fn a_token_takes_over_what_its_record_has() {
        let names = [
            "cardDescription",
            "cardholderAddressTown",
            "cardholderName",
            "customerAddressTown",
            "customerEmail",
            "customerLandline",
            "itemName0",
            "mccSurname",
        ];
        let recorded = names.into_iter().map(|name| (name.to_owned(), name.to_owned())).collect();
        let kept = details(&recorded, "4000000000001000");
        let names: Vec<&str> = kept.keys().map(String::as_str).collect();
        let wanted =
            ["cardDescription", "cardholderAddressTown", "cardholderName", "customerEmail", "customerTelephone"];
        assert_eq!(names, wanted);
        assert_eq!(kept["cardholderAddressTown"], "cardholderAddressTown");
        // Fourteen characters (spec 1 §2.1).
        assert_eq!(kept["customerTelephone"], "customerLandli");
    }
}
