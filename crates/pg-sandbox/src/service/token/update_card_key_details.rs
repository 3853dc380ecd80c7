//! `token/updateCardKeyDetails` (spec 1 §4.6).

use pg_model::{Acknowledgement, ApiRequest as _, ParameterSink, ResultCode, UpdateCardKeyDetails, field::Field};

use super::{super::method::Serve, Context, Merchant, Refusal, find, warn_of_mask};
use crate::{assumed, card_numbers, expiry, records::CardToken};

impl Serve for UpdateCardKeyDetails {
    fn serve(self, context: &mut Context<'_>, merchant: &Merchant) -> Result<Acknowledgement, Refusal> {
        let customer = self.merchant_customer_reference.as_ref();
        let mut token = find(context, merchant, &self.card_key, customer)?;
        context.basis.assume(assumed::LIMITS_OF_UPDATECARDKEYDETAILS);
        let number = token.card.number(context.vault, &token.key)?;
        let mut change = Change { token: &mut token, number: number.expose(), masked: Vec::new() };
        self.visit(&mut change);
        change.masked.iter().for_each(|name| warn_of_mask(context, name));
        if token.card.expiry_month.is_empty() || token.card.expiry_year.is_empty() {
            context.warn("the card has no complete expiry date, so it cannot be charged until it gets one");
        }
        context.records.put(&token)?;
        Ok(Acknowledgement::default().with(|record| {
            record.result = ResultCode::OK;
        }))
    }
}

/// Writes every detail that is sent, and removes details that are sent without a value, including the expiry (spec 1
/// §4.6 rule 1). A card number in a text is masked (A200).
struct Change<'a> {
    token: &'a mut CardToken,
    number: &'a str,
    /// The texts in which a card number was masked.
    masked: Vec<String>,
}

impl ParameterSink for Change<'_> {
    fn credentials(&mut self) {}

    fn parameter(&mut self, _field: &'static Field, name: &str, value: &str) {
        match name {
            "cardKey" | "merchantCustomerReference" => {}
            "cardExpiryMonth" => value.clone_into(&mut self.token.card.expiry_month),
            "cardExpiryYear" => self.token.card.expiry_year = expiry::four_digits(value),
            _ if value.is_empty() => drop(self.token.details.remove(name)),
            _ => {
                let shown = card_numbers::masked_in_token(name, value, self.number);
                if shown != value {
                    self.masked.push(name.to_owned());
                }
                self.token.details.insert(name.to_owned(), shown.into_owned());
            }
        }
    }

    fn list(&mut self, _field: &'static Field, _name: &str, _values: &mut dyn Iterator<Item = &str>) {}
}
