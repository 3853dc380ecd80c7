//! Unknown reply fields, kept as a small tree, so that no data of the service is lost.

use alloc::{borrow::Cow, vec::Vec};
use core::fmt;

use crate::mask;

/// The value of an unknown field.
#[derive(Clone, PartialEq, Eq)]
pub enum Value {
    /// A scalar: text, number, `true` or `false`, as text. JSON `null` is an empty text.
    Text(Cow<'static, str>),
    /// A JSON array.
    List(Vec<Value>),
    /// A JSON object or an XML element with children, in order.
    Record(Extra),
}

/// Unknown fields in their original order. A name that is repeated consecutively makes a list, as
/// repeated elements do in XML. `Debug` masks likely card numbers, and hides values whose names say that they are secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra(Vec<(Cow<'static, str>, Value)>);

impl Value {
    /// Wraps a scalar.
    pub(crate) fn text(text: Cow<'_, str>) -> Self {
        Self::Text(kept(text))
    }

    /// Returns the text of a scalar.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::List(_) | Self::Record(_) => None,
        }
    }

    /// Adds a value under the same name.
    fn append(&mut self, value: Self) {
        if let Self::List(values) = self {
            values.push(value);
        } else {
            let first = core::mem::replace(self, Self::List(Vec::with_capacity(2)));
            self.append(first);
            self.append(value);
        }
    }
}

impl Extra {
    /// Appends a value; joins it to the last one if that has the same name.
    pub fn push<'n>(&mut self, name: impl Into<Cow<'n, str>>, value: Value) {
        let name = name.into();
        // Only the last one is compared: names come from outside, and comparing all would take quadratic time.
        match self.0.last_mut() {
            Some((last, values)) if *last == name => values.append(value),
            _ => self.0.push((kept(name), value)),
        }
    }

    /// Returns the first value with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }

    /// Returns all fields.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// Whether there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the fields as `Debug` and serde show them. The texts within the values are masked when they are shown.
    pub(crate) fn shown(&self) -> impl ExactSizeIterator<Item = (Cow<'_, str>, &Value)> {
        self.iter().map(|(name, value)| Self::shown_field(name, value))
    }

    pub(crate) fn shown_field<'f>(name: &'f str, value: &'f Value) -> (Cow<'f, str>, &'f Value) {
        const HIDDEN: &Value = &Value::Text(Cow::Borrowed(mask::HIDDEN));
        let hides = value.as_text() != Some("") && mask::names_a_secret(name);
        (mask::masked(name), if hides { HIDDEN } else { value })
    }
}

/// Returns a text to store. The shortest texts take no memory of their own: a reply of a megabyte may contain half a
/// million of them.
fn kept(text: Cow<'_, str>) -> Cow<'static, str> {
    /// Every ASCII character, and every number of two digits, in its place.
    const CHARACTERS: &str = "\0\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0b\x0c\r\x0e\x0f\
        \x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f \
        !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~\x7f";
    const NUMBERS: &str = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849\
        5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    let known = match *text.as_bytes() {
        [] => Some(""),
        [one @ 0..0x80] => CHARACTERS.get(usize::from(one)..=usize::from(one)),
        [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => {
            let at = 2 * (10 * usize::from(tens - b'0') + usize::from(ones - b'0'));
            NUMBERS.get(at..at + 2)
        }
        _ => None,
    };
    known.map_or_else(|| Cow::Owned(text.into_owned()), Cow::Borrowed)
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.shown()).finish()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => mask::masked(text).fmt(f),
            Self::List(values) => f.debug_list().entries(values).finish(),
            Self::Record(record) => record.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::{format, string::ToString};

    use super::*;

    #[test]
    fn values_keep_what_was_read_and_short_texts_take_no_memory() {
        let short = (0..=127_u8).map(|byte| char::from(byte).to_string());
        let numbers = (0..100).map(|number| format!("{number:02}"));
        for text in short.chain(numbers).chain(["".into()]) {
            let kept = kept(Cow::Borrowed(&text));
            assert!(matches!(kept, Cow::Borrowed(_)), "{text:?}");
            assert_eq!(kept, text);
        }
        for text in ["é", "ab", "a1", "1a", "-1", "100", "1.5"] {
            assert_eq!(kept(Cow::Borrowed(text)), text);
        }
    }

    #[test]
    fn debug_hides_values_whose_names_say_that_they_are_secret() {
        let mut inner = Extra::default();
        inner.push("cardCV2", Value::text("917".into()));
        let mut extra = Extra::default();
        extra.push("apiPassword", Value::text("geheim".into()));
        extra.push("echo", Value::Record(inner));
        assert_eq!(format!("{extra:?}"), r#"{"apiPassword": "***", "echo": {"cardCV2": "***"}}"#);
    }
}
