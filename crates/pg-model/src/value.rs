//! Reply fields that the tables do not know: kept as a small tree, so that nothing a service adds is lost.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::mask;

/// What an unknown field holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A scalar: text, number or truth value, as text. JSON `null` is an empty text.
    Text(String),
    /// A JSON array.
    List(Vec<Value>),
    /// A JSON object or an XML element with children, in order.
    Record(Extra),
}

/// Unknown fields in the order in which they came. `Debug` masks whatever looks like a card number.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra(Vec<(String, Value)>);

impl Value {
    /// The text of a scalar.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Record(_) => None,
        }
    }
}

impl Extra {
    /// Adds one at the end.
    pub fn push(&mut self, name: impl Into<String>, value: Value) {
        self.0.push((name.into(), value));
    }

    /// The first one of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => mask::text(text).fmt(f),
            Self::List(values) => f.debug_list().entries(values).finish(),
            Self::Record(record) => record.fmt(f),
        }
    }
}
