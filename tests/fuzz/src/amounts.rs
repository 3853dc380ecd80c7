//! Compares amounts with 128-bit arithmetic.

use pg_model::{Amount, Currency};

use crate::dice::Dice;

/// Reads and writes any amount.
pub fn amount(input: &[u8]) {
    let mut dice = Dice::new(input);
    let currency = match dice.below(5) {
        0 => Currency::GBP,
        1 => Currency::JPY,
        2 => Currency::BHD,
        3 => Currency::from("XYZ"),
        _ => Currency::from(dice.text(4)),
    };
    let (minor, more, times) = (dice.number(), dice.number(), dice.number());
    let amount = Amount::new(minor, currency.clone());
    let written = amount.to_decimal();
    assert_eq!(Amount::parse(written.as_str(), &currency).unwrap(), amount);
    assert_eq!(Amount::parse_grouped(written.as_str(), &currency).unwrap(), amount);
    let sum = amount.plus(&Amount::new(more, currency.clone())).map(|sum| sum.minor());
    assert_eq!(sum, minor.checked_add(more));
    assert_eq!(amount.times(times).map(|product| product.minor()), minor.checked_mul(times));
    if let Ok(read) = amount.to_string().parse::<Amount>() {
        assert_eq!(read, amount);
    }
    let text = String::from_utf8_lossy(dice.rest()).into_owned();
    if let Ok(read) = Amount::parse(&text, &currency) {
        assert_eq!(Some(u128::from(read.minor())), worth(&text, u32::from(currency.decimals())), "{text:?}");
        assert_eq!(Amount::parse(read.to_decimal().as_str(), &currency).unwrap(), read);
    }
    if let Ok(read) = Amount::parse_grouped(&text, &currency) {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(digits.parse::<u128>().unwrap(), u128::from(read.minor()), "{text:?}");
    }
    drop(text.parse::<Amount>());
}

/// The value of a decimal in the smallest unit, if it needs no rounding.
fn worth(text: &str, decimals: u32) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let missing = decimals.checked_sub(u32::try_from(fraction.len()).ok()?)?;
    format!("{whole}{fraction}").parse::<u128>().ok()?.checked_mul(10_u128.pow(missing))
}
