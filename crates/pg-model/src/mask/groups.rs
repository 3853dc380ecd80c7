//! Numbers whose groups are separated by other characters than a blank or a hyphen. Dates, lists and versions have this form too, so
//! the check digit decides.

use core::ops::RangeInclusive;

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

/// A run of adjacent digits.
pub(super) struct Group {
    start: usize,
    end: usize,
    /// Whether the separator before it is the one before the previous group, too.
    same_sign: bool,
}

impl Group {
    const fn len(&self) -> usize {
        self.end - self.start
    }
}

/// Masks the numbers in a row of digits. `groups` is memory for the groups of one row after the other.
pub(super) fn hide(text: &str, row: &mut [Digit], groups: &mut Vec<Group>) {
    let has_invisible = fill(text, row, groups, false);
    in_groups(row, groups);
    // Invisible characters may join a number to other digits as well as its own.
    if has_invisible {
        fill(text, row, groups, true);
        in_groups(row, groups);
    }
}

fn in_groups(row: &mut [Digit], groups: &[Group]) {
    if groups.len() < 2 {
        return;
    }
    // Numbers may overlap in a row of groups, and masked digits keep their value.
    for first in 0..groups.len() {
        with_one_sign(row, &groups[first..]);
        as_printed(row, &groups[first..]);
    }
    whole(row, groups);
}

/// Finds the runs of adjacent digits. Returns whether invisible characters stand between two digits, which then begin a new group
/// if they separate.
fn fill(text: &str, row: &[Digit], groups: &mut Vec<Group>, separate: bool) -> bool {
    groups.clear();
    let mut has_invisible = false;
    let mut before: &[u8] = &[];
    let mut last_end = None;
    for (at, digit) in row.iter().enumerate() {
        let adjacent = last_end == Some(digit.at);
        has_invisible |= digit.before == Between::Nothing && !adjacent;
        match groups.last_mut() {
            Some(group) if adjacent || (!separate && digit.before == Between::Nothing) => group.end = at + 1,
            _ => {
                let sign = last_end.map_or(&[][..], |end| &text.as_bytes()[end..digit.at]);
                groups.push(Group { start: at, end: at + 1, same_sign: sign == before });
                before = sign;
            }
        }
        last_end = Some(digit.end());
    }
    has_invisible
}

/// Numbers of groups with the same separator.
fn with_one_sign(row: &mut [Digit], groups: &[Group]) {
    let start = groups[0].start;
    for (index, pair) in groups.windows(2).enumerate() {
        let same = index == 0 || pair[1].same_sign;
        if !same || pair[0].len() < GROUP_DIGITS || pair[1].end - start > *CARD_NUMBER_DIGITS.end() {
            return;
        }
        hide_if_number(&mut row[start..pair[1].end]);
    }
}

/// Numbers in the group sizes of cards. Other digits may precede the first group or follow the last one, if the
/// number has a card's first digits.
fn as_printed(row: &mut [Digit], groups: &[Group]) {
    let [first, second, ..] = groups else { return };
    if first.len() < GROUP_DIGITS {
        return;
    }
    for printed in PRINTED.into_iter().filter(|printed| printed[1] == second.len()) {
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
fn whole(row: &mut [Digit], groups: &[Group]) {
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
    if even && groups[2..].iter().all(|group| group.same_sign) {
        hide_if_number(row);
    }
}

fn hide_if_number(digits: &mut [Digit]) {
    if CARD_NUMBER_DIGITS.contains(&digits.len()) && has_check_digit(digits) {
        hide_middle(digits);
    }
}
