//! JSON as serde_json reads it, in the shape in which unknown fields are kept. Numbers keep their text.

use std::{collections::BTreeSet, fmt};

use pg_model::{Extra, Value};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A value as serde_json reads it, in the shape in which unknown fields are kept. Numbers keep their text.
///
/// The fuzz targets and other tests compare it with the project's own reader.
pub struct Tree(
    /// The value.
    pub Value,
);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Tree)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Text(value.to_string().into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned().into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Text(String::new().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Tree(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut record = Extra::default();
        while let Some((name, Tree(value))) = object.next_entry::<String, Tree>()? {
            record.push(name, value);
        }
        Ok(Value::Record(record))
    }
}

/// The same tree, of values that both readers spell alike: the text of a number depends on the reader.
pub(crate) fn alike(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Text(ours), Value::Text(theirs)) => ours == theirs || (is_number(ours) && is_number(theirs)),
        (Value::List(ours), Value::List(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| alike(ours, theirs))
        }
        (Value::Record(ours), Value::Record(theirs)) => {
            ours.iter().len() == theirs.iter().len()
                && ours.iter().zip(theirs.iter()).all(|(ours, theirs)| ours.0 == theirs.0 && alike(ours.1, theirs.1))
        }
        _ => false,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || b"-+.eE".contains(&byte))
}

/// Whether a name occurs twice in one object.
pub(crate) fn has_twins(json: &str) -> bool {
    serde_json::from_str::<Twins>(json).is_ok_and(|Twins(twins)| twins)
}

struct Twins(bool);

impl<'de> Deserialize<'de> for Twins {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TwinFinder).map(Twins)
    }
}

struct TwinFinder;

impl<'de> Visitor<'de> for TwinFinder {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<bool, E> {
        Ok(false)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<bool, A::Error> {
        let mut twins = false;
        while let Some(Twins(inner)) = list.next_element()? {
            twins |= inner;
        }
        Ok(twins)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<bool, A::Error> {
        let (mut twins, mut names) = (false, BTreeSet::new());
        while let Some((name, Twins(inner))) = object.next_entry::<String, Twins>()? {
            twins |= inner | !names.insert(name);
        }
        Ok(twins)
    }
}
