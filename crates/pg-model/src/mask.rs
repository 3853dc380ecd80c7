//! Masking: what may be shown of a card number, and how to find one in text of unknown content.

use alloc::{borrow::ToOwned, string::String, vec::Vec};
use core::ops::Range;

/// Digits that a masked card number shows at its start (spec 2 §2.2).
const SHOWN_FIRST: usize = 6;
/// Digits that a masked card number shows at its end (spec 2 §2.2).
const SHOWN_LAST: usize = 4;
/// The shortest and longest card numbers that the service takes (spec 2 §8).
const CARD_NUMBER_DIGITS: core::ops::RangeInclusive<usize> = 12..=19;

/// A card number with its first six and last four characters; everything between is `*`.
///
/// A text too short to hide anything in that way becomes all `*`.
///
/// ```
/// assert_eq!(pg_model::mask::card_number("4111111111111111"), "411111******1111");
/// assert_eq!(pg_model::mask::card_number("12345"), "*****");
/// ```
#[must_use]
pub fn card_number(number: &str) -> String {
    let length = number.chars().count();
    let hides = length >= *CARD_NUMBER_DIGITS.start();
    number
        .chars()
        .enumerate()
        .map(|(at, c)| if hides && (at < SHOWN_FIRST || at + SHOWN_LAST >= length) { c } else { '*' })
        .collect()
}

/// A text in which every run of 12 digits and more, also when grouped by single blanks or hyphens, is masked like a
/// card number; and so is a number whose check digit is right when other signs group it, always the same. Used wherever
/// text of unknown content could reach a person: error excerpts, logs, journals.
///
/// ```
/// assert_eq!(pg_model::mask::text("pan=4111 1111 1111 1111;"), "pan=4111 11** **** 1111;");
/// assert_eq!(pg_model::mask::text("pan=4111.1111.1111.1111;"), "pan=4111.11**.****.1111;");
/// assert_eq!(pg_model::mask::text("order 12345"), "order 12345");
/// ```
#[must_use]
pub fn text(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at].is_ascii_digit() {
            let run = digit_run(&bytes, at);
            let end = run.last().map_or(at, |last| last + 1);
            if run.len() >= *CARD_NUMBER_DIGITS.start() {
                hide_middle(&mut bytes, &run);
            }
            at = end;
        } else {
            at += 1;
        }
    }
    hide_grouped(&mut bytes);
    // Only ASCII digits were replaced, by an ASCII byte, so the text is still UTF-8.
    String::from_utf8(bytes).unwrap_or_else(|_| "*".to_owned())
}

/// Where the digits stand that begin at `start` and go on across single blanks and hyphens.
fn digit_run(bytes: &[u8], start: usize) -> Vec<usize> {
    let mut run = Vec::new();
    let mut at = start;
    while at < bytes.len() {
        if bytes[at].is_ascii_digit() {
            run.push(at);
        } else if !(matches!(bytes[at], b' ' | b'-') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit)) {
            break;
        }
        at += 1;
    }
    run
}

/// The fewest digits of a group, but for the last one of a number.
const GROUP_DIGITS: usize = 4;
/// The most bytes between two groups.
const BETWEEN: usize = 8;

/// Hides numbers whose groups stand apart by something else than a blank or a hyphen. Dates, lists and versions look like
/// that too, so the check digit decides.
fn hide_grouped(bytes: &mut [u8]) {
    let groups = digit_groups(bytes);
    // Numbers may overlap in a row of groups: all are looked for before any is hidden.
    let mut numbers: Vec<Vec<usize>> = Vec::new();
    for first in 0..groups.len() {
        let mut run: Vec<usize> = groups[first].clone().collect();
        let mut apart = None;
        for pair in groups[first..].windows(2) {
            let between = &bytes[pair[0].end..pair[1].start];
            let strange = between.len() > BETWEEN || between.iter().any(|b| b.is_ascii_alphanumeric() || *b == b'*');
            if strange || pair[0].len() < GROUP_DIGITS || *apart.get_or_insert(between) != between {
                break;
            }
            run.extend(pair[1].clone());
            if run.len() > *CARD_NUMBER_DIGITS.end() {
                break;
            }
            if run.len() >= *CARD_NUMBER_DIGITS.start() && has_check_digit(bytes, &run) {
                numbers.push(run.clone());
            }
        }
    }
    for number in numbers {
        hide_middle(bytes, &number);
    }
}

/// Where digits stand side by side.
fn digit_groups(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match groups.last_mut() {
            Some(group) if group.end == at => group.end += 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// Whether the last digit is the one that the others ask for (Luhn).
fn has_check_digit(bytes: &[u8], run: &[usize]) -> bool {
    let digits = run.iter().rev().map(|at| u32::from(bytes[*at] - b'0'));
    let weighed =
        digits.enumerate().map(|(place, digit)| if place % 2 == 0 { digit } else { digit * 2 % 10 + digit / 5 });
    weighed.sum::<u32>().is_multiple_of(10)
}

fn hide_middle(bytes: &mut [u8], run: &[usize]) {
    for &at in &run[SHOWN_FIRST..run.len() - SHOWN_LAST] {
        bytes[at] = b'*';
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_card_number_shows_six_and_four() {
        assert_eq!(card_number("411111111111"), "411111**1111");
        assert_eq!(card_number("6304000000000000000"), "630400*********0000");
        assert_eq!(card_number(""), "");
    }

    #[test]
    fn text_hides_every_card_number_and_nothing_else() {
        assert_eq!(text("<cardNumber>4111111111111111</cardNumber>"), "<cardNumber>411111******1111</cardNumber>");
        assert_eq!(text("4111-1111-1111-1111, 5555555555554444"), "4111-11**-****-1111, 555555******4444");
        assert_eq!(text("2026-11-21 10:00 é 123"), "2026-11-21 10:00 é 123");
    }

    #[test]
    fn a_number_in_groups_is_hidden_whatever_stands_between_them() {
        for (shown, hidden) in [
            ("4111.1111.1111.1111", "4111.11**.****.1111"),
            ("4111+1111+1111+1111", "4111+11**+****+1111"),
            ("no 4111/1111/1111/1111/917.", "no 4111/11**/****/1111/917."),
            ("4111\u{a0}1111\u{a0}1111\u{a0}1111", "4111\u{a0}11**\u{a0}****\u{a0}1111"),
            ("4111  1111  1111  1111", "4111  11**  ****  1111"),
            ("4111 – 1111 – 1111 – 1111", "4111 – 11** – **** – 1111"),
            ("[\"4111\",\"1111\",\"1111\",\"1111\"]", "[\"4111\",\"11**\",\"****\",\"1111\"]"),
            ("3782_822463_10005", "3782_82****_*0005"),
            ("7 4111.1111.1111.1111", "7 4111.11**.****.1111"),
            ("1234.4111.1111.1111.1111", "1234.4111.11**.****.1111"),
        ] {
            assert_eq!(text(shown), hidden);
        }
        for other in
            ["2026/11/21 10:00:00.000", "10.20.30.40:8480", "1000,2000,3001", "4111.1111/1111.1111", "1e9999.9999"]
        {
            assert_eq!(text(other), other);
        }
    }

    #[test]
    fn a_longer_run_is_hidden_too() {
        assert_eq!(text("00004111111111111111"), "000041**********1111");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_text_is_as_long_as_before_and_shows_no_number(
            before in "(\\PC{0,20}|[0-9a-z.,/ -]{0,20})[^0-9]",
            between in "[^0-9A-Za-z*]{0,2}",
            after in "([^0-9]\\PC{0,20})?",
        ) {
            let number = ["4111", "1111", "1111", "1111"].join(&between);
            let shown = text(&format!("{before}{number}{after}"));
            prop_assert!(!shown.contains(&number), "{}", shown);
            prop_assert_eq!(shown.chars().count(), before.chars().count() + number.chars().count() + after.chars().count());
        }
    }
}
