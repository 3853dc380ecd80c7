//! Hides digits that could be a card number: in one run, in groups, or among other digits.

use alloc::{string::String, vec::Vec};
use core::ops::Range;

use super::CARD_NUMBER_DIGITS;

/// Number of characters that may separate two groups of one number.
const SEPARATORS: usize = 3;
/// Number of digits that a masked number shows at its start and at its end (spec 2 §2.2).
const SHOWN: (usize, usize) = (6, 4);

/// A digit, as it is written: `4`, `４`, or `%34`.
struct Digit {
    value: u8,
    at: Range<usize>,
    hidden: bool,
}

/// A run of digits, as a range of the digits of the text.
struct Group {
    digits: Range<usize>,
    /// Whether only few separators stand before it.
    continues: bool,
}

/// Returns the text with `*` for each digit in the middle of what could be a card number.
pub(super) fn hidden(text: String) -> String {
    let may_be_digit = |byte: &u8| byte.is_ascii_digit() || !byte.is_ascii();
    if text.bytes().filter(may_be_digit).count() < *CARD_NUMBER_DIGITS.start() {
        return text;
    }
    let (mut digits, groups) = read(&text);
    for first in 0..groups.len() {
        let mut last = first;
        loop {
            let run = groups[first].digits.start..groups[last].digits.end;
            if run.len() > *CARD_NUMBER_DIGITS.end() {
                break;
            }
            hide(&mut digits[run], first == last);
            last += 1;
            if groups.get(last).is_none_or(|group| !group.continues) {
                break;
            }
        }
    }
    // A longer run may contain a number anywhere.
    for group in groups.into_iter().filter(|group| group.digits.len() > *CARD_NUMBER_DIGITS.end()) {
        hide_middle(&mut digits[group.digits]);
    }
    let mut shown = String::with_capacity(text.len());
    let mut from = 0;
    for digit in digits.into_iter().filter(|digit| digit.hidden) {
        shown.push_str(&text[from..digit.at.start]);
        shown.push('*');
        from = digit.at.end;
    }
    shown.push_str(&text[from..]);
    shown
}

/// Returns the digits of a text and their groups.
fn read(text: &str) -> (Vec<Digit>, Vec<Group>) {
    let (mut digits, mut groups) = (Vec::new(), Vec::<Group>::new());
    // The number of separators since the last digit; `None` after a letter, which separates numbers.
    let mut gap = None;
    let mut rest = text.char_indices();
    while let Some((at, letter)) = rest.next() {
        let (letter, length) = match escaped(&text.as_bytes()[at..]) {
            Some(escaped) => {
                rest.nth(1);
                (escaped, 3)
            }
            None => (letter, letter.len_utf8()),
        };
        if let Some(value) = digit(letter) {
            digits.push(Digit { value, at: at..at + length, hidden: false });
            match groups.last_mut() {
                Some(group) if gap == Some(0) => group.digits.end += 1,
                _ => groups.push(Group { digits: digits.len() - 1..digits.len(), continues: gap.is_some() }),
            }
            gap = Some(0);
        } else {
            gap = gap.map(|gap| gap + 1).filter(|gap| *gap <= SEPARATORS && !letter.is_alphanumeric());
        }
    }
    (digits, groups)
}

/// Returns the ASCII character that a text begins with, if it is URL-encoded.
fn escaped(text: &[u8]) -> Option<char> {
    let [b'%', high, low, ..] = text else { return None };
    let byte = char::from(*high).to_digit(16)? * 16 + char::from(*low).to_digit(16)?;
    char::from_u32(byte).filter(char::is_ascii)
}

/// The value of a digit, also one of full width.
fn digit(letter: char) -> Option<u8> {
    let narrow = match letter {
        '\u{ff10}'..='\u{ff19}' => u32::from(letter) - 0xff10,
        _ => letter.to_digit(10)?,
    };
    u8::try_from(narrow).ok()
}

/// Hides the middle of digits with the length and the check digit of a card number. Several groups also need the first
/// digit of a card: otherwise too many dates and amounts would be hidden.
fn hide(digits: &mut [Digit], is_one_group: bool) {
    let begins_like_a_card = digits.first().is_some_and(|first| (3..=6).contains(&first.value));
    let luhn = digits.iter().rev().enumerate().map(|(at, digit)| {
        let value = u32::from(digit.value);
        if at % 2 == 0 { value } else { 2 * value / 10 + 2 * value % 10 }
    });
    if CARD_NUMBER_DIGITS.contains(&digits.len())
        && (is_one_group || begins_like_a_card)
        && luhn.sum::<u32>().is_multiple_of(10)
    {
        hide_middle(digits);
    }
}

fn hide_middle(digits: &mut [Digit]) {
    let end = digits.len() - SHOWN.1;
    digits[SHOWN.0..end].iter_mut().for_each(|digit| digit.hidden = true);
}
