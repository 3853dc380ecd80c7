//! Values that are arrays, in the form in which they are signed (spec 1 §5; assumption 26).

use alloc::string::String;
use core::fmt::Write;

/// One member of an array value.
///
/// A decimal number has no single text form, so it is passed as the text that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayMember<'a> {
    /// Text, or a number that is text already.
    Text(&'a str),
    /// A whole number.
    Integer(i64),
}

impl<'a> From<&'a str> for ArrayMember<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for ArrayMember<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

/// JSON-encodes an array value, with every member a string (spec 1 §5): `[5, "a"]` becomes `["5","a"]`.
///
/// The result is the parameter's value, for signing and sending alike. Which JSON spelling the service
/// expects is not shown; this is the shortest: no blanks, and escapes only where JSON demands them.
///
/// ```
/// use pg_crypto::{ArrayMember, array_value};
///
/// assert_eq!(array_value([ArrayMember::Integer(5), "a\"b".into()]), r#"["5","a\"b"]"#);
/// ```
#[must_use]
pub fn array_value<'a>(members: impl IntoIterator<Item = ArrayMember<'a>>) -> String {
    let mut json = String::from("[");
    for member in members {
        if json.len() > 1 {
            json.push(',');
        }
        json.push('"');
        match member {
            ArrayMember::Text(text) => text.chars().for_each(|c| push_escaped(&mut json, c)),
            ArrayMember::Integer(number) => push_formatted(&mut json, format_args!("{number}")),
        }
        json.push('"');
    }
    json.push(']');
    json
}

fn push_escaped(json: &mut String, c: char) {
    match c {
        '"' => json.push_str("\\\""),
        '\\' => json.push_str("\\\\"),
        '\n' => json.push_str("\\n"),
        '\r' => json.push_str("\\r"),
        '\t' => json.push_str("\\t"),
        '\u{8}' => json.push_str("\\b"),
        '\u{c}' => json.push_str("\\f"),
        '\0'..='\u{1f}' => push_formatted(json, format_args!("\\u{:04x}", u32::from(c))),
        _ => json.push(c),
    }
}

fn push_formatted(json: &mut String, arguments: core::fmt::Arguments<'_>) {
    json.write_fmt(arguments).expect("writing to a String cannot fail");
}

#[cfg(test)]
mod tests {
    use super::{ArrayMember, array_value};

    #[test]
    fn numbers_become_strings() {
        assert_eq!(array_value([]), "[]");
        assert_eq!(
            array_value([ArrayMember::Integer(-7), ArrayMember::from(i64::MAX), "4.50".into()]),
            r#"["-7","9223372036854775807","4.50"]"#
        );
    }

    #[test]
    fn escapes_what_json_demands_and_no_more() {
        assert_eq!(
            array_value(["\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}".into(), "é/€\u{7f}".into()]),
            "[\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\\u001f\",\"é/€\u{7f}\"]"
        );
    }
}
