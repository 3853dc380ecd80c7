//! When a card expires (A10).

use crate::timestamp::Timestamp;

/// Returns a year of four digits: a year of two digits is in this century. Any other text is unchanged.
pub(crate) fn four_digits(year: &str) -> String {
    if year.len() == 2 { format!("20{year}") } else { year.to_owned() }
}

/// Whether a card is past its expiry: it is valid until the last day of its month, in UTC. The year has
/// four digits; an invalid date counts as past.
pub(crate) fn is_past(month: &str, year: &str, now: Timestamp) -> bool {
    match (year.parse(), month.parse()) {
        (Ok(year), Ok(month)) => (year, month) < now.year_and_month(),
        _ => true,
    }
}

/// The maximum number of years until a card's expiry on the payment page (A180).
const FURTHEST: u16 = 50;

/// Whether a year of four digits is later than any card's, so that it is probably a typo.
pub(crate) fn is_far_ahead(year: &str, now: Timestamp) -> bool {
    year.parse::<u16>().is_ok_and(|year| year > now.year_and_month().0.saturating_add(FURTHEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_good_to_the_end_of_its_month() {
        let last = Timestamp::parse("2026-05-31T23:59:59.999Z").unwrap();
        let next = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
        assert!(!is_past("05", &four_digits("26"), last));
        assert!(is_past("05", "2026", next));
        assert!(!is_past("01", "2027", next));
        assert!(is_past("x", "2027", next));
    }
}
