//! Usual changes of values before they are signed.

use alloc::vec::Vec;

use zeroize::Zeroizing;

/// A change of values. For correct values, no change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Values {
    #[default]
    AsIs,
    Encoded(UrlEncoding),
    /// Percent-decoded, with `+` for a space.
    Decoded,
    Trimmed,
    /// ISO 8859-1, or UTF-8 for characters that it lacks.
    Latin1,
}

/// A variant of URL encoding.
#[derive(Clone, Copy, Debug)]
pub(super) struct UrlEncoding {
    /// Characters that are kept, beside ASCII letters and digits.
    pub(super) kept: &'static [u8],
    pub(super) blank_as_plus: bool,
    pub(super) lower_case: bool,
}

impl Values {
    /// Returns the bytes to sign. They are wiped on drop: a value may be a card number.
    pub(super) fn apply(self, value: &str) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(match self {
            Self::AsIs => value.as_bytes().to_vec(),
            Self::Encoded(encoding) => encoding.encode(value),
            Self::Decoded => decode(value.as_bytes()),
            Self::Trimmed => value.trim().as_bytes().to_vec(),
            Self::Latin1 => latin1(value),
        })
    }
}

impl UrlEncoding {
    fn encode(self, value: &str) -> Vec<u8> {
        let digits = if self.lower_case { b"0123456789abcdef" } else { b"0123456789ABCDEF" };
        let mut encoded = Vec::with_capacity(3 * value.len());
        for byte in value.bytes() {
            if byte.is_ascii_alphanumeric() || self.kept.contains(&byte) {
                encoded.push(byte);
            } else if byte == b' ' && self.blank_as_plus {
                encoded.push(b'+');
            } else {
                encoded.extend([b'%', digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
            }
        }
        encoded
    }
}

fn decode(mut value: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(value.len());
    while let [first, rest @ ..] = value {
        value = rest;
        decoded.push(match (first, rest) {
            (b'+', _) => b' ',
            (b'%', [high, low, after @ ..]) if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                value = after;
                digit(*high) << 4 | digit(*low)
            }
            _ => *first,
        });
    }
    decoded
}

/// Returns the value of a hexadecimal digit.
fn digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase() - b'a' + 10,
    }
}

fn latin1(value: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len());
    for c in value.chars() {
        match u8::try_from(c) {
            Ok(byte) => bytes.push(byte),
            Err(_) => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::{UrlEncoding, Values};

    fn applied(values: Values, value: &str) -> alloc::string::String {
        alloc::string::String::from_utf8_lossy(&values.apply(value)).into_owned()
    }

    #[test]
    fn encodes() {
        let percent = UrlEncoding { kept: b"-._~", blank_as_plus: false, lower_case: false };
        assert_eq!(applied(Values::Encoded(percent), "a b/é~"), "a%20b%2F%C3%A9~");
        let form = UrlEncoding { kept: b"-._", blank_as_plus: true, lower_case: true };
        assert_eq!(applied(Values::Encoded(form), "a b/+~"), "a+b%2f%2b%7e");
    }

    #[test]
    fn decodes() {
        assert_eq!(applied(Values::Decoded, "a+b%2f%C3%a9%"), "a b/é%");
        assert_eq!(applied(Values::Decoded, "100%zz%4"), "100%zz%4");
    }

    #[test]
    fn trims_and_narrows() {
        assert_eq!(applied(Values::Trimmed, " a\n"), "a");
        assert_eq!(*Values::Latin1.apply("é€"), [0xe9, 0xe2, 0x82, 0xac]);
    }
}
