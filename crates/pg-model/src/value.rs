//! Reply fields that the tables do not know: kept as a small tree, so that nothing a service adds is lost.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::fmt;

use crate::mask;

/// What an unknown field holds.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A scalar: text, number, `true` or `false`, as text. JSON `null` is an empty text.
    Text(String),
    /// A JSON array.
    List(Vec<Value>),
    /// A JSON object or an XML element with children, in order.
    Record(Extra),
}

/// Unknown fields in the order in which they came. A name that comes again right after itself makes a list, as
/// repeated elements do in XML. `Debug` masks whatever looks like a card number.
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

    /// Adds a value that came under the same name.
    fn append(&mut self, value: Self) {
        if let Self::List(values) = self {
            values.push(value);
        } else {
            let first = core::mem::replace(self, Self::List(Vec::with_capacity(2)));
            self.append(first);
            self.append(value);
        }
    }
}

impl Extra {
    /// Adds one at the end, to the last one if that has the same name.
    pub fn push<'n>(&mut self, name: impl Into<Cow<'n, str>>, value: Value) {
        let name = name.into();
        // Only the last one is looked at: names come from outside, and looking at all would take time by the square.
        match self.0.last_mut() {
            Some((last, values)) if *last == name => values.append(value),
            _ => self.0.push((name.into_owned(), value)),
        }
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
        f.debug_map().entries(self.iter().map(|(name, value)| (mask::text(name), value))).finish()
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
