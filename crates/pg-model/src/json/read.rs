//! Reads a record from JSON: numbers may be numbers or texts, empty may be `null`, `""`, `[]` or absent, lists may be
//! arrays or objects keyed by index (spec 1 §2.1).

use alloc::{
    borrow::Cow,
    string::{String, ToString},
    vec::Vec,
};
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::{
    decode::{DecodeError, without_byte_order_mark},
    record::{Record, RecordList, RecordMap, Slot, set},
    text::Text,
    value::{Extra, Value},
};

/// Reads the object that `body` holds into `record`.
///
/// # Errors
/// When the body is not UTF-8, not JSON, or not an object. Says where.
pub fn read(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    let body = without_byte_order_mark(body);
    let text = core::str::from_utf8(body).map_err(|error| DecodeError::not_utf8(body, error))?;
    let mut json = serde_json::Deserializer::from_str(text);
    RecordSeed(record)
        .deserialize(&mut json)
        .and_then(|()| json.end())
        .map_err(|error| DecodeError::json(text, error.line(), error.column(), error.classify()))
}

/// Scalars of JSON as text, common to all visitors below; what stands for `true` and `false` differs.
macro_rules! scalars_as_text {
    () => {
        scalars_as_text!("1", "0");
    };
    ($yes:literal, $no:literal) => {
        fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
            self.scalar(Cow::Borrowed(itoa::Buffer::new().format(value)))
        }

        fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
            self.scalar(Cow::Borrowed(itoa::Buffer::new().format(value)))
        }

        fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
            self.scalar(Cow::Owned(value.to_string()))
        }

        fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
            self.scalar(Cow::Borrowed(if value { $yes } else { $no }))
        }

        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            self.scalar(Cow::Borrowed(""))
        }

        fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
            self.scalar(Cow::Borrowed(value))
        }

        fn visit_string<E>(self, value: String) -> Result<Self::Value, E> {
            self.scalar(Cow::Owned(value))
        }
    };
}

/// Something that did not fit its slot, to be kept among the unknown fields.
type Misfit = Option<Value>;

/// A record from an object.
struct RecordSeed<'a>(&'a mut dyn Record);

impl<'de> DeserializeSeed<'de> for RecordSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RecordSeed<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key_seed(Name)? {
            child(self.0, &name, &mut map)?;
        }
        Ok(())
    }
}

/// Reads the value of one name into the record.
fn child<'de, A: MapAccess<'de>>(record: &mut dyn Record, name: &str, map: &mut A) -> Result<(), A::Error> {
    let misfit = match record.slot(name) {
        Slot::Text(text) => map.next_value_seed(TextSeed(text))?,
        Slot::Record(nested) => map.next_value_seed(NestedSeed(nested))?,
        Slot::List(list) => map.next_value_seed(ListSeed(list))?,
        Slot::Map(records) => map.next_value_seed(MapSeed(records))?,
        Slot::Named(named) => match map.next_value_seed(ValueSeed)? {
            Value::Text(text) => {
                named.push(name, text);
                None
            }
            other => Some(other),
        },
        Slot::Extra => Some(map.next_value_seed(ValueSeed)?),
    };
    if let Some(value) = misfit {
        record.extra().push(name, value);
    }
    Ok(())
}

/// A key, borrowed where it has no escapes.
struct Name;

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

/// Declares a seed whose visitor takes any value.
macro_rules! any_value {
    ($seed:ident) => {
        impl<'de> DeserializeSeed<'de> for $seed<'_> {
            type Value = Misfit;

            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
                deserializer.deserialize_any(self)
            }
        }
    };
}

/// A scalar.
struct TextSeed<'a>(&'a mut dyn Text);
any_value!(TextSeed);

impl TextSeed<'_> {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Misfit, E> {
        set(self.0, text);
        Ok(None)
    }
}

impl<'de> Visitor<'de> for TextSeed<'_> {
    type Value = Misfit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar")
    }

    scalars_as_text!();

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Misfit, A::Error> {
        list_value(seq).map(not_empty)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Misfit, A::Error> {
        record_value(map).map(not_empty)
    }
}

/// A nested record: an object, or one of the forms of empty.
struct NestedSeed<'a>(&'a mut dyn Record);
any_value!(NestedSeed);

impl NestedSeed<'_> {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Misfit, E> {
        Ok(not_empty(Value::Text(text.into_owned())))
    }
}

impl<'de> Visitor<'de> for NestedSeed<'_> {
    type Value = Misfit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    scalars_as_text!();

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Misfit, A::Error> {
        list_value(seq).map(not_empty)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Misfit, A::Error> {
        RecordSeed(self.0).visit_map(map).map(|()| None)
    }
}

/// A repeated record: an array, an object keyed by index, or an object that names its items as XML does.
struct ListSeed<'a>(&'a mut dyn RecordList);
any_value!(ListSeed);

impl ListSeed<'_> {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Misfit, E> {
        Ok(not_empty(Value::Text(text.into_owned())))
    }
}

impl<'de> Visitor<'de> for ListSeed<'_> {
    type Value = Misfit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    scalars_as_text!();

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Misfit, A::Error> {
        let mut misfits = Vec::new();
        while let Some(misfit) = seq.next_element_seed(ItemSeed(&mut *self.0))? {
            misfits.extend(misfit);
        }
        Ok((!misfits.is_empty()).then_some(Value::List(misfits)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Misfit, A::Error> {
        let mut misfits = Extra::default();
        while let Some(name) = map.next_key_seed(Name)? {
            if let Some(value) = map.next_value_seed(ItemSeed(&mut *self.0))? {
                misfits.push(name, value);
            }
        }
        Ok((!misfits.is_empty()).then_some(Value::Record(misfits)))
    }
}

/// What stands under one index or item name: one record, or an array of them.
struct ItemSeed<'a>(&'a mut dyn RecordList);
any_value!(ItemSeed);

impl ItemSeed<'_> {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Misfit, E> {
        Ok(not_empty(Value::Text(text.into_owned())))
    }
}

impl<'de> Visitor<'de> for ItemSeed<'_> {
    type Value = Misfit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    scalars_as_text!();

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Misfit, A::Error> {
        ListSeed(self.0).visit_seq(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Misfit, A::Error> {
        RecordSeed(self.0.grow()).visit_map(map).map(|()| None)
    }
}

/// Records by name.
struct MapSeed<'a>(&'a mut dyn RecordMap);
any_value!(MapSeed);

impl MapSeed<'_> {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Misfit, E> {
        Ok(not_empty(Value::Text(text.into_owned())))
    }
}

impl<'de> Visitor<'de> for MapSeed<'_> {
    type Value = Misfit;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("records by name")
    }

    scalars_as_text!();

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Misfit, A::Error> {
        list_value(seq).map(not_empty)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Misfit, A::Error> {
        let mut misfits = Extra::default();
        while let Some(name) = map.next_key_seed(Name)? {
            let nested = self.0.entry(&name);
            if let Some(value) = map.next_value_seed(NestedSeed(nested))? {
                misfits.push(name, value);
            }
        }
        Ok((!misfits.is_empty()).then_some(Value::Record(misfits)))
    }
}

/// Any value, as it is.
struct ValueSeed;

impl<'de> DeserializeSeed<'de> for ValueSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl ValueSeed {
    fn scalar<E>(self, text: Cow<'_, str>) -> Result<Value, E> {
        Ok(Value::Text(text.into_owned()))
    }
}

impl<'de> Visitor<'de> for ValueSeed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    scalars_as_text!("true", "false");

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Value, A::Error> {
        list_value(seq)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        record_value(map)
    }
}

fn list_value<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<Value, A::Error> {
    let mut values = Vec::new();
    while let Some(value) = seq.next_element_seed(ValueSeed)? {
        values.push(value);
    }
    Ok(Value::List(values))
}

fn record_value<'de, A: MapAccess<'de>>(mut map: A) -> Result<Value, A::Error> {
    let mut record = Extra::default();
    while let Some(name) = map.next_key_seed(Name)? {
        let value = map.next_value_seed(ValueSeed)?;
        record.push(name, value);
    }
    Ok(Value::Record(record))
}

/// A value that says something: `""`, `[]` and `{}` where another shape was expected mean "empty".
fn not_empty(value: Value) -> Misfit {
    let empty = match &value {
        Value::Text(text) => text.is_empty(),
        Value::List(values) => values.is_empty(),
        Value::Record(record) => record.is_empty(),
    };
    (!empty).then_some(value)
}
