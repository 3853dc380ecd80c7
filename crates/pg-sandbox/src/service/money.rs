//! Amounts as people read them.

use pg_model::{Amount, Currency};

/// Currencies that put a point between thousands and a comma before decimals, as most of the
/// countries that use them do (assumption 125).
const COMMA_BEFORE_DECIMALS: &[&str] = &[
    "ARS", "AZN", "BAM", "BRL", "CLP", "COP", "CRC", "DKK", "EUR", "IDR", "ISK", "MKD", "PYG", "RON", "RSD", "TRY",
    "UYU", "VES", "VND",
];

/// Minor units with all decimals and the separators of their currency: `1,000.00`, `1.000,00`
/// (spec 3 §4.8).
pub(super) fn separated(minor: u64, currency: &str) -> String {
    let plain = Amount::new(minor, Currency::from(currency)).to_decimal().to_string();
    let (thousands, decimals) = if COMMA_BEFORE_DECIMALS.contains(&currency) { ('.', ',') } else { (',', '.') };
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

/// An amount with its currency in front, as every page shows it: `GBP 1,000.00` on one line.
pub(super) fn with_currency(minor: u64, currency: &str) -> String {
    format!("{currency}\u{a0}{}", separated(minor, currency))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_currency_comes_first() {
        assert_eq!(with_currency(1_190, "GBP"), "GBP\u{a0}11.90");
        assert_eq!(with_currency(100_000, "JPY"), "JPY\u{a0}100,000");
    }

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
        ] {
            assert_eq!(separated(minor, currency), wanted);
        }
    }
}
