//! The answer of the simulated card schemes for a card (spec 1 §2.4; A73).

use pg_model::CardRetrievalCode;

use crate::{
    cards::{self, Scenario, Scheme},
    timestamp::Timestamp,
};

/// The card that the schemes have on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NewCard {
    pub(super) number: String,
    /// Two digits.
    pub(super) expiry_month: String,
    /// Four digits.
    pub(super) expiry_year: String,
}

/// Returns the answer of the schemes if none is configured.
pub(super) fn usual(number: &str) -> CardRetrievalCode {
    match Scenario::of(number) {
        Scenario::Updater700A | Scenario::Updater700B => CardRetrievalCode::ACCOUNT_NUMBER_UPDATED,
        Scenario::Updater702 => CardRetrievalCode::EXPIRY_CHANGED,
        _ => CardRetrievalCode::UNCHANGED,
    }
}

/// Returns the new card that comes with an answer, if one does (A74).
pub(super) fn new_card(response: &str, number: &str, (month, year): (&str, &str), now: Timestamp) -> Option<NewCard> {
    let (later_month, later_year) = one_month_later(month, year, now);
    let card = |number: String, month: &str, year: &str| NewCard {
        number,
        expiry_month: month.to_owned(),
        expiry_year: year.to_owned(),
    };
    Some(match response {
        "700" => card(other_number(number), month, year),
        "702" => card(number.to_owned(), &later_month, &later_year),
        "707" => card(other_number(number), &later_month, &later_year),
        "712" => card(of_other_scheme(number), month, year),
        _ => return None,
    })
}

/// December becomes January of the next year. An incomplete expiry, and the last one with a year of four digits, become
/// the month after the current one (A73).
fn one_month_later(month: &str, year: &str, now: Timestamp) -> (String, String) {
    let (year, month) = match (year.parse::<u16>(), month.parse::<u8>()) {
        (Ok(year @ ..=9999), Ok(month @ 1..=12)) if (year, month) != (9999, 12) => (year, month),
        _ => now.year_and_month(),
    };
    let (year, month) = if month < 12 { (year, month + 1) } else { (year + 1, 1) };
    (format!("{month:02}"), format!("{year:04}"))
}

/// Returns a new number: each card of the pair gets the other's number; any other card gets the next valid number of
/// its bank.
fn other_number(number: &str) -> String {
    let wanted = match Scenario::of(number) {
        Scenario::Updater700A => Scenario::Updater700B,
        Scenario::Updater700B => Scenario::Updater700A,
        _ => return next_number(number),
    };
    let pair = cards::CARDS.iter().find(|card| card.scenario == wanted);
    pair.map_or_else(|| next_number(number), |card| card.number.to_owned())
}

/// Returns the number with the digits between the bank's six and the check digit counted up by one.
fn next_number(number: &str) -> String {
    let mut digits: Vec<u8> = number.bytes().take(number.len().saturating_sub(1)).collect();
    for digit in digits.iter_mut().skip(6).rev() {
        if *digit == b'9' {
            *digit = b'0';
        } else {
            *digit += 1;
            break;
        }
    }
    with_check_digit(&digits)
}

/// Returns a number of 16 digits with the same ending, in the range of another scheme: Mastercard for a Visa card, Visa
/// for any other.
fn of_other_scheme(number: &str) -> String {
    let bank = if Scheme::of(number) == Some(Scheme::Visa) { "520000" } else { "400000" };
    let account = number.len().saturating_sub(10);
    let kept = number.bytes().skip(account).take(9);
    let digits: Vec<u8> = bank.bytes().chain(kept).collect();
    with_check_digit(&digits)
}

fn with_check_digit(digits: &[u8]) -> String {
    let start: String = digits.iter().map(|&digit| char::from(digit)).collect();
    let candidates = (0..10).map(|digit| format!("{start}{digit}"));
    // Exactly one of ten digits is the valid check digit.
    candidates.into_iter().find(|number| cards::luhn_valid(number)).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "4000000000008005";
    const B: &str = "4000000000009003";
    const MONTH: &str = "4000000000010001";
    const ANY: &str = "4111111111111111";

    fn now() -> Timestamp {
        Timestamp::parse("2026-12-31T23:00:00Z").unwrap()
    }

    fn told(response: &str, number: &str, expiry: (&str, &str)) -> String {
        new_card(response, number, expiry, now())
            .map(|card| format!("{} {}/{}", card.number, card.expiry_month, card.expiry_year))
            .unwrap_or_default()
    }

    // spec: 1 §2.4
    #[test]
    fn the_simulator_swaps_two_cards_and_moves_one_by_a_month() {
        for (number, code) in [(A, "700"), (B, "700"), (MONTH, "702"), (ANY, "706"), ("4000000000001000", "706")] {
            assert_eq!(usual(number).as_str(), code, "{number}");
        }
        assert_eq!(told("700", A, ("05", "2030")), format!("{B} 05/2030"));
        assert_eq!(told("700", B, ("05", "2030")), format!("{A} 05/2030"));
        assert_eq!(told("702", MONTH, ("05", "2030")), format!("{MONTH} 06/2030"));
        assert_eq!(told("702", MONTH, ("12", "2029")), format!("{MONTH} 01/2030"));
    }

    // spec: 1 §2.3, 1 §2.4, A73: 702 says that the expiry has changed. A year has four digits (spec 1 §2.1), and an update
    // may clear a month or a year (spec 1 §4.6).
    #[test]
    fn an_expiry_without_a_later_month_becomes_the_next_month() {
        for expiry in [("12", "9999"), ("", ""), ("", "2040"), ("05", ""), ("13", "2040"), ("05", "12345")] {
            assert_eq!(told("702", MONTH, expiry), format!("{MONTH} 01/2027"), "{expiry:?}");
            assert_eq!(told("707", ANY, expiry), "4111111111111129 01/2027", "{expiry:?}");
        }
        assert_eq!(told("702", MONTH, ("11", "9999")), format!("{MONTH} 12/9999"));
    }

    // spec: 1 §2.3, A74
    #[test]
    fn updated_cards_are_valid_and_others_have_none() {
        assert_eq!(told("700", ANY, ("05", "2030")), "4111111111111129 05/2030");
        assert_eq!(told("707", "4111119999999999", ("12", "2030")), "4111110000000005 01/2031");
        for (number, scheme) in
            [(ANY, Scheme::Mastercard), ("340000000001007", Scheme::Visa), ("6799990000000001001", Scheme::Visa)]
        {
            let flipped = new_card("712", number, ("05", "2030"), now()).unwrap().number;
            assert_eq!(Scheme::of(&flipped), Some(scheme), "{flipped}");
            assert!(cards::luhn_valid(&flipped) && flipped.len() == 16, "{flipped}");
        }
        for code in ["701", "703", "704", "705", "706", "708", "709", "710", "711", "713", ""] {
            assert_eq!(told(code, ANY, ("05", "2030")), "", "{code}");
        }
    }
}
