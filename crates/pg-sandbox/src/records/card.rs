//! A card as sessions, tokens and transactions store it.

use std::collections::BTreeMap;

use pg_model::mask;
use serde::{Deserialize, Serialize};

use crate::{
    cards,
    key::RandomSource,
    secret::Secret,
    vault::{NotOurs, Sealed, Vault},
};

/// Texts of a customer, an address or a card by their wire names. A missing text was never sent.
pub type Details = BTreeMap<String, String>;

/// A stored card: its number sealed for its record, and the parts that may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldCard {
    /// The number, sealed for the key of its record.
    pub sealed: Sealed,
    /// The first six and last four digits (spec 2 §2.2).
    pub masked: String,
    /// Two digits.
    pub expiry_month: String,
    /// Four digits.
    pub expiry_year: String,
    /// `cardType` (spec 1 §2.1), empty when not resolved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub card_type: String,
    /// `cardScheme` (spec 1 §2.1), empty when not resolved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub scheme: String,
    /// `cardBank` (spec 1 §2.1), empty when not resolved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bank: String,
}

impl HeldCard {
    /// Seals a card for the record with the key `owner`.
    pub fn seal(
        vault: &Vault,
        dice: &mut dyn RandomSource,
        owner: &str,
        number: &str,
        (expiry_month, expiry_year): (&str, &str),
    ) -> Self {
        Self {
            sealed: vault.seal(dice, owner, number),
            masked: mask::card_number(number),
            expiry_month: expiry_month.to_owned(),
            expiry_year: expiry_year.to_owned(),
            card_type: cards::card_type(number).unwrap_or_default().to_owned(),
            scheme: cards::Scheme::of(number).map(cards::Scheme::wire).unwrap_or_default().to_owned(),
            bank: cards::bank(number).unwrap_or_default().to_owned(),
        }
    }

    /// Returns the card's number, for the record with the key `owner`.
    ///
    /// # Errors
    ///
    /// If this card was sealed for another record.
    pub fn number(&self, vault: &Vault, owner: &str) -> Result<Secret, NotOurs> {
        vault.open(owner, &self.sealed)
    }

    /// Seals the same card for another record: from a session to a transaction, or from a transaction to a token.
    ///
    /// # Errors
    ///
    /// If this card was not sealed for `owner`.
    pub fn moved(
        &self,
        vault: &Vault,
        dice: &mut dyn RandomSource,
        owner: &str,
        new_owner: &str,
    ) -> Result<Self, NotOurs> {
        let number = self.number(vault, owner)?;
        let sealed = vault.seal(dice, new_owner, number.expose());
        Ok(Self { sealed, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SeededRandom;

    #[test]
    fn a_card_moves_to_its_next_record() {
        let (vault, mut dice) = (Vault::new(&[1; 32]), SeededRandom::new([2; 32]));
        let expiry = ("01", "2030");
        let held = HeldCard::seal(&vault, &mut dice, "session", "4111111111111111", expiry);
        let moved = held.moved(&vault, &mut dice, "session", "token").unwrap();
        assert_eq!(moved.number(&vault, "token").unwrap().expose(), "4111111111111111");
        assert!(moved.number(&vault, "session").is_err());
        assert!(held.moved(&vault, &mut dice, "token", "x").is_err());
        assert_eq!((moved.masked.as_str(), moved.scheme.as_str()), ("411111******1111", "VISA"));
        let shown = serde_json::to_string(&moved).unwrap() + &format!("{moved:?}");
        assert!(!shown.contains("4111111111111111"));
    }
}
