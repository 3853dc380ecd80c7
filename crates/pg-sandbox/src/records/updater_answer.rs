//! Configured answers of the account updater for cards.

use pg_model::mask;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    store::{Kind, StoredRecord},
    vault::Vault,
};

/// The answer for one card: for one account created at run time, or for all other accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UpdaterAnswer {
    key: String,
    /// The name of the account created at run time.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    merchant: String,
    /// The first six and last four digits of the card's number.
    card: String,
    /// A code of spec 1 §2.3.
    pub response: String,
}

impl UpdaterAnswer {
    /// Creates the answer for the card with this number, which is not stored.
    #[must_use]
    pub fn new(vault: &Vault, merchant: &str, number: &str, response: &str) -> Self {
        Self {
            key: Self::key_of(vault, merchant, number),
            merchant: merchant.to_owned(),
            card: mask::card_number(number),
            response: response.to_owned(),
        }
    }

    /// Returns the primary key: the card's identifier without a merchant, which no token shows.
    #[must_use]
    pub fn key_of(vault: &Vault, merchant: &str, number: &str) -> String {
        let owner = if merchant.is_empty() { String::new() } else { format!("answer:{merchant}") };
        vault.card_identifier(&owner, number).to_string()
    }

    /// Returns the answer as the control interface shows it.
    #[must_use]
    pub fn view(&self) -> Value {
        json!({ "card": self.card, "response": self.response })
    }
}

impl StoredRecord for UpdaterAnswer {
    const KIND: &'static Kind = &Kind { table: "updater_answers", columns: &[] };

    key_and_merchant!();
}
