//! Writes a record as XML: one element per field, in the order of the tables.

use alloc::{borrow::Cow, string::String};

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
        self.element(name, |writer| escape(&mut writer.out, value));
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
            Value::List(values) if values.is_empty() => self.text(name, ""),
            Value::List(values) => values.iter().for_each(|value| self.value(name, value)),
            Value::Record(record) => self.element(name, |writer| writer.unknown_record(record)),
        }
    }
}

/// Text of an element. XML 1.0 cannot represent most control characters, not even escaped; they
/// become U+FFFD. A carriage return must be escaped, or readers convert it to a line feed.
fn escape(out: &mut String, text: &str) {
    let mut plain_from = 0;
    for (at, special) in text.match_indices(is_special) {
        out.push_str(&text[plain_from..at]);
        plain_from = at + special.len();
        out.push_str(match special {
            "&" => "&amp;",
            "<" => "&lt;",
            ">" => "&gt;",
            "\"" => "&quot;",
            "'" => "&apos;",
            "\r" => "&#13;",
            _ => "\u{fffd}",
        });
    }
    out.push_str(&text[plain_from..]);
}

const fn is_special(c: char) -> bool {
    matches!(c, '&' | '<' | '>' | '"' | '\'' | '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// A valid tag name: names from a request (`collect…`) can contain anything.
fn element_name(name: &str) -> Cow<'_, str> {
    let fits = |at: usize, c: char| begins_name(c) || (at > 0 && (c.is_ascii_digit() || matches!(c, '-' | '.' | '·')));
    if !name.is_empty() && name.char_indices().all(|(at, c)| fits(at, c)) {
        return Cow::Borrowed(name);
    }
    let mut cleaned: String = name.char_indices().map(|(at, c)| if fits(at, c) { c } else { '_' }).collect();
    if cleaned.is_empty() {
        cleaned.push('_');
    }
    Cow::Owned(cleaned)
}

/// The characters of the Latin alphabets that start a name in every edition of XML 1.0, without the colon, which is for
/// namespaces. Many parsers, such as those of Python and Java, still follow the fourth edition, which has fewer than the
/// fifth.
const fn begins_name(c: char) -> bool {
    matches!(c,
        'A'..='Z' | 'a'..='z' | '_' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{131}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Acknowledgement, RedirectData, decode_into};
    use alloc::{format, string::ToString};

    fn written(name: &str, value: &str) -> String {
        let mut record = Acknowledgement::default();
        record.extra.push(name, Value::Text(value.to_string().into()));
        write(&record)
    }

    /// Assumption A139.
    #[test]
    fn characters_that_xml_cannot_contain_are_marked() {
        for (value, wanted) in [
            ("a\0b\u{8}c\u{b}d\u{1f}e", "a\u{fffd}b\u{fffd}c\u{fffd}d\u{fffd}e"),
            ("\u{fffe}\u{ffff}", "\u{fffd}\u{fffd}"),
            ("tab\tline\nreturn\r", "tab\tline\nreturn&#13;"),
            ("del\u{7f}next\u{85}😀", "del\u{7f}next\u{85}😀"),
        ] {
            assert!(
                written("collectNote", value).contains(&format!("<collectNote>{wanted}</collectNote>")),
                "{value:?}"
            );
        }
        for (name, wanted) in [
            ("collect Size", "collect_Size"),
            ("collect<b>", "collect_b_"),
            ("collect:x", "collect_x"),
            ("7", "_"),
            ("", "_"),
            ("collectGröße", "collectGröße"),
            ("collect-1.a·", "collect-1.a·"),
            // Only the fifth edition of XML 1.0 has these letters.
            ("collect😀", "collect_"),
            ("collect\u{2c00}\u{370}\u{132}x", "collect___x"),
        ] {
            assert!(written(name, "M").contains(&format!("<{wanted}>M</{wanted}>")), "{name:?}");
        }
    }

    /// The merchant can read the reply, whatever the browser sends.
    #[test]
    fn every_name_and_value_makes_a_document_that_can_be_read() {
        let few = ('\0'..='\u{2ff}').step_by(if cfg!(miri) { 31 } else { 1 });
        for character in few.chain(['&', '<', '\r', '\u{fffd}', '\u{fffe}', '\u{ffff}', '😀']) {
            let mut data = RedirectData::default();
            data.collect.push(format!("collect{character}"), format!("x{character}y"));
            let mut read = RedirectData::default();
            decode_into(write(&data).as_bytes(), &mut read).unwrap();
            let [(name, value)] = read.collect.iter().collect::<alloc::vec::Vec<_>>()[..] else {
                panic!("{character:?}")
            };
            let marked = if is_special(character) && !matches!(character, '&' | '<' | '>' | '"' | '\'' | '\r') {
                '\u{fffd}'
            } else {
                character
            };
            assert_eq!((name, value), (&*element_name(&format!("collect{character}")), &*format!("x{marked}y")));
        }
    }
}
