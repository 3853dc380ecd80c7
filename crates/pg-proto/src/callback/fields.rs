//! The fields of a callback in any form.

use pg_model::{DecodeError, Encoding, Extra, Record, RecordWriter, Slot, Value, json, xml};

/// Every field of a document, whatever its name.
#[derive(Default)]
struct Fields(Extra);

impl Record for Fields {
    fn slot(&mut self, _: &str) -> Slot<'_> {
        Slot::Extra
    }

    fn extra(&mut self) -> &mut Extra {
        &mut self.0
    }

    fn write(&self, _: &mut dyn RecordWriter) {}
}

/// Passes the names and values of a form to `take`.
pub(super) fn of_form(form: &[u8], take: &mut dyn FnMut(&str, &str)) {
    form_urlencoded::parse(form).for_each(|(name, value)| take(&name, &value));
}

/// Passes the names and values of a body to `take`, in their order and at any depth. A body that is neither JSON nor XML
/// is read as a form.
///
/// # Errors
///
/// If the body is JSON or XML that cannot be read.
pub(super) fn of_body(body: &[u8], take: &mut dyn FnMut(&str, &str)) -> Result<(), DecodeError> {
    let mut fields = Fields::default();
    match Encoding::of(body) {
        None => {
            of_form(body, take);
            return Ok(());
        }
        Some(Encoding::Json) => json::read(body, &mut fields)?,
        Some(Encoding::Xml) => xml::read_any(body, &mut fields)?,
    }
    of_record(&fields.0, take);
    Ok(())
}

/// The depth is limited by the readers.
fn of_record(record: &Extra, take: &mut dyn FnMut(&str, &str)) {
    record.iter().for_each(|(name, value)| of_value(name, value, take));
}

fn of_value(name: &str, value: &Value, take: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Text(text) => take(name, text),
        Value::List(values) => values.iter().for_each(|value| of_value(name, value, take)),
        Value::Record(record) => of_record(record, take),
    }
}
