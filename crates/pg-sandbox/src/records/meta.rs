//! What the sandbox remembers about itself.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::{Kind, Record};

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meta {
    key: String,
    /// The value.
    pub value: Value,
}

impl Meta {
    /// The name of the clock's state.
    pub const CLOCK: &'static str = "clock";
    /// The name of the text that only the right key file opens.
    pub const KEY_CHECK: &'static str = "key-check";

    /// A value under a name.
    #[must_use]
    pub fn new(key: &str, value: Value) -> Self {
        Self { key: key.to_owned(), value }
    }
}

impl Record for Meta {
    const KIND: &'static Kind = &Kind { table: "meta", columns: &[] };

    fn key(&self) -> &str {
        &self.key
    }
}
