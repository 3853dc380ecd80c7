//! The card that is to pay, wherever it comes from.

use pg_model::{CardDetails, ErrorCode};

use super::{Context, Refusal};
use crate::{cards, secret::Secret, timestamp::Timestamp};

/// A card in clear, for as long as one request takes.
pub(super) struct PayingCard {
    pub(super) number: Secret,
    /// Two digits.
    pub(super) expiry_month: String,
    /// Four digits.
    pub(super) expiry_year: String,
    /// The token that it was stored under.
    pub(super) card_key: Option<String>,
    /// The customer that it was stored for.
    pub(super) customer_reference: Option<String>,
}

/// Raw card details: the number has to be a valid one (assumption 12) and not past its expiry
/// (assumption 104). The CV2 is not even kept (assumption 101).
pub(super) fn raw(context: &mut Context<'_>, details: &CardDetails) -> Result<PayingCard, Refusal> {
    let number = details.number.expose();
    if !cards::luhn_valid(number) {
        return Err(Refusal::from(ErrorCode::INVALID_CARD_NUMBER).assuming(12));
    }
    let expiry_year = four_digits(&details.expiry_year);
    if is_past(&details.expiry_month, &expiry_year, context.now) {
        return Err(Refusal::from(ErrorCode::INVALID_CARD_EXPIRY).assuming(104));
    }
    context.basis.assume(101);
    Ok(PayingCard {
        number: Secret::new(number),
        expiry_month: details.expiry_month.clone(),
        expiry_year,
        card_key: None,
        customer_reference: None,
    })
}

/// A year of two digits lies in this century (assumption 10).
pub(super) fn four_digits(year: &str) -> String {
    if year.len() == 2 { format!("20{year}") } else { year.to_owned() }
}

/// A card is good to the last day of its month, in UTC (assumption 10).
pub(super) fn is_past(month: &str, year: &str, now: Timestamp) -> bool {
    match (year.parse(), month.parse()) {
        (Ok(year), Ok(month)) => (year, month) < now.year_and_month(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_good_to_the_end_of_its_month() {
        let last = Timestamp::parse("2026-05-31T23:59:59Z").unwrap();
        let next = Timestamp::parse("2026-06-01T00:00:00Z").unwrap();
        assert!(!is_past("05", &four_digits("26"), last));
        assert!(is_past("05", "2026", next));
        assert!(!is_past("01", "2027", next));
        assert!(is_past("x", "2027", next));
    }
}
