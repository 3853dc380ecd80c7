//! References that are accepted once (`uniqueMerchantReference`, spec 2 §4.3).

use serde::{Deserialize, Serialize};

use crate::store::{Kind, StoredRecord};

/// A used reference of a merchant. Nearly every payment has one, so the record is short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UniqueReference {
    #[serde(rename = "k", alias = "key")]
    key: String,
    /// The transaction that used it; `None` if the bank did not answer.
    #[serde(default, rename = "t", alias = "transaction", skip_serializing_if = "Option::is_none")]
    pub transaction: Option<String>,
    /// The payment that followed, if that transaction is a 3-D Secure check.
    #[serde(default, rename = "p", alias = "payment", skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
}

impl UniqueReference {
    /// Creates the record of a reference and the transaction that used it.
    #[must_use]
    pub fn new(merchant: &str, reference: &str, transaction: Option<String>) -> Self {
        let key = Self::key_of(merchant, reference);
        Self { key, transaction, payment: None }
    }

    /// Returns the primary key. A merchant's name contains no slash, so keys of two merchants differ.
    #[must_use]
    pub fn key_of(merchant: &str, reference: &str) -> String {
        [merchant, "/", reference].concat()
    }
}

impl StoredRecord for UniqueReference {
    const KIND: &'static Kind = &Kind { table: "unique_references", columns: &[] };

    fn key(&self) -> &str {
        &self.key
    }

    fn merchant(&self) -> &str {
        self.key.split_once('/').map_or("", |(merchant, _)| merchant)
    }
}
