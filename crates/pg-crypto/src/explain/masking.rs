//! Masks parameters for display: never a card number, a CV2, a password or a key.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;

mod card_numbers;
mod names;

/// Replaces a hidden value, including its length.
const HIDDEN: &str = "****";

/// Replaces the key in any text.
pub(super) const KEY_MARK: &str = "‹shaKey›";

/// Masks a value.
pub(super) fn value(name: &str, value: &str, key: &str) -> String {
    let plain_name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect();
    let secret = names::CV2.iter().chain(&names::OTHER).any(|word| plain_name.contains(word));
    if value.is_empty() {
        String::new()
    } else if secret {
        HIDDEN.to_owned()
    } else if plain_name.contains("cardnumber") {
        if CARD_NUMBER_DIGITS.contains(&value.len()) && is_digits(value) {
            first_six_last_four(value)
        } else {
            HIDDEN.to_owned()
        }
    } else {
        text(value, key)
    }
}

/// Masks the key in a text, and digits that could be a card number.
pub(super) fn text(text: &str, key: &str) -> String {
    // Comparing the lengths is faster than a search.
    let has_key = !key.is_empty() && key.len() <= text.len();
    let shown = if has_key { text.replace(key, KEY_MARK) } else { text.to_owned() };
    if shown.len() < *CARD_NUMBER_DIGITS.start() {
        return shown;
    }
    card_numbers::hidden(shown)
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn first_six_last_four(digits: &str) -> String {
    digits.char_indices().map(|(at, digit)| if at < 6 || at + 4 >= digits.len() { digit } else { '*' }).collect()
}

/// The possible numbers of digits of a card number (spec 2 §4.2).
const CARD_NUMBER_DIGITS: core::ops::RangeInclusive<usize> = 12..=19;

/// A text with control characters escaped, so that a value cannot control a terminal.
pub(super) struct Printable<'a>(pub(super) &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Control characters are ASCII, or two bytes that start with this one.
        const BEYOND_ASCII: u8 = 0xc2;
        let bytes = self.0.as_bytes();
        if !bytes.iter().any(|byte| byte.is_ascii_control() || *byte == BEYOND_ASCII) {
            return f.write_str(self.0);
        }
        // One call writes the whole text: a call for each character takes several times as long.
        let mut spelt = String::with_capacity(2 * self.0.len());
        let mut plain_from = 0;
        for (at, byte) in bytes.iter().enumerate() {
            let control = match (*byte, bytes.get(at + 1)) {
                (BEYOND_ASCII, Some(next @ 0x80..0xa0)) => *next,
                (byte, _) if byte.is_ascii_control() => byte,
                _ => continue,
            };
            spelt.push_str(&self.0[plain_from..at]);
            plain_from = at + 1 + usize::from(*byte == BEYOND_ASCII);
            spell(control, &mut spelt);
        }
        spelt.push_str(&self.0[plain_from..]);
        f.write_str(&spelt)
    }
}

/// Writes a control character as Rust does: `\n`, `\u{1b}`.
fn spell(control: u8, out: &mut String) {
    match control {
        b'\t' => return out.push_str("\\t"),
        b'\n' => return out.push_str("\\n"),
        b'\r' => return out.push_str("\\r"),
        _ => out.push_str("\\u{"),
    }
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    if control >= 0x10 {
        out.push(digit(control >> 4));
    }
    out.push(digit(control & 0xf));
    out.push('}');
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use alloc::string::String;

    use super::{Printable, text, value};

    const KEY: &str = "canary-key";

    #[test]
    fn card_numbers_show_ten_digits() {
        for name in ["cardNumber", "cardnumber", "card_number", "oldCardNumber"] {
            assert_eq!(value(name, "4111111111111111", KEY), "411111******1111");
        }
        assert_eq!(value("cardNumber", "411111111111", KEY), "411111**1111");
        assert_eq!(value("cardNumber", "4111 1111 1111 1111", KEY), "****");
        assert_eq!(value("cardNumber", "41111111111", KEY), "****");
        assert_eq!(value("cardNumber", "", KEY), "");
    }

    #[test]
    fn card_numbers_are_found_elsewhere() {
        assert_eq!(value("itemName0", "PAN 4111111111111111!", KEY), "PAN 411111******1111!");
        assert_eq!(value("merchantReference", "4111111111111112", KEY), "4111111111111112");
        assert_eq!(text("4000000000000002=é7", KEY), "400000******0002=é7");
    }

    #[test]
    fn card_numbers_in_groups_or_among_other_digits_are_found() {
        for (shown, hidden) in [
            ("PAN 4111 1111 1111 1111!", "PAN 4111 11** **** 1111!"),
            ("4111-1111-1111-1111", "4111-11**-****-1111"),
            ("4111.1111.1111.1111", "4111.11**.****.1111"),
            ("4111  1111 / 1111+1111", "4111  11** / ****+1111"),
            ("3782 822463 10005", "3782 82**** *0005"),
            ("4111%201111%201111%201111", "4111%2011**%20****%201111"),
            ("%34111111111111111", "%3411111******1111"),
            ("7 4111 1111 1111 1111 12", "7 4111 11** **** 1111 12"),
            ("20264111111111111111", "202641**********1111"),
            ("４１１１１１１１１１１１１１１１", "４１１１１１******１１１１"),
            ("4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1", "4 1 1 1 1 1 * * * * * * 1 1 1 1"),
        ] {
            assert_eq!(text(shown, KEY), hidden);
        }
        for other in
            ["4111 1111 1111 1112", "2026-11-21 10:00:00.000", "4111x1111x1111x1111", "%zz 100% 5", "https%3A%2F%2Fé"]
        {
            assert_eq!(text(other, KEY), other);
        }
    }

    #[test]
    fn secrets_show_nothing() {
        for name in [
            "apiKey",
            "api_key",
            "apiPassword",
            "APIPASSWORD",
            "pass",
            "passphrase",
            "cardCV2",
            "CVV",
            "date_of_birth",
            "mccDateOfBirth",
            "mccPostcode",
            "accountUpdaterKey",
        ] {
            assert_eq!(value(name, "123", KEY), "****", "{name}");
        }
        for words in
            [&["api", "key"][..], &["mcc", "surname"], &["security", "code"], &["card", "verification", "value"]]
        {
            for separator in ["", "_", "-", " ", ".", "__"] {
                let name = words.join(separator);
                for name in [name.to_ascii_uppercase(), name] {
                    assert_eq!(value(&name, "123", KEY), "****", "{name}");
                }
            }
        }
        assert_eq!(value("itemName0", "a canary-key b", KEY), "a ‹shaKey› b");
        assert_eq!(value("itemName0", KEY, KEY), "‹shaKey›");
        assert_eq!(value("cardExpiryMonth", "12", KEY), "12");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(format!("{}", Printable("a\u{1b}[2J\né")), "a\\u{1b}[2J\\né");
        for code in (0..0x200).step_by(if cfg!(miri) { 9 } else { 1 }) {
            let letter = char::from_u32(code).unwrap();
            let spelt = if letter.is_control() { letter.escape_default().collect() } else { String::from(letter) };
            assert_eq!(format!("{}", Printable(&format!("x{letter}y\n"))), format!("x{spelt}y\\n"), "{code:x}");
        }
    }
}
