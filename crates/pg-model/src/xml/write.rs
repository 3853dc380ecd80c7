//! Writes a record as XML: one element a field, in the order of the tables.

use alloc::{borrow::Cow, string::String};

use quick_xml::escape::escape;

use crate::{
    record::{ListShape, Record, RecordWriter},
    value::{Extra, Value},
    xml::ROOT,
};

/// The record as an XML document.
#[must_use]
pub fn write(record: &dyn Record) -> String {
    let mut writer = Writer { out: String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n") };
    writer.record(ROOT, record);
    writer.out
}

struct Writer {
    out: String,
}

impl Writer {
    fn element(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        let name = element_name(name);
        self.out.push('<');
        self.out.push_str(&name);
        self.out.push('>');
        inside(self);
        self.out.push_str("</");
        self.out.push_str(&name);
        self.out.push('>');
    }

    fn unknown_record(&mut self, record: &Extra) {
        for (name, value) in record.iter() {
            self.value(name, value);
        }
    }
}

impl RecordWriter for Writer {
    fn text(&mut self, name: &str, value: &str) {
        self.element(name, |writer| {
            let visible = without_controls(value);
            writer.out.push_str(&escape(&*visible));
        });
    }

    fn number(&mut self, name: &str, value: &str) {
        self.text(name, value);
    }

    fn record(&mut self, name: &str, record: &dyn Record) {
        self.element(name, |writer| record.write(writer));
    }

    fn list(&mut self, name: &str, item: &str, _shape: ListShape, records: &mut dyn Iterator<Item = &dyn Record>) {
        self.element(name, |writer| {
            for record in records {
                writer.record(item, record);
            }
        });
    }

    fn map(&mut self, name: &str, records: &mut dyn Iterator<Item = (&str, &dyn Record)>) {
        self.element(name, |writer| {
            for (name, record) in records {
                writer.record(name, record);
            }
        });
    }

    fn value(&mut self, name: &str, value: &Value) {
        match value {
            Value::Text(text) => self.text(name, text),
            Value::List(values) => values.iter().for_each(|value| self.value(name, value)),
            Value::Record(record) => self.element(name, |writer| writer.unknown_record(record)),
        }
    }
}

/// XML 1.0 has no way to write most control characters, not even escaped; they become U+FFFD.
fn without_controls(text: &str) -> Cow<'_, str> {
    let forbidden =
        |c: char| matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}');
    if text.contains(forbidden) { Cow::Owned(text.replace(forbidden, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// A name that may stand in a tag: names that come from a request (`collect…`) can hold anything.
fn element_name(name: &str) -> Cow<'_, str> {
    let fits = |at: usize, c: char| {
        c.is_ascii_alphabetic() || c == '_' || (at > 0 && (c.is_ascii_digit() || c == '-' || c == '.'))
    };
    if !name.is_empty() && name.char_indices().all(|(at, c)| fits(at, c)) {
        return Cow::Borrowed(name);
    }
    let mut cleaned: String = name.char_indices().map(|(at, c)| if fits(at, c) { c } else { '_' }).collect();
    if cleaned.is_empty() {
        cleaned.push('_');
    }
    Cow::Owned(cleaned)
}
