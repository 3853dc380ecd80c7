//! Card numbers encoded as Base64.

use alloc::{borrow::Cow, string::String};

/// The shortest and longest Base64 of a card number: 12 digits, and 19 with a space or a hyphen between any two and a
/// line break behind.
const LENGTHS: core::ops::RangeInclusive<usize> = 16..=56;

/// Whether a text may contain such a word. The Base64 of a digit starts with one of three letters.
pub(super) fn may_hold(bytes: &[u8]) -> bool {
    let mut word = 0;
    let mut first = b' ';
    for &byte in bytes {
        if !is_letter(byte) {
            word = 0;
            continue;
        }
        if word == 0 {
            first = byte;
        }
        word += 1;
        if word == *LENGTHS.start() && matches!(first, b'M' | b'N' | b'O') {
            return true;
        }
    }
    false
}

/// The text with each word that is the Base64 of a card number replaced by as many asterisks.
pub(super) fn hidden(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is_letter(**byte)).count();
        if LENGTHS.contains(&length) && is_number(&bytes[at..at + length]) {
            out.push_str(&text[kept..at]);
            out.extend(core::iter::repeat_n('*', length));
            kept = at + length;
        }
        at += length.max(1);
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

/// A letter of Base64. Digits, spaces and hyphens never become one of the four signs, which separate words here, as `/`
/// does in a URL.
const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Whether a word decodes to 12 to 19 digits, which spaces and hyphens may separate, and nothing else.
fn is_number(word: &[u8]) -> bool {
    let (mut digits, mut bits, mut held) = (0_usize, 0_u32, 0_u32);
    for &letter in word {
        held = (held << 6 | value(letter)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            match held >> bits & 0xff {
                0x30..=0x39 => digits += 1,
                0x20 | 0x2d | 0x0a | 0x0d => {}
                _ => return false,
            }
        }
    }
    super::CARD_NUMBER_DIGITS.contains(&digits)
}

/// The six bits of a letter.
fn value(letter: u8) -> u32 {
    u32::from(match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        _ => letter - b'0' + 52,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_base64_is_hidden_whole() {
        // By `printf 4111111111111111 | base64`, and so on.
        for (text, shown) in [
            ("NDExMTExMTExMTExMTExMQ==", "**********************=="),
            ("pan=NDExMTExMTExMTExMTExMQ, x", "pan=**********************, x"),
            ("NDExMSAxMTExIDExMTEgMTExMQo=", "***************************="),
            ("NDExMTExMTExMTEx", "****************"),
            ("/v3/token/NDExMTExMTExMTExMTExMQ==", "/v3/token/**********************=="),
            ("a-NDExMTExMTExMTEx_b", "a-****************_b"),
        ] {
            assert!(may_hold(text.as_bytes()), "{text}");
            assert_eq!(hidden(text), shown);
        }
        // Eleven digits; a name; a key.
        for other in ["NDExMTExMTExMTE=", "Tm8gbnVtYmVyIGhlcmU=", "0123456789abcdef0123456789ABCDEF", ""] {
            assert_eq!(hidden(other), other);
        }
    }
}
