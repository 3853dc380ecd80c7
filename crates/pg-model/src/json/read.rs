//! Reads a record from JSON: numbers may be numbers or texts, empty may be `null`, `""`, `[]` or absent, lists may be
//! arrays or objects keyed by index (spec 1 §2.1).

use alloc::{borrow::Cow, vec::Vec};

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::{
    fill::{Fill, Seed},
    unknown::{Misfit, Name, Unknown, not_empty},
};
use crate::{
    decode::{DecodeError, without_byte_order_mark},
    parameters::Named,
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
    let is_object = Seed::of(Root(record))
        .deserialize(&mut json)
        .and_then(|is_object| json.end().map(|()| is_object))
        .map_err(|error| DecodeError::json(text, error.line(), error.column(), error.classify()))?;
    is_object.then_some(()).ok_or_else(|| DecodeError::no_object(text))
}

/// The record that a body is; nothing but an object will do.
struct Root<'a>(&'a mut dyn Record);

impl<'de> Fill<'de> for Root<'_> {
    /// Whether it was an object.
    type Output = bool;

    fn scalar(self, _: Cow<'_, str>) -> bool {
        false
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<bool, A::Error> {
        Unknown.list(list).map(|_| false)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<bool, A::Error> {
        children(self.0, object).map(|()| true)
    }
}

/// The members of an object, each into its slot of the record.
fn children<'de, A: MapAccess<'de>>(record: &mut dyn Record, mut object: A) -> Result<(), A::Error> {
    while let Some(name) = object.next_key_seed(Name)? {
        let misfit = match record.slot(&name) {
            Slot::Text(text) => object.next_value_seed(Seed::of(Scalar(text)))?,
            Slot::Record(nested) => object.next_value_seed(Seed::of(Nested(nested)))?,
            Slot::List(list) => object.next_value_seed(Seed::of(List(list)))?,
            Slot::Map(records) => object.next_value_seed(Seed::of(ByName(records)))?,
            Slot::Named(named) => object.next_value_seed(Seed::of(NamedScalar { name: &name, named }))?,
            Slot::Extra => Some(object.next_value_seed(Seed::of(Unknown))?),
        };
        if let Some(value) = misfit {
            record.extra().push(name, value);
        }
    }
    Ok(())
}

fn misfit_text(text: Cow<'_, str>) -> Misfit {
    not_empty(Value::Text(text.into_owned()))
}

fn misfit_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Misfit, A::Error> {
    Unknown.list(list).map(not_empty)
}

fn misfit_object<'de, A: MapAccess<'de>>(object: A) -> Result<Misfit, A::Error> {
    Unknown.object(object).map(not_empty)
}

struct Scalar<'a>(&'a mut dyn Text);

impl<'de> Fill<'de> for Scalar<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        set(self.0, text);
        None
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Misfit, A::Error> {
        misfit_list(list)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Misfit, A::Error> {
        misfit_object(object)
    }
}

/// A scalar that is kept together with its name.
struct NamedScalar<'a> {
    name: &'a str,
    named: &'a mut Named,
}

impl<'de> Fill<'de> for NamedScalar<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        self.named.add(self.name, &text);
        None
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Misfit, A::Error> {
        Unknown.list(list).map(Some)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Misfit, A::Error> {
        Unknown.object(object).map(Some)
    }
}

/// A nested record: an object, or one of the forms of empty.
struct Nested<'a>(&'a mut dyn Record);

impl<'de> Fill<'de> for Nested<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        misfit_text(text)
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Misfit, A::Error> {
        misfit_list(list)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Misfit, A::Error> {
        children(self.0, object).map(|()| None)
    }
}

/// A repeated record: an array, an object keyed by index, or an object that names its items as XML does.
struct List<'a>(&'a mut dyn RecordList);

impl<'de> Fill<'de> for List<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        misfit_text(text)
    }

    fn list<A: SeqAccess<'de>>(self, mut list: A) -> Result<Misfit, A::Error> {
        let mut misfits = Vec::new();
        while let Some(misfit) = list.next_element_seed(Seed::of(Item(&mut *self.0)))? {
            misfits.extend(misfit);
        }
        Ok(not_empty(Value::List(misfits)))
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Misfit, A::Error> {
        let mut misfits = Extra::default();
        while let Some(name) = object.next_key_seed(Name)? {
            if let Some(value) = object.next_value_seed(Seed::of(Item(&mut *self.0)))? {
                misfits.push(name, value);
            }
        }
        Ok(not_empty(Value::Record(misfits)))
    }
}

/// What stands under one index or item name: one record, or an array of them.
struct Item<'a>(&'a mut dyn RecordList);

impl<'de> Fill<'de> for Item<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        misfit_text(text)
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Misfit, A::Error> {
        List(self.0).list(list)
    }

    fn object<A: MapAccess<'de>>(self, object: A) -> Result<Misfit, A::Error> {
        children(self.0.grow(), object).map(|()| None)
    }
}

/// Records by name.
struct ByName<'a>(&'a mut dyn RecordMap);

impl<'de> Fill<'de> for ByName<'_> {
    type Output = Misfit;

    fn scalar(self, text: Cow<'_, str>) -> Misfit {
        misfit_text(text)
    }

    fn list<A: SeqAccess<'de>>(self, list: A) -> Result<Misfit, A::Error> {
        misfit_list(list)
    }

    fn object<A: MapAccess<'de>>(self, mut object: A) -> Result<Misfit, A::Error> {
        let mut misfits = Extra::default();
        while let Some(name) = object.next_key_seed(Name)? {
            let nested = self.0.entry(&name);
            if let Some(value) = object.next_value_seed(Seed::of(Nested(nested)))? {
                misfits.push(name, value);
            }
        }
        Ok(not_empty(Value::Record(misfits)))
    }
}
