//! Formats amounts for pages.

use pg_model::{Amount, Currency};

/// Currencies whose amounts have a point between thousands and a comma before decimals, as in most of the countries
/// that use them (A125).
const COMMA_BEFORE_DECIMALS: &[&str] = &[
    "ARS", "AZN", "BAM", "BOB", "BRL", "CLF", "CLP", "COP", "COU", "CRC", "DKK", "EUR", "IDR", "ISK", "MKD", "PYG",
    "RON", "RSD", "TRY", "UYI", "UYU", "UYW", "VES", "VND",
];

/// Currency signs in English (CLDR); other currencies are written by their code.
const SIGNS: &[(&str, &str)] = &[
    ("AUD", "A$"),
    ("BRL", "R$"),
    ("CAD", "CA$"),
    ("CNY", "CN\u{a5}"),
    ("EUR", "\u{20ac}"),
    ("GBP", "\u{a3}"),
    ("HKD", "HK$"),
    ("ILS", "\u{20aa}"),
    ("INR", "\u{20b9}"),
    ("JPY", "\u{a5}"),
    ("KRW", "\u{20a9}"),
    ("MXN", "MX$"),
    ("NZD", "NZ$"),
    ("PHP", "\u{20b1}"),
    ("TWD", "NT$"),
    ("USD", "$"),
    ("VND", "\u{20ab}"),
    ("XCD", "EC$"),
];

/// Returns minor units with all decimals and the separators of their currency: `1,000.00`, `1.000,00` (spec 3 §4.8).
pub(super) fn separated(minor: u64, currency: &str) -> String {
    grouped(minor, currency, if COMMA_BEFORE_DECIMALS.contains(&currency) { ('.', ',') } else { (',', '.') })
}

/// Returns minor units in English notation, which all pages use: `1,000.00` (A182).
pub(super) fn in_english(minor: u64, currency: &str) -> String {
    grouped(minor, currency, (',', '.'))
}

/// Returns an amount with its currency in front, as every page for customers shows it, on one line: `£1,000.00`, or
/// `CHF 1,000.00` where the currency has no sign of its own (A182).
pub(super) fn with_currency(minor: u64, currency: &str) -> String {
    let amount = in_english(minor, currency);
    match SIGNS.iter().find(|(code, _)| *code == currency) {
        Some((_, sign)) => format!("{sign}{amount}"),
        None => format!("{currency}\u{a0}{amount}"),
    }
}

fn grouped(minor: u64, currency: &str, (thousands, decimals): (char, char)) -> String {
    let plain = Amount::new(minor, Currency::from(currency)).to_decimal().to_string();
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    let mut text = String::with_capacity(plain.len() * 2);
    for (place, digit) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(thousands);
        }
        text.push(digit);
    }
    if !fraction.is_empty() {
        text.push(decimals);
        text.push_str(fraction);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 3 §1, A182
    #[test]
    fn pages_write_amounts_as_english_does() {
        // What `new Intl.NumberFormat("en", { style: "currency", currency }).format` gives in Node 20.
        for (minor, currency, wanted) in [
            (3_640, "GBP", "\u{a3}36.40"),
            (123_456_789, "EUR", "\u{20ac}1,234,567.89"),
            (5, "USD", "$0.05"),
            (123_456, "CAD", "CA$1,234.56"),
            (1_234_568, "JPY", "\u{a5}1,234,568"),
            (1_234_568, "KRW", "\u{20a9}1,234,568"),
            (1_234_567_891, "BHD", "BHD\u{a0}1,234,567.891"),
            (50, "KWD", "KWD\u{a0}0.050"),
            (123_456_789, "CHF", "CHF\u{a0}1,234,567.89"),
        ] {
            assert_eq!(with_currency(minor, currency), wanted);
        }
        assert_eq!(in_english(100_000, "EUR"), "1,000.00");
    }

    // spec: 3 §4.8, A125
    #[test]
    fn separators_and_decimals_are_those_of_the_currency() {
        for (minor, currency, wanted) in [
            (100_000, "GBP", "1,000.00"),
            (100_000, "EUR", "1.000,00"),
            (5, "USD", "0.05"),
            (5, "EUR", "0,05"),
            (999, "JPY", "999"),
            (1_234_567, "JPY", "1,234,567"),
            (1_234_567, "BHD", "1,234.567"),
            (999_999_999_999, "GBP", "9,999,999,999.99"),
            (99_999, "GBP", "999.99"),
            // All currencies of a country have its format.
            (12_345_678, "CLP", "12.345.678"),
            (12_345_678, "CLF", "1.234,5678"),
            (12_345_678, "COU", "123.456,78"),
            (12_345_678, "UYI", "12.345.678"),
            (12_345_678, "BOB", "123.456,78"),
        ] {
            assert_eq!(separated(minor, currency), wanted);
        }
    }
}
