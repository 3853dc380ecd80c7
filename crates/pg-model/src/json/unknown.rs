//! Values of JSON that the tables do not know, or not in that place: kept as they are.

use alloc::{borrow::Cow, vec::Vec};
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::fill::{Fill, Seed};
use crate::value::{Extra, Value};

/// Something that did not fit its slot, to be kept among the unknown fields.
pub(super) type Misfit = Option<Value>;

/// Any value, as it is.
pub(super) struct Unknown;

impl<'de> Fill<'de> for Unknown {
    type Output = Value;
    const TRUTH: (&'static str, &'static str) = ("true", "false");

    fn scalar(self, text: Cow<'_, str>) -> Value {
        Value::Text(text.into_owned())
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element_seed(Seed::of(Self))? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut record = Extra::default();
        while let Some(name) = object.next_key_seed(Name)? {
            let value = object.next_value_seed(Seed::of(Self))?;
            record.push(name, value);
        }
        Ok(Value::Record(record))
    }
}

/// A value that says something: `""`, `[]` and `{}` where another shape was expected mean "empty".
pub(super) fn not_empty(value: Value) -> Misfit {
    let empty = match &value {
        Value::Text(text) => text.is_empty(),
        Value::List(values) => values.is_empty(),
        Value::Record(record) => record.is_empty(),
    };
    (!empty).then_some(value)
}

/// A key, borrowed where it has no escapes.
pub(super) struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(value.into()))
    }
}
