//! The amount to pay, and whether a transaction has it.

use pg_model::{Amount, CheckoutItemLine, Currency, GetToken};

/// Returns the sum of the items (assumption A118). A missing quantity and a quantity of 0 count as 1 (spec 3 §4.1).
pub(super) fn total(request: &GetToken) -> Option<Amount> {
    let currency = request.currency.as_ref().filter(|currency| !currency.is_empty())?;
    let lines = request.items.iter().map(|item| {
        let price = Amount::parse(item.price.as_str(), currency).ok()?;
        price.times(item.quantity.unwrap_or(1).max(1))
    });
    let nothing = Amount::new(0, currency.clone());
    let sum = lines.into_iter().try_fold(nothing, |sum, line| sum.plus(&line?))?;
    (sum.minor() > 0).then_some(sum)
}

/// Returns the sum of the items of a token in minor units; `None` if none is listed, or if one cannot be read.
pub(super) fn listed(items: &[CheckoutItemLine], currency: &str) -> Option<u64> {
    let currency = Currency::from(currency);
    let sum = items.iter().try_fold(Amount::new(0, currency.clone()), |sum, item| {
        let quantity = if item.quantity.is_empty() { 1 } else { item.quantity.parse::<u64>().ok()? };
        let price = Amount::parse(item.price.as_str(), &currency).ok()?;
        // A point before more digits may separate thousands.
        let decimals = item.price.as_str().split_once('.').map_or(0, |(_, decimals)| decimals.len());
        if decimals > usize::from(currency.decimals()) {
            return None;
        }
        sum.plus(&price.times(quantity.max(1))?)
    });
    sum.filter(|_| !items.is_empty()).map(|sum| sum.minor())
}

/// Reads a value with the separators of its currency (spec 3 §4.8) as minor units.
pub(super) fn minor(value: &str, currency: &str) -> Option<u64> {
    Amount::parse_grouped(value, &Currency::from(currency)).ok().map(|amount| amount.minor())
}

#[cfg(test)]
mod tests {
    use pg_model::CheckoutItem;

    use super::*;

    #[test]
    fn values_are_read_with_the_separators_of_their_currency() {
        for (value, currency, expected) in [
            ("1,000.00", "GBP", Some(100_000)),
            ("1.000,00", "EUR", Some(100_000)),
            ("0.05", "USD", Some(5)),
            ("9,999,999,999.99", "GBP", Some(999_999_999_999)),
            ("5.95", "GBP", Some(595)),
            ("1000.00", "GBP", Some(100_000)),
            ("999", "JPY", Some(999)),
            ("1,234,567", "JPY", Some(1_234_567)),
            ("1,234.567", "BHD", Some(1_234_567)),
        ] {
            assert_eq!(minor(value, currency), expected, "{value}");
        }
        for (value, currency) in [
            ("", "GBP"),
            ("5", "GBP"),
            ("5.9", "GBP"),
            (".05", "GBP"),
            ("1,00.00", "GBP"),
            ("1000,000.00", "GBP"),
            ("-1.00", "GBP"),
            ("10.00", "JPY"),
            ("é.00", "GBP"),
            ("1.é", "GBP"),
            ("100000", "GBP"),
            ("1000x00", "GBP"),
            ("+1.00", "GBP"),
            ("+1", "JPY"),
        ] {
            assert_eq!(minor(value, currency), None, "{value}");
        }
    }

    #[test]
    fn a_listed_price_that_may_separate_thousands_is_not_read() {
        let of = |price: &str, currency| {
            let line = CheckoutItemLine::default().with(|line| line.price = price.into());
            listed(&[line], currency)
        };
        for (price, currency, expected) in [
            ("4.99", "GBP", Some(499)),
            ("1000", "JPY", Some(1000)),
            ("1.000", "JPY", None),
            ("1.000", "GBP", None),
            ("1,000.00", "GBP", None),
        ] {
            assert_eq!(of(price, currency), expected, "{price} {currency}");
        }
    }

    #[test]
    fn the_total_is_exact_or_there_is_none() {
        let total_of = |items: &[(&'static str, Option<u64>)], currency: &'static str| {
            let mut request = GetToken::new();
            request.currency = Some(currency.into());
            request.items = items
                .iter()
                .map(|&(price, quantity)| {
                    let mut item = CheckoutItem::new("Tea", price);
                    item.quantity = quantity;
                    item
                })
                .collect();
            total(&request).map(|amount| amount.minor())
        };
        assert_eq!(total_of(&[("4.99", Some(2)), ("1", None), ("1", Some(0))], "GBP"), Some(1_198));
        assert_eq!(total_of(&[("500", None)], "JPY"), Some(500));
        for (items, currency) in
            [(&[("4.999", None)][..], "GBP"), (&[], "GBP"), (&[("0", None)], "GBP"), (&[("1", None)], "")]
        {
            assert_eq!(total_of(items, currency), None);
        }
    }
}
