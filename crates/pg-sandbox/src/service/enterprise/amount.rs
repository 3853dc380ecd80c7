//! Decimal amounts of version 5 (spec 3 §2).

use pg_model::{Amount, Currency, Decimal, ErrorCode};

use super::{Refusal, transaction};
use crate::assumed;

/// Returns the minor units of a price, which may be 0; more decimals than the currency has are error 107 (A13).
pub(super) fn price(value: &Decimal, currency: &str) -> Result<u64, Refusal> {
    let parsed = Amount::parse(value.as_str(), &Currency::from(currency));
    parsed.map(|amount| amount.minor()).map_err(|_| invalid(assumed::DECIMAL_AMOUNTS))
}

/// Returns the minor units of a payment, which must not be 0 (A90).
pub(super) fn payable(value: &Decimal, currency: &str) -> Result<u64, Refusal> {
    total(price(value, currency)?)
}

/// Checks that one payment may have this sum (A90).
pub(super) fn total(minor: u64) -> Result<u64, Refusal> {
    if (1..=transaction::MOST).contains(&minor) { Ok(minor) } else { Err(invalid(assumed::AMOUNT_OF_A_PAYMENT)) }
}

/// Creates the refusal with error 107.
pub(super) fn invalid(assumption: u16) -> Refusal {
    Refusal::from(ErrorCode::INVALID_TRANSACTION_VALUE).assuming(assumption)
}

/// Returns minor units as decimal text with all decimals of the currency (A124).
pub(super) fn decimal(minor: u64, currency: &str) -> Decimal {
    Amount::new(minor, Currency::from(currency)).to_decimal()
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: 3 §2, A13: Amounts are decimals in currency units, with as many decimals as the currency has: 5.95, 5,
    //   0.95.
    #[test]
    fn amounts_follow_the_currency() {
        for (text, currency, wanted) in [
            ("5.95", "GBP", Some(595)),
            ("5", "GBP", Some(500)),
            ("5.950", "GBP", Some(595)),
            ("5.951", "GBP", None),
            ("500", "JPY", Some(500)),
            ("500.0", "JPY", Some(500)),
            ("500.5", "JPY", None),
            ("1.234", "BHD", Some(1234)),
            ("1.2345", "BHD", None),
            ("0", "GBP", None),
            ("0.00", "GBP", None),
            ("0.01", "GBP", Some(1)),
            ("9999999999.99", "GBP", Some(transaction::MOST)),
            ("10000000000", "GBP", None),
            ("99999999999999999999", "GBP", None),
        ] {
            assert_eq!(payable(&Decimal::from(text), currency).ok(), wanted, "{text} {currency}");
        }
        assert_eq!(price(&Decimal::from("0"), "GBP").ok(), Some(0));
        assert_eq!(decimal(5, "GBP").as_str(), "0.05");
    }
}
