//! Any reply as a list of names and values, in their order.

use pg_model::{Extra, ListShape, Record, RecordWriter, ServiceError, Value, decode_into};

use crate::argument;

/// A name and a masked value.
pub(in crate::command) type Pair = (String, String);

/// Returns the fields of a body in XML or JSON; none if it is neither.
pub(in crate::command) fn of_body(body: &[u8]) -> Vec<Pair> {
    // The record has three names and keeps all others.
    let mut record = ServiceError::default();
    if decode_into(body, &mut record).is_err() {
        return Vec::new();
    }
    of_record(&record)
}

/// Returns the non-empty fields of a record.
pub(in crate::command) fn of_record(record: &dyn Record) -> Vec<Pair> {
    let mut flat = Flat::default();
    record.write(&mut flat);
    flat.pairs
}

#[derive(Default)]
struct Flat {
    pairs: Vec<Pair>,
    /// The parent names, each followed by ` > `.
    path: String,
}

impl Flat {
    fn inside(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        let length = self.path.len();
        self.path.push_str(name);
        self.path.push_str(" > ");
        write(self);
        self.path.truncate(length);
    }

    fn extra(&mut self, extra: &Extra) {
        for (name, value) in extra.iter() {
            self.value(name, value);
        }
    }
}

impl RecordWriter for Flat {
    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            // The service masks card numbers. This masks any that it missed.
            let shown = if argument::is_secret(name) { pg_proto::shown(name, value) } else { value.to_owned() };
            self.pairs.push((format!("{}{name}", self.path), shown));
        }
    }

    fn number(&mut self, name: &str, value: &str) {
        self.text(name, value);
    }

    fn record(&mut self, name: &str, record: &dyn Record) {
        self.inside(name, |flat| record.write(flat));
    }

    fn list(&mut self, name: &str, _: &str, _: ListShape, records: &mut dyn Iterator<Item = &dyn Record>) {
        self.inside(name, |flat| {
            for (at, record) in records.enumerate() {
                flat.record(&at.to_string(), record);
            }
        });
    }

    fn map(&mut self, name: &str, records: &mut dyn Iterator<Item = (&str, &dyn Record)>) {
        self.inside(name, |flat| records.for_each(|(name, record)| flat.record(name, record)));
    }

    fn value(&mut self, name: &str, value: &Value) {
        match value {
            Value::Text(text) => self.text(name, text),
            Value::List(values) => self.inside(name, |flat| {
                for (at, value) in values.iter().enumerate() {
                    flat.value(&at.to_string(), value);
                }
            }),
            Value::Record(record) => self.inside(name, |flat| flat.extra(record)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_fields_get_a_path_and_keep_their_order() {
        let body =
            br#"{"z":"1","card":{"cardNumber":"4111111111111111","empty":""},"errorCode":"108","list":{"0":{"a":2}}}"#;
        let pairs = of_body(body);
        let lines: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(lines, ["errorCode=108", "z=1", "card > cardNumber=411111******1111", "list > 0 > a=2"]);
        assert!(of_body(b"no").is_empty());
    }
}
