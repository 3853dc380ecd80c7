//! Numbers whose groups are separated by characters other than a space or a hyphen. Dates, lists and versions have this
//! form too, so the check digit decides.

use core::ops::{Range, RangeInclusive};

use alloc::vec::Vec;

use super::{
    CARD_NUMBER_DIGITS,
    row::{Between, Digit, Piece, Row, Sums, hide_middle, is_right, is_same},
};

/// The minimum number of digits in a group, except the last group of a number.
const GROUP_DIGITS: usize = 4;
/// The first digits of card numbers.
const FIRST_DIGITS: RangeInclusive<u8> = 2..=6;

/// Masks the numbers in a row of digits. `groups` is a buffer that is reused for each row.
pub(super) fn hide(text: &str, row: &mut Row, groups: &mut Vec<Piece>) {
    if !row.has_invisible && !row.has_adjacent {
        return in_groups(&mut row.digits, &row.sums, &row.pieces);
    }
    fill(text, row, groups, false);
    in_groups(&mut row.digits, &row.sums, groups);
    // Invisible characters may join a number to other digits as well as its own.
    if row.has_invisible {
        fill(text, row, groups, true);
        in_groups(&mut row.digits, &row.sums, groups);
    }
}

fn in_groups(digits: &mut [Digit], sums: &[Sums], groups: &[Piece]) {
    if groups.len() < 2 {
        return;
    }
    // Numbers may overlap in a row of groups, and masked digits keep their value.
    for (first, group) in groups.iter().enumerate() {
        if group.len() >= GROUP_DIGITS {
            let searched = with_one_sign(digits, sums, &groups[first..]);
            as_printed(digits, sums, &groups[first..], searched);
            in_run(digits, sums, &groups[first..]);
        }
    }
    in_small_groups(digits, sums, groups);
}

/// Joins adjacent pieces into groups. Pieces with only invisible characters between them are joined too, unless
/// `separate` is true.
fn fill(text: &str, row: &Row, groups: &mut Vec<Piece>, separate: bool) {
    groups.clear();
    let mut before: &[u8] = &[];
    for (index, piece) in row.pieces.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if piece.before == Between::Adjacent || (!separate && piece.before == Between::Nothing) => {
                group.extend(piece)
            }
            _ => {
                let sign = row.sign(text, index);
                groups.push(piece.group(is_same(sign, before)));
                before = sign;
            }
        }
    }
}

/// Numbers of groups with the same separator. Returns the end of the last digits that were searched.
fn with_one_sign(digits: &mut [Digit], sums: &[Sums], groups: &[Piece]) -> usize {
    let start = groups[0].digits().start;
    let mut searched = start;
    for (index, group) in groups.iter().enumerate().skip(1) {
        let end = group.digits().end;
        if (index > 1 && !group.same_sign) || end - start > *CARD_NUMBER_DIGITS.end() {
            break;
        }
        if end - start >= *CARD_NUMBER_DIGITS.start() && is_right(sums, start..end) {
            hide_middle(&mut digits[start..end]);
        }
        searched = end;
        if group.len() < GROUP_DIGITS {
            break;
        }
    }
    searched
}

/// Numbers that have only a single space or hyphen between groups, and perhaps other digits before and behind, such as
/// an expiry date. Dates and amounts have this form too, so all groups except the last one are long.
fn in_run(digits: &mut [Digit], sums: &[Sums], groups: &[Piece]) {
    let start = groups[0].digits().start;
    for (index, group) in groups.iter().enumerate() {
        let number = start..group.digits().end;
        if (index > 0 && group.before == Between::Other) || number.len() > *CARD_NUMBER_DIGITS.end() {
            break;
        }
        if is_card_number(digits, sums, number.clone()) {
            hide_middle(&mut digits[number]);
        }
        if group.len() < GROUP_DIGITS {
            break;
        }
    }
}

/// Whether digits have the length, the first digit and the check digit of a card number.
pub(super) fn is_card_number(digits: &[Digit], sums: &[Sums], number: Range<usize>) -> bool {
    CARD_NUMBER_DIGITS.contains(&number.len())
        && FIRST_DIGITS.contains(&digits[number.start].value())
        && is_right(sums, number)
}

/// Numbers in the group sizes of cards, which are all that may have different separators: 4-4-4-4, 4-6-5, 4-4-4-4-3 and 4-6-4.
fn as_printed(digits: &mut [Digit], sums: &[Sums], groups: &[Piece], searched: usize) {
    let [_, second, third, ..] = groups else { return };
    match (second.len(), third.len()) {
        (6, length) => (4..=length.min(5)).for_each(|last| between(digits, sums, &groups[..3], last, searched)),
        (4, 4) => {
            let fourth = groups.get(3).map_or(0, Piece::len);
            if fourth >= 4 {
                between(digits, sums, &groups[..4], 4, searched);
            }
            if fourth == 4 && groups.get(4).is_some_and(|fifth| fifth.len() >= 3) {
                between(digits, sums, &groups[..5], 3, searched);
            }
        }
        _ => {}
    }
}

/// A number from the last four digits of the first group to the first ones of the last group. Other digits may be before and behind
/// it if it has a card's first digits.
#[inline]
fn between(digits: &mut [Digit], sums: &[Sums], groups: &[Piece], last: usize, searched: usize) {
    let [first, .., behind] = groups else { return };
    let number = first.digits().end - GROUP_DIGITS..behind.digits().start + last;
    let alone = number == (first.digits().start..behind.digits().end);
    if alone && number.end <= searched {
        return;
    }
    if is_right(sums, number.clone()) && (alone || FIRST_DIGITS.contains(&digits[number.start].value())) {
        hide_middle(&mut digits[number]);
    }
}

/// Numbers in smaller groups of equal length, as in `41.11.11.…`. Other separators end such a row, as in `line_1>4.1.1.…`.
fn in_small_groups(digits: &mut [Digit], sums: &[Sums], groups: &[Piece]) {
    let mut first = 0;
    for end in 2..=groups.len() {
        if groups.get(end).is_none_or(|group| !group.same_sign) {
            whole(digits, sums, &groups[first..end]);
            first = end - 1;
        }
    }
}

/// A row with one separator that is one number.
fn whole(digits: &mut [Digit], sums: &[Sums], groups: &[Piece]) {
    let [first, .., last] = groups else { return };
    let number = first.digits().start..last.digits().end;
    // Lists of small numbers are common, so the length and the first digit must be those of nearly all cards.
    if !matches!(number.len(), 15 | 16) || !(3..=6).contains(&digits[number.start].value()) {
        return;
    }
    let (length, others) = (first.len(), &groups[..groups.len() - 1]);
    let even = others.iter().all(|group| group.len() == length) && last.len() <= length;
    if length < GROUP_DIGITS && even && is_right(sums, number.clone()) {
        hide_middle(&mut digits[number]);
    }
}
