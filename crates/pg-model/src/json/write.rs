//! Writes a record as JSON: one object, in the order of the tables. Every value is a string, except the one that the
//! tables call a number (A131).

use alloc::string::String;

use crate::{
    record::{ListShape, Record, RecordWriter},
    value::{Extra, Value},
};

/// The record as a JSON object.
#[must_use]
pub fn write(record: &dyn Record) -> String {
    let mut writer = Writer { out: String::with_capacity(USUAL), first: true };
    writer.out.push('{');
    record.write(&mut writer);
    writer.out.push('}');
    writer.out
}

/// The length of most records: a text that grows is copied several times.
const USUAL: usize = 512;

struct Writer {
    out: String,
    /// Whether the next name is the first of its object.
    first: bool,
}

impl Writer {
    fn name(&mut self, name: &str) {
        if !self.first {
            self.out.push(',');
        }
        self.first = false;
        string(&mut self.out, name);
        self.out.push(':');
    }

    fn object(&mut self, inside: impl FnOnce(&mut Self)) {
        self.out.push('{');
        self.first = true;
        inside(self);
        self.first = false;
        self.out.push('}');
    }

    fn unknown(&mut self, value: &Value) {
        match value {
            Value::Text(text) => string(&mut self.out, text),
            Value::List(values) => {
                self.out.push('[');
                for (at, value) in values.iter().enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.unknown(value);
                }
                self.out.push(']');
            }
            Value::Record(record) => self.unknown_record(record),
        }
    }

    fn unknown_record(&mut self, record: &Extra) {
        self.object(|writer| {
            for (name, value) in record.iter() {
                writer.value(name, value);
            }
        });
    }
}

impl RecordWriter for Writer {
    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        string(&mut self.out, value);
    }

    fn number(&mut self, name: &str, value: &str) {
        // Readers would round numbers above 64 bits.
        let plain = value.parse::<u64>().is_ok() && (value == "0" || !value.starts_with(['0', '+']));
        if plain {
            self.name(name);
            self.out.push_str(value);
        } else {
            self.text(name, value);
        }
    }

    fn record(&mut self, name: &str, record: &dyn Record) {
        self.name(name);
        self.object(|writer| record.write(writer));
    }

    fn list(&mut self, name: &str, _item: &str, shape: ListShape, records: &mut dyn Iterator<Item = &dyn Record>) {
        self.name(name);
        match shape {
            ListShape::Indexed => self.object(|writer| {
                for (at, record) in records.enumerate() {
                    writer.record(itoa::Buffer::new().format(at), record);
                }
            }),
            ListShape::Array => {
                self.out.push('[');
                for (at, record) in records.enumerate() {
                    if at > 0 {
                        self.out.push(',');
                    }
                    self.object(|writer| record.write(writer));
                }
                self.out.push(']');
            }
        }
    }

    fn map(&mut self, name: &str, records: &mut dyn Iterator<Item = (&str, &dyn Record)>) {
        self.name(name);
        self.object(|writer| {
            for (name, record) in records {
                writer.record(name, record);
            }
        });
    }

    fn value(&mut self, name: &str, value: &Value) {
        self.name(name);
        self.unknown(value);
    }
}

fn string(out: &mut String, text: &str) {
    let is_plain = |byte: u8| (byte >= b' ') & (byte != b'"') & (byte != b'\\');
    out.push('"');
    // Nearly every text; without an early exit, the loop compares many bytes at once.
    if text.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        out.push_str(text);
        out.push('"');
        return;
    }
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if is_plain(byte) {
            continue;
        }
        out.push_str(text.get(plain_from..at).unwrap_or_default());
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            other => {
                out.push_str("\\u00");
                out.extend([other >> 4, other & 15].map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])));
            }
        }
    }
    out.push_str(text.get(plain_from..).unwrap_or_default());
    out.push('"');
}
