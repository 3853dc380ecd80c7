//! Reads a record from JSON: numbers may be numbers or texts, empty may be `null`, `""`, `[]` or absent, lists may be
//! arrays or objects keyed by index (spec 1 §2.1).

use alloc::vec::Vec;

use super::scan::{Problem, Scanner, Start, Truth};
use crate::{
    decode_error::{DecodeError, without_byte_order_mark},
    record::{Record, RecordList, RecordMap, Slot, set},
    value::{Extra, Value},
};

/// Booleans in known fields, as XML writes them; in unknown fields unchanged.
const DIGITS: Truth = ["0", "1"];
const WORDS: Truth = ["false", "true"];

/// A value that did not fit its slot, kept among the unknown fields.
type Misfit = Option<Value>;

/// Reads the object in `body` into `record`.
///
/// # Errors
/// If the body is not UTF-8, not JSON, or not an object. Reports the position.
pub fn read(body: &[u8], record: &mut dyn Record) -> Result<(), DecodeError> {
    let body = without_byte_order_mark(body);
    let text = core::str::from_utf8(body).map_err(|error| DecodeError::not_utf8(body, error))?;
    let mut json = Scanner::new(text);
    let is_object = document(&mut json, record).map_err(|problem| DecodeError::at(body, json.at(), problem))?;
    is_object.then_some(()).ok_or_else(|| DecodeError::no_object(text))
}

/// The record in a body; the body must be an object.
fn document(json: &mut Scanner<'_>, record: &mut dyn Record) -> Result<bool, Problem> {
    let is_object = match json.value(WORDS)? {
        Start::Object => children(json, record).map(|()| true),
        other => value(json, other).map(|_| false),
    }?;
    json.end().map(|()| is_object)
}

/// The members of an object, each into its slot of the record.
fn children(json: &mut Scanner<'_>, record: &mut dyn Record) -> Result<(), Problem> {
    while let Some(name) = json.member()? {
        let misfit = child(json, record, &name)?;
        if let Some(value) = misfit {
            record.extra().push(name, value);
        }
    }
    Ok(())
}

fn child(json: &mut Scanner<'_>, record: &mut dyn Record, name: &str) -> Result<Misfit, Problem> {
    let slot = record.slot(name);
    let start = json.value(if matches!(slot, Slot::Extra) { WORDS } else { DIGITS })?;
    match (slot, start) {
        (Slot::Text(text), Start::Scalar(said)) => {
            set(text, said)?;
            Ok(None)
        }
        (Slot::Named(named), Start::Scalar(said)) => {
            named.add(name, &said);
            Ok(None)
        }
        (Slot::Record(nested), Start::Object) => children(json, nested).map(|()| None),
        (Slot::List(list), start) => items(json, list, start),
        (Slot::Map(records), Start::Object) => by_name(json, records),
        (Slot::Extra | Slot::Named(_), start) => value(json, start).map(Some),
        (_, start) => value(json, start).map(not_empty),
    }
}

/// A repeated record: an array, an object keyed by index, or an object that names its items as XML does.
fn items(json: &mut Scanner<'_>, list: &mut dyn RecordList, start: Start<'_>) -> Result<Misfit, Problem> {
    Ok(not_empty(match start {
        Start::Scalar(text) => Value::text(text),
        Start::List => {
            let mut misfits = Vec::new();
            while json.element()? {
                let start = json.value(DIGITS)?;
                misfits.extend(item(json, list, start)?);
            }
            Value::List(misfits)
        }
        Start::Object => {
            let mut misfits = Extra::default();
            while let Some(name) = json.member()? {
                let start = json.value(DIGITS)?;
                if let Some(value) = item(json, list, start)? {
                    misfits.push(name, value);
                }
            }
            Value::Record(misfits)
        }
    }))
}

/// The value of one index or item name: one record, or an array of them.
fn item(json: &mut Scanner<'_>, list: &mut dyn RecordList, start: Start<'_>) -> Result<Misfit, Problem> {
    match start {
        Start::Object => {
            json.records.take()?;
            children(json, list.grow()).map(|()| None)
        }
        other => items(json, list, other),
    }
}

/// Records by name.
fn by_name(json: &mut Scanner<'_>, records: &mut dyn RecordMap) -> Result<Misfit, Problem> {
    let mut misfits = Extra::default();
    while let Some(name) = json.member()? {
        json.records.take()?;
        let nested = records.entry(&name);
        let misfit = match json.value(DIGITS)? {
            Start::Object => children(json, nested).map(|()| None),
            other => value(json, other).map(not_empty),
        }?;
        if let Some(value) = misfit {
            misfits.push(name, value);
        }
    }
    Ok(not_empty(Value::Record(misfits)))
}

/// Any value, unchanged.
fn value(json: &mut Scanner<'_>, start: Start<'_>) -> Result<Value, Problem> {
    Ok(match start {
        Start::Scalar(text) => Value::text(text),
        Start::List => {
            let mut values = Vec::new();
            while json.element()? {
                let start = json.value(WORDS)?;
                values.push(value(json, start)?);
            }
            Value::List(values)
        }
        Start::Object => {
            let mut record = Extra::default();
            while let Some(name) = json.member()? {
                let start = json.value(WORDS)?;
                record.push(name, value(json, start)?);
            }
            Value::Record(record)
        }
    })
}

/// A non-empty value: `""`, `[]` and `{}` in place of another type mean "empty".
fn not_empty(value: Value) -> Misfit {
    let empty = match &value {
        Value::Text(text) => text.is_empty(),
        Value::List(values) => values.is_empty(),
        Value::Record(record) => record.is_empty(),
    };
    (!empty).then_some(value)
}
