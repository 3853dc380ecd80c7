//! What of a parameter may be shown: never a card number, a CV2, a password or a key.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt::{self, Write};

/// Stands for a value of which nothing is shown, not even its length.
const HIDDEN: &str = "****";

/// Stands for the key wherever its text appears.
pub(super) const KEY_MARK: &str = "‹shaKey›";

/// Parameters of which nothing is shown, in lower case and without underscores (version 5 writes `api_key`).
const SECRET: &[&str] = &[
    "apikey",
    "apipassword",
    "accountupdaterkey",
    "shakey",
    "mccaccountidentifier",
    "mccdateofbirth",
    "mccpostcode",
    "mccsurname",
];

/// Parts of names of which nothing is shown, however the rest is spelt.
const SECRET_PARTS: &[&str] = &["cv2", "cvv", "cvc", "password", "secret"];

/// The value as it may be shown.
pub(super) fn value(name: &str, value: &str, key: &str) -> String {
    let plain_name: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let secret = SECRET.contains(&&*plain_name) || SECRET_PARTS.iter().any(|part| plain_name.contains(part));
    if value.is_empty() {
        String::new()
    } else if secret {
        HIDDEN.to_owned()
    } else if plain_name.contains("cardnumber") {
        if (12..=19).contains(&value.len()) && is_digits(value) {
            first_six_last_four(value)
        } else {
            HIDDEN.to_owned()
        }
    } else {
        text(value, key)
    }
}

/// Any text as it may be shown: without the key, and without digits that could be a card number.
pub(super) fn text(text: &str, key: &str) -> String {
    let without_key = if key.is_empty() { text.to_owned() } else { text.replace(key, KEY_MARK) };
    let mut shown = String::with_capacity(without_key.len());
    let mut rest = &*without_key;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from_digit) = rest.split_at(start);
        let end = from_digit.find(|c: char| !c.is_ascii_digit()).unwrap_or(from_digit.len());
        let (digits, after) = from_digit.split_at(end);
        shown.push_str(before);
        if may_be_card_number(digits) {
            shown.push_str(&first_six_last_four(digits));
        } else {
            shown.push_str(digits);
        }
        rest = after;
    }
    shown + rest
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

fn first_six_last_four(digits: &str) -> String {
    digits.char_indices().map(|(at, digit)| if at < 6 || at + 4 >= digits.len() { digit } else { '*' }).collect()
}

/// 12 to 19 digits (spec 2 §4.2) with a right check digit.
fn may_be_card_number(digits: &str) -> bool {
    let luhn: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let digit = u32::from(digit - b'0');
            if at % 2 == 0 { digit } else { 2 * digit / 10 + 2 * digit % 10 }
        })
        .sum();
    (12..=19).contains(&digits.len()) && luhn.is_multiple_of(10)
}

/// Text in which control characters are spelt out, so that a value cannot play tricks on a terminal.
pub(super) struct Printable<'a>(pub(super) &'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((at, control)) = rest.char_indices().find(|(_, c)| c.is_control()) {
            f.write_str(&rest[..at])?;
            control.escape_default().try_for_each(|c| f.write_char(c))?;
            rest = &rest[at + control.len_utf8()..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

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
    fn secrets_show_nothing() {
        for name in ["apiKey", "api_key", "apiPassword", "APIPASSWORD", "cardCV2", "CVV", "mccDateOfBirth"] {
            assert_eq!(value(name, "123", KEY), "****", "{name}");
        }
        assert_eq!(value("itemName0", "a canary-key b", KEY), "a ‹shaKey› b");
        assert_eq!(value("cardExpiryMonth", "12", KEY), "12");
    }

    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(format!("{}", Printable("a\u{1b}[2J\né")), "a\\u{1b}[2J\\né");
    }
}
