//! Numbers whose groups are separated by other characters than a blank or a hyphen. Dates, lists and versions have this form too, so
//! the check digit decides.

use core::ops::{Range, RangeInclusive};

use alloc::vec::Vec;

use super::{
    CARD_NUMBER_DIGITS,
    row::{Between, Digit, has_check_digit, hide_middle},
};

/// The fewest digits of a group, but for the last one of a number.
const GROUP_DIGITS: usize = 4;
/// The group sizes of cards: if the separators differ, only such groups form one number.
const PRINTED: [&[usize]; 4] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 4, 4, 4, 3], &[4, 6, 4]];
/// The first digits of card numbers.
pub(super) const FIRST_DIGITS: RangeInclusive<u8> = 2..=6;

/// Masks the numbers in a row of digits.
pub(super) fn hide(text: &str, row: &mut [Digit]) {
    in_groups(text, row, &groups(row, |_, digit| digit.before == Between::Nothing));
    // Invisible characters may join a number to other digits as well as its own.
    if row.windows(2).any(|pair| pair[1].before == Between::Nothing && pair[0].end() != pair[1].at) {
        in_groups(text, row, &groups(row, |before, digit| before.end() == digit.at));
    }
}

fn in_groups(text: &str, row: &mut [Digit], groups: &[Range<usize>]) {
    if groups.len() < 2 {
        return;
    }
    // Numbers may overlap in a row of groups, and masked digits keep their value.
    for first in 0..groups.len() {
        with_one_sign(text, row, &groups[first..]);
        as_printed(row, &groups[first..]);
    }
    whole(text, row, groups);
}

/// The runs of adjacent digits.
fn groups(row: &[Digit], joined: impl Fn(&Digit, &Digit) -> bool) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, digit) in row.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if joined(&row[at - 1], digit) => group.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// Numbers of groups with the same separator.
fn with_one_sign(text: &str, row: &mut [Digit], groups: &[Range<usize>]) {
    let start = groups[0].start;
    let [_, second, ..] = groups else { return };
    let first_sign = sign(text, row, second);
    for (index, pair) in groups.windows(2).enumerate() {
        let same = index == 0 || sign(text, row, &pair[1]) == first_sign;
        if !same || pair[0].len() < GROUP_DIGITS || pair[1].end - start > *CARD_NUMBER_DIGITS.end() {
            return;
        }
        hide_if_number(&mut row[start..pair[1].end]);
    }
}

/// Numbers in the group sizes of cards. Other digits may precede the first group or follow the last one, if the
/// number has a card's first digits.
fn as_printed(row: &mut [Digit], groups: &[Range<usize>]) {
    if groups[0].len() < GROUP_DIGITS {
        return;
    }
    for printed in PRINTED {
        let ([first, .., last], Some(here)) = (printed, groups.get(..printed.len())) else { continue };
        let ([before, within @ .., behind], [_, lengths @ .., _]) = (here, printed) else { continue };
        if before.len() < *first
            || behind.len() < *last
            || within.iter().zip(lengths).any(|(group, length)| group.len() != *length)
        {
            continue;
        }
        let number = before.end - first..behind.start + last;
        let alone = number.start == before.start && number.end == behind.end;
        if alone || FIRST_DIGITS.contains(&row[number.start].value) {
            hide_if_number(&mut row[number]);
        }
    }
}

/// A row that is one number in smaller groups of equal length, as in `41.11.11.…`.
fn whole(text: &str, row: &mut [Digit], groups: &[Range<usize>]) {
    // Lists of small numbers are common, so the length and the first digit must be those of nearly all cards.
    if !matches!(row.len(), 15 | 16) || !(3..=6).contains(&row[0].value) {
        return;
    }
    let length = groups[0].len();
    let (last, others) = match groups.split_last() {
        Some((last, others)) if length < GROUP_DIGITS => (last, others),
        _ => return,
    };
    let even = others.iter().all(|group| group.len() == length) && last.len() <= length;
    let one_sign = || groups.windows(2).all(|pair| sign(text, row, &pair[1]) == sign(text, row, &groups[1]));
    if even && one_sign() {
        hide_if_number(row);
    }
}

/// The separator before a group other than the first.
fn sign<'a>(text: &'a str, row: &[Digit], group: &Range<usize>) -> &'a [u8] {
    &text.as_bytes()[row[group.start - 1].end()..row[group.start].at]
}

fn hide_if_number(digits: &mut [Digit]) {
    if CARD_NUMBER_DIGITS.contains(&digits.len()) && has_check_digit(digits) {
        hide_middle(digits);
    }
}
