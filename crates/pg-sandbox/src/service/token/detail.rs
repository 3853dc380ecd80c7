//! A token as replies show it (spec 1 §2.1).

use pg_model::{Card, CardAddress, CardCustomer, CardKeyDetail, CardKeyDetails, Flag};

use crate::records::{CardToken, Details};

/// The most characters of a masked number in a token record (spec 1 §2.1).
const MASKED_LENGTH: usize = 16;

/// The reply that lists these tokens.
pub(super) fn all(tokens: &[CardToken]) -> CardKeyDetails {
    CardKeyDetails { card_key_details: tokens.iter().map(of).collect(), ..CardKeyDetails::default() }
}

fn of(token: &CardToken) -> CardKeyDetail {
    CardKeyDetail {
        card_key: token.key.as_str().into(),
        card_unique_identifier: token.unique_identifier.to_string().into(),
        merchant_customer_reference: token.customer_reference.as_deref().unwrap_or_default().into(),
        enabled: if token.enabled { Flag::YES } else { Flag::NO },
        card: card(token),
        customer: customer(&token.details),
        cardholder_address: address(&token.details),
        ..CardKeyDetail::default()
    }
}

/// The card part of it.
pub(super) fn card(token: &CardToken) -> Card {
    let held = &token.card;
    Card {
        card_description: text(&token.details, "cardDescription"),
        cardholder_name: text(&token.details, "cardholderName"),
        card_number: shortened(&held.masked).into(),
        card_expiry_month: held.expiry_month.clone(),
        card_expiry_year: held.expiry_year.clone(),
        card_type: held.card_type.clone(),
        card_scheme: held.scheme.clone(),
        card_bank: held.bank.clone(),
        ..Card::default()
    }
}

fn customer(details: &Details) -> CardCustomer {
    CardCustomer {
        customer_title: text(details, "customerTitle"),
        customer_first_name: text(details, "customerFirstName"),
        customer_surname: text(details, "customerSurname"),
        customer_email: text(details, "customerEmail"),
        customer_mobile: text(details, "customerMobile"),
        customer_telephone: text(details, "customerTelephone"),
        ..CardCustomer::default()
    }
}

fn address(details: &Details) -> CardAddress {
    CardAddress {
        property_name: text(details, "cardholderAddressPropertyName"),
        line1: text(details, "cardholderAddressLine1"),
        line2: text(details, "cardholderAddressLine2"),
        line3: text(details, "cardholderAddressLine3"),
        town: text(details, "cardholderAddressTown"),
        county: text(details, "cardholderAddressCounty"),
        postcode: text(details, "cardholderAddressPostcode"),
        country: text(details, "cardholderAddressCountry"),
        ..CardAddress::default()
    }
}

fn text(details: &Details, name: &str) -> String {
    details.get(name).cloned().unwrap_or_default()
}

/// The masked number without so many asterisks of its middle that 16 characters are left
/// (assumption 65).
fn shortened(masked: &str) -> String {
    let excess = masked.len().saturating_sub(MASKED_LENGTH);
    masked.replacen(&"*".repeat(excess), "", 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_number_loses_asterisks_only() {
        assert_eq!(shortened("411111******1111"), "411111******1111");
        assert_eq!(shortened("630400*********0000"), "630400******0000");
        assert_eq!(shortened("411111**1111"), "411111**1111");
    }
}
