//! Exact amounts: whole minor units in version 3, decimals in version 5, never a float.

use alloc::{borrow::Cow, format, string::String};
use core::fmt;

use crate::{Currency, text::text_traits};

/// A sum of money: a whole number of the currency's smallest unit.
///
/// ```
/// use pg_model::{Amount, Currency};
/// let tea = Amount::new(499, Currency::GBP);
/// let total = tea.times(2).and_then(|two| two.plus(&Amount::new(100, Currency::GBP)));
/// assert_eq!(total.map(|t| t.to_decimal().to_string()).as_deref(), Some("10.98"));
/// assert_eq!(Amount::new(500, Currency::JPY).to_decimal().as_str(), "500");
/// assert_eq!(Amount::parse("1.234", &Currency::BHD)?.minor(), 1234);
/// # Ok::<(), pg_model::AmountError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Amount {
    minor: u64,
    currency: Currency,
}

/// An amount as version 5 writes it: units of the currency with a decimal point, such as `5.95` (spec 3 §2).
///
/// Any text; [`Amount::parse`] converts it to an amount of a currency.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Decimal(String);

text_traits!(Decimal);

impl From<Cow<'_, str>> for Decimal {
    fn from(text: Cow<'_, str>) -> Self {
        Self(text.into_owned())
    }
}

impl From<Amount> for Decimal {
    fn from(amount: Amount) -> Self {
        amount.to_decimal()
    }
}

impl Currency {
    /// Decimals of the currency, whatever the letter case of its code; two for a currency that ISO 4217 does not list.
    #[must_use]
    pub fn decimals(&self) -> u8 {
        let capitals = || Self::from(self.as_str().to_ascii_uppercase()).exponent();
        self.exponent().or_else(capitals).unwrap_or(2)
    }
}

/// Why a text is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AmountError {
    /// The text is not digits with at most one point between them.
    #[error("an amount is digits with at most one decimal point between them, such as 5.95")]
    NotDecimal,
    /// The text has more decimals than the currency.
    #[error("the amount has more decimals than its currency, which has {0}")]
    TooPrecise(u8),
    /// The text names no currency.
    #[error("an amount with its currency is a decimal, a space and the currency, such as 5.95 GBP")]
    NoCurrency,
    /// The amount exceeds 64 bits of minor units.
    #[error("the amount is too large")]
    TooLarge,
}

impl Amount {
    /// Creates an amount of `minor` units of the currency's smallest unit.
    #[must_use]
    pub fn new(minor: u64, currency: Currency) -> Self {
        Self { minor, currency }
    }

    /// Parses a decimal in units of the currency. Missing decimals are zero: `5` is `5.00`.
    ///
    /// A currency that is not in ISO 4217 counts as having two decimals.
    ///
    /// # Errors
    /// If the text is not a decimal, has more decimals than the currency, or is too large.
    pub fn parse(text: &str, currency: &Currency) -> Result<Self, AmountError> {
        let decimals = currency.decimals();
        let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !fraction.is_none_or(digits) {
            return Err(AmountError::NotDecimal);
        }
        let fraction = fraction.unwrap_or_default();
        let (kept, beyond) = fraction.split_at(fraction.len().min(usize::from(decimals)));
        if beyond.bytes().any(|b| b != b'0') {
            return Err(AmountError::TooPrecise(decimals));
        }
        let missing = usize::from(decimals) - kept.len();
        let minor = whole
            .bytes()
            .chain(kept.bytes())
            .chain(core::iter::repeat_n(b'0', missing))
            .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
            .ok_or(AmountError::TooLarge)?;
        Ok(Self::new(minor, currency.clone()))
    }

    /// Parses a value with the separators of its currency, `1,000.00` or `1.000,00`, as version 5 writes it (spec 3 §4.8). It
    /// must have all decimals of its currency, since otherwise it could mean several amounts.
    ///
    /// # Errors
    /// If the text is not such a value, or is too large.
    pub fn parse_grouped(text: &str, currency: &Currency) -> Result<Self, AmountError> {
        let (text, decimals) = (text.trim(), usize::from(currency.decimals()));
        let cut = || {
            let (whole, fraction) = text.split_at_checked(text.len().checked_sub(decimals + 1)?)?;
            Some((whole, fraction.strip_prefix(['.', ','])?))
        };
        let (whole, fraction) = if decimals == 0 { (text, "") } else { cut().ok_or(AmountError::NotDecimal)? };
        let mut groups = whole.split(['.', ',', '\'', ' ']);
        let first = groups.next().filter(|first| !first.is_empty()).ok_or(AmountError::NotDecimal)?;
        let mut digits = String::from(first);
        for group in groups {
            if group.len() != 3 || first.len() > 3 {
                return Err(AmountError::NotDecimal);
            }
            digits.push_str(group);
        }
        digits.push_str(fraction);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(AmountError::NotDecimal);
        }
        let minor = digits.parse().map_err(|_| AmountError::TooLarge)?;
        Ok(Self::new(minor, currency.clone()))
    }

    /// Returns the amount in minor units.
    #[must_use]
    pub const fn minor(&self) -> u64 {
        self.minor
    }

    /// Returns the currency.
    #[must_use]
    pub const fn currency(&self) -> &Currency {
        &self.currency
    }

    /// Returns the amount in units of the currency, with all its decimals: `5.95`, `500` (JPY), `1.234` (BHD).
    #[must_use]
    pub fn to_decimal(&self) -> Decimal {
        let decimals = usize::from(self.currency.decimals());
        if decimals == 0 {
            return Decimal(format!("{}", self.minor));
        }
        let digits = format!("{:0>width$}", self.minor, width = decimals + 1);
        let (whole, fraction) = digits.split_at(digits.len() - decimals);
        Decimal(format!("{whole}.{fraction}"))
    }

    /// Returns the sum; `None` if the currencies differ or the sum is too large.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        let minor = (self.currency == other.currency).then(|| self.minor.checked_add(other.minor)).flatten()?;
        Some(Self::new(minor, self.currency.clone()))
    }

    /// Returns the product of the amount and a count; `None` if the product is too large.
    #[must_use]
    pub fn times(&self, quantity: u64) -> Option<Self> {
        Some(Self::new(self.minor.checked_mul(quantity)?, self.currency.clone()))
    }
}

/// Parses the output of `Display`: `5.95 GBP`.
impl core::str::FromStr for Amount {
    type Err = AmountError;

    fn from_str(text: &str) -> Result<Self, AmountError> {
        let (decimal, currency) = text.split_once(' ').ok_or(AmountError::NoCurrency)?;
        if currency.len() != 3 || !currency.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(AmountError::NoCurrency);
        }
        Self::parse(decimal, &Currency::from(currency))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.to_decimal(), self.currency)
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    // spec: 2 §4.3, A19; 3 §2, A13
    #[test]
    fn decimals_follow_the_currency() {
        for (text, currency, minor, written) in [
            ("5.95", Currency::GBP, 595, "5.95"),
            ("5", Currency::GBP, 500, "5.00"),
            ("0.95", Currency::GBP, 95, "0.95"),
            ("5.0", Currency::JPY, 5, "5"),
            ("0.001", Currency::BHD, 1, "0.001"),
            ("5.9500", Currency::GBP, 595, "5.95"),
            // The letter case of a code does not change the amount of money.
            ("500", "jpy".into(), 500, "500"),
            ("1.234", "Bhd".into(), 1234, "1.234"),
            ("5.95", "é".into(), 595, "5.95"),
        ] {
            let amount = Amount::parse(text, &currency).expect("an amount");
            assert_eq!((amount.minor(), amount.to_decimal().to_string().as_str()), (minor, written), "{text}");
        }
    }

    #[test]
    fn invalid_amounts_are_refused() {
        for (text, error) in [
            ("5.951", AmountError::TooPrecise(2)),
            ("", AmountError::NotDecimal),
            (".5", AmountError::NotDecimal),
            ("5.", AmountError::NotDecimal),
            ("-5", AmountError::NotDecimal),
            ("1e3", AmountError::NotDecimal),
            ("184467440737095517", AmountError::TooLarge),
        ] {
            assert_eq!(Amount::parse(text, &Currency::GBP), Err(error), "{text:?}");
        }
    }

    #[test]
    fn a_displayed_amount_parses() {
        for amount in [Amount::new(595, Currency::GBP), Amount::new(7, Currency::JPY), Amount::new(1, Currency::BHD)] {
            assert_eq!(amount.to_string().parse(), Ok(amount));
        }
        for text in ["5.95", "5.95 gbp", "5.95 POUNDS", "5.95GBP", ""] {
            assert_eq!(text.parse::<Amount>(), Err(AmountError::NoCurrency), "{text:?}");
        }
        assert_eq!("x GBP".parse::<Amount>(), Err(AmountError::NotDecimal));
    }

    // spec: 2 §4.3
    #[test]
    fn sums_are_checked() {
        let most = Amount::new(u64::MAX, Currency::GBP);
        assert_eq!(most.plus(&Amount::new(1, Currency::GBP)), None);
        assert_eq!(most.times(2), None);
        assert_eq!(Amount::new(1, Currency::GBP).plus(&Amount::new(1, Currency::USD)), None);
    }
}
