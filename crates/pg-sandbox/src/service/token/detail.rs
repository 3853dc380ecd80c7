//! A token as replies show it (spec 1 §2.1).

use pg_model::{Card, CardAddress, CardCustomer, CardKeyDetail, CardKeyDetails, Flag};

use crate::records::{CardToken, Details};

/// The maximum number of characters of a masked number in a token record (spec 1 §2.1).
const MASKED_LENGTH: usize = 16;

/// Returns the reply that lists these tokens.
pub(super) fn all(tokens: &[CardToken]) -> CardKeyDetails {
    CardKeyDetails::default().with(|record| {
        record.card_key_details = tokens.iter().map(of).collect();
    })
}

fn of(token: &CardToken) -> CardKeyDetail {
    CardKeyDetail::default().with(|record| {
        record.card_key = token.key.as_str().into();
        record.card_unique_identifier = token.unique_identifier.to_string().into();
        record.merchant_customer_reference = token.customer_reference.as_deref().unwrap_or_default().into();
        record.enabled = if token.enabled { Flag::YES } else { Flag::NO };
        record.card = card(token);
        record.customer = customer(&token.details);
        record.cardholder_address = address(&token.details);
    })
}

/// Returns the card part of a record.
pub(super) fn card(token: &CardToken) -> Card {
    let held = &token.card;
    Card::default().with(|record| {
        record.card_description = text(&token.details, "cardDescription");
        record.cardholder_name = text(&token.details, "cardholderName");
        record.card_number = shortened(&held.masked).into();
        record.card_expiry_month = held.expiry_month.clone();
        record.card_expiry_year = held.expiry_year.clone();
        record.card_type = held.card_type.clone();
        record.card_scheme = held.scheme.clone();
        record.card_bank = held.bank.clone();
    })
}

fn customer(details: &Details) -> CardCustomer {
    CardCustomer::default().with(|record| {
        record.customer_title = text(details, "customerTitle");
        record.customer_first_name = text(details, "customerFirstName");
        record.customer_surname = text(details, "customerSurname");
        record.customer_email = text(details, "customerEmail");
        record.customer_mobile = text(details, "customerMobile");
        record.customer_telephone = text(details, "customerTelephone");
    })
}

fn address(details: &Details) -> CardAddress {
    CardAddress::default().with(|record| {
        record.property_name = text(details, "cardholderAddressPropertyName");
        record.line1 = text(details, "cardholderAddressLine1");
        record.line2 = text(details, "cardholderAddressLine2");
        record.line3 = text(details, "cardholderAddressLine3");
        record.town = text(details, "cardholderAddressTown");
        record.county = text(details, "cardholderAddressCounty");
        record.postcode = text(details, "cardholderAddressPostcode");
        record.country = text(details, "cardholderAddressCountry");
    })
}

fn text(details: &Details, name: &str) -> String {
    details.get(name).cloned().unwrap_or_default()
}

/// Returns the masked number, shortened in its middle to 16 characters (A65).
fn shortened(masked: &str) -> String {
    let excess = masked.len().saturating_sub(MASKED_LENGTH);
    masked.replacen(&"*".repeat(excess), "", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 1 §2.1: cardNumber shows the first six and the last four digits, in at most 16 characters.
    #[test]
    fn a_long_number_loses_asterisks_only() {
        assert_eq!(shortened("411111******1111"), "411111******1111");
        assert_eq!(shortened("630400*********0000"), "630400******0000");
        assert_eq!(shortened("411111**1111"), "411111**1111");
    }
}
