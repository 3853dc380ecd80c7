//! The floor of JSON: structs of owned texts, derived, that know neither codes nor secrets nor unknown fields.
#![allow(dead_code, reason = "they are filled, and that is all")]

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Transaction {
    pub(crate) transaction_status_code: String,
    pub(crate) transaction_status: String,
    pub(crate) transaction_type: String,
    pub(crate) transaction_key: String,
    pub(crate) bank_auth_code: String,
    pub(crate) bank_trans_id: String,
    pub(crate) bank_response_code: String,
    pub(crate) bank_response_message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardKeyDetails {
    pub(crate) card_key_details: BTreeMap<String, CardKeyDetail>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardKeyDetail {
    pub(crate) card_key: String,
    pub(crate) card_unique_identifier: u64,
    pub(crate) merchant_customer_reference: String,
    pub(crate) enabled: String,
    pub(crate) card: Card,
    pub(crate) customer: Customer,
    pub(crate) cardholder_address: Address,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Card {
    pub(crate) card_description: String,
    pub(crate) cardholder_name: String,
    pub(crate) card_number: String,
    pub(crate) card_expiry_month: String,
    pub(crate) card_expiry_year: String,
    pub(crate) card_type: String,
    pub(crate) card_scheme: String,
    pub(crate) card_bank: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Customer {
    pub(crate) customer_title: String,
    pub(crate) customer_first_name: String,
    pub(crate) customer_surname: String,
    pub(crate) customer_email: String,
    pub(crate) customer_mobile: String,
    pub(crate) customer_telephone: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Address {
    pub(crate) cardholder_address_property_name: String,
    pub(crate) cardholder_address_line1: String,
    pub(crate) cardholder_address_line2: String,
    pub(crate) cardholder_address_line3: String,
    pub(crate) cardholder_address_town: String,
    pub(crate) cardholder_address_county: String,
    pub(crate) cardholder_address_postcode: String,
    pub(crate) cardholder_address_country: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Batch {
    pub(crate) batch_key: String,
    pub(crate) created_on: String,
    pub(crate) card_key_details: Vec<UpdatedCard>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UpdatedCard {
    pub(crate) old_card_key: String,
    pub(crate) response: String,
    pub(crate) card_key: Option<String>,
    pub(crate) card_unique_identifier: Option<String>,
    pub(crate) merchant_customer_reference: Option<String>,
    pub(crate) enabled: Option<String>,
    pub(crate) card: Option<Card>,
}
