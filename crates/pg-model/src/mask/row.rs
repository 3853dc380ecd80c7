//! The positions of digits in a text.

use alloc::{borrow::Cow, string::String, vec::Vec};
use core::ops::Range;

use super::{
    CARD_NUMBER_DIGITS, SHOWN_FIRST, SHOWN_LAST,
    letters::{digit, escaped, is_blank_or_hyphen, is_nothing, is_plain},
};

/// A digit of a text.
#[derive(Clone, Copy)]
pub(super) struct Digit(u8);

/// The bit of a digit that is masked.
const HIDDEN: u8 = 0x80;

impl Digit {
    pub(super) const fn value(self) -> u8 {
        self.0 & !HIDDEN
    }

    pub(super) const fn is_hidden(self) -> bool {
        self.0 & HIDDEN != 0
    }
}

/// Adjacent digits that are equally long.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// Where it begins, in bytes.
    at: u32,
    /// Its first digit, and the one behind its last, among the digits of its row.
    start: u32,
    end: u32,
    /// The length of each digit in bytes: more than one in other scripts, and for escapes.
    width: u8,
    /// The separator between it and the previous piece.
    pub(super) before: Between,
    /// Whether the separator before it is the one before the previous piece, too.
    pub(super) same_sign: bool,
}

/// The sums of all digits of a row up to one, for check digits (Luhn), without carries: those of a number are the differences.
#[derive(Clone, Copy, Default)]
pub(super) struct Sums {
    /// The last digit counts once, the one before it doubled, and so on.
    once: u8,
    /// The reverse.
    twice: u8,
}

impl Sums {
    /// The sums with one more digit.
    #[inline]
    const fn with_digit(self, value: u8) -> Self {
        Self { once: self.twice.wrapping_add(value), twice: self.once.wrapping_add(doubled(value)) }
    }
}

/// Whether the last digit of a number is its valid check digit. `sums` are those before each digit of the row, and behind the last one.
#[inline]
pub(super) fn is_right(sums: &[Sums], number: Range<usize>) -> bool {
    let before = sums[number.start];
    let before = if number.len().is_multiple_of(2) { before.once } else { before.twice };
    sums[number.end].once.wrapping_sub(before).is_multiple_of(10)
}

/// The digits of a text between two unrelated characters.
#[derive(Default)]
pub(super) struct Row {
    pub(super) digits: Vec<Digit>,
    /// The sums before each digit, and behind the last one.
    pub(super) sums: Vec<Sums>,
    pub(super) pieces: Vec<Piece>,
    /// Runs of digits that are at least as long as a card number, with at most a single space or hyphen between two
    /// digits.
    pub(super) runs: Vec<Range<usize>>,
    /// Where the last run begins.
    run: usize,
    /// Whether a piece is adjacent to the one before.
    pub(super) has_adjacent: bool,
    /// Whether there are only invisible characters between two pieces.
    pub(super) has_invisible: bool,
    /// The width of the last piece, and where the separator before it begins and ends.
    last: (usize, usize, usize),
    /// Where the last piece ends.
    end: usize,
}

/// What is between two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// No character.
    Adjacent,
    /// Nothing visible.
    Nothing,
    /// A single space or hyphen.
    Single,
    /// A few other characters.
    Other,
    /// Letters, asterisks, or many characters: the digits do not belong together.
    Strange,
}

/// The maximum number of bytes between two digits of one number.
const LONGEST_BETWEEN: usize = 8;

impl Piece {
    /// The position of the first byte after it.
    const fn end(&self) -> usize {
        self.at as usize + self.len() * self.width as usize
    }

    pub(super) const fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Its digits in the row.
    pub(super) const fn digits(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The first piece of a group.
    pub(super) const fn group(mut self, same_sign: bool) -> Self {
        self.same_sign = same_sign;
        self
    }

    /// The same piece with the next one, which is not separated.
    pub(super) const fn extend(&mut self, next: &Self) {
        self.end = next.end;
    }
}

/// The characters since the last digit.
struct Gap {
    seen: usize,
    bytes: usize,
    single: bool,
    strange: bool,
}

impl Gap {
    const NONE: Self = Self { seen: 0, bytes: 0, single: false, strange: false };

    /// Adds a character that is not a digit.
    #[inline]
    fn add(&mut self, letter: char) {
        let strange = letter.is_ascii_alphabetic() || letter == '*';
        if strange || (!letter.is_ascii() && is_plain(letter)) {
            self.sign(letter.len_utf8(), false, strange);
        } else if !is_nothing(letter) {
            self.sign(letter.len_utf8(), is_blank_or_hyphen(letter), false);
        }
    }

    #[inline]
    fn sign(&mut self, bytes: usize, blank_or_hyphen: bool, strange: bool) {
        self.seen += 1;
        self.bytes += bytes;
        self.single = self.seen == 1 && blank_or_hyphen;
        self.strange |= strange;
    }

    #[inline]
    fn between(&self) -> Between {
        match self {
            Self { seen: 0, .. } => Between::Nothing,
            Self { single: true, .. } => Between::Single,
            Self { strange: true, .. } => Between::Strange,
            Self { bytes, .. } if *bytes > LONGEST_BETWEEN => Between::Strange,
            _ => Between::Other,
        }
    }
}

/// A position or a number of digits, below [`LONGEST`](super::LONGEST).
#[expect(clippy::cast_possible_truncation, reason = "longer texts are not searched")]
const fn short(number: usize) -> u32 {
    number as u32
}

/// Which characters count as digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Digits of every script; escapes count as the characters that they stand for.
    All,
    /// ASCII digits only; others count as separators, and escapes as they are written.
    Ascii,
}

/// The class of a byte.
#[derive(Clone, Copy)]
enum Class {
    Digit,
    /// A letter or an asterisk.
    Strange,
    BlankOrHyphen,
    /// May begin an escape.
    Escape,
    /// Invisible.
    Nothing,
    Other,
    /// Part of a character beyond ASCII.
    Beyond,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z' | b'A'..=b'Z' | b'*' => Class::Strange,
            b' ' | b'-' | b'\t'..=b'\r' => Class::BlankOrHyphen,
            b'%' | b'\\' | b'&' => Class::Escape,
            0..b' ' | 0x7f => Class::Nothing,
            0x80.. => Class::Beyond,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// Handles the rows of at least twelve digits of a text one after the other; the first digit of each has an unrelated character before
/// it. Returns whether every digit of the text, also in shorter rows, is one byte, and no escape was read.
pub(super) fn each(text: &str, kinds: Kinds, mut handle: impl FnMut(&mut Row)) -> bool {
    let bytes = text.as_bytes();
    let mut row = Row::default();
    let mut plain = true;
    let mut gap = Gap { strange: true, seen: 2, ..Gap::NONE };
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let class = CLASSES[usize::from(*byte)];
        let read = match class {
            Class::Digit => Some((byte - b'0', 1)),
            Class::Escape if kinds == Kinds::All => match escaped(&bytes[at..]) {
                Some((letter, width)) => {
                    plain = false;
                    let Some(value) = digit(letter) else {
                        gap.add(letter);
                        at += width;
                        continue;
                    };
                    Some((value, width))
                }
                None => None,
            },
            Class::Beyond => {
                let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                let value = if kinds == Kinds::All && !is_plain(letter) { digit(letter) } else { None };
                let Some(value) = value else {
                    gap.add(letter);
                    at += letter.len_utf8();
                    continue;
                };
                Some((value, letter.len_utf8()))
            }
            _ => None,
        };
        let Some((value, width)) = read else {
            if !matches!(class, Class::Nothing) {
                gap.sign(1, matches!(class, Class::BlankOrHyphen), matches!(class, Class::Strange));
            }
            at += 1;
            continue;
        };
        let before = gap.between();
        if before == Between::Strange {
            row.finish(&mut handle);
        }
        plain &= width == 1;
        row.begin(bytes, at, width, before);
        gap = Gap::NONE;
        if width == 1 {
            let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            row.push(bytes[at..at + length].iter().map(|byte| byte - b'0'), at + length);
        } else {
            row.push(core::iter::once(value), at + width);
        }
        at = row.end;
    }
    row.finish(&mut handle);
    plain
}

impl Row {
    /// Passes the row on if it is long enough, and clears it.
    #[inline]
    fn finish(&mut self, handle: &mut impl FnMut(&mut Self)) {
        if self.digits.len() >= *CARD_NUMBER_DIGITS.start() {
            self.end_run();
            handle(self);
            self.runs.clear();
        }
        self.run = 0;
        self.digits.clear();
        self.sums.clear();
        self.pieces.clear();
        (self.has_adjacent, self.has_invisible) = (false, false);
    }

    /// Starts a piece, or extends the last one.
    #[inline]
    fn begin(&mut self, text: &[u8], at: usize, width: usize, mut before: Between) {
        let (last_width, start, end) = self.last;
        let is_first = self.pieces.is_empty();
        if !is_first && self.end == at {
            if last_width == width {
                return;
            }
            before = Between::Adjacent;
        }
        let sign = if is_first { at } else { self.end };
        let same_sign = is_first || is_same(&text[start..end], &text[sign..at]);
        self.has_adjacent |= before == Between::Adjacent;
        self.has_invisible |= before == Between::Nothing;
        self.last = (width, sign, at);
        if before == Between::Other {
            self.end_run();
        }
        let start = short(self.digits.len());
        let width = u8::try_from(width).unwrap_or_default();
        self.pieces.push(Piece { at: short(at), start, end: start, width, before, same_sign });
    }

    /// Adds digits to the last piece, which ends behind them.
    #[inline]
    fn push(&mut self, values: impl Iterator<Item = u8> + Clone, behind: usize) {
        self.end = behind;
        let mut sums = self.sums.last().copied().unwrap_or_default();
        if self.sums.is_empty() {
            self.sums.push(sums);
        }
        self.sums.extend(values.clone().map(|value| {
            sums = sums.with_digit(value);
            sums
        }));
        self.digits.extend(values.map(Digit));
        let end = short(self.digits.len());
        if let Some(last) = self.pieces.last_mut() {
            last.end = end;
        }
    }

    /// Ends a run.
    #[inline]
    fn end_run(&mut self) {
        let end = self.digits.len();
        if end - self.run >= *CARD_NUMBER_DIGITS.start() {
            self.runs.push(self.run..end);
        }
        self.run = end;
    }

    /// Masks the middle of every run.
    pub(super) fn hide_runs(&mut self) {
        for run in &self.runs {
            hide_middle(&mut self.digits[run.clone()]);
        }
    }

    /// The separator before a piece.
    pub(super) fn sign<'a>(&self, text: &'a str, index: usize) -> &'a [u8] {
        let start = index.checked_sub(1).map_or(self.pieces[index].at as usize, |before| self.pieces[before].end());
        &text.as_bytes()[start..self.pieces[index].at as usize]
    }
}

/// Separators mostly have one byte.
#[inline]
pub(super) fn is_same(one: &[u8], other: &[u8]) -> bool {
    match (one, other) {
        ([one], [other]) => one == other,
        _ => one == other,
    }
}

/// A doubled digit's contribution to the check digit (Luhn): the sum of the digits of its double.
const fn doubled(value: u8) -> u8 {
    if value < 5 { 2 * value } else { 2 * value - 9 }
}

/// Masks all but the first six and the last four digits of a number.
pub(super) fn hide_middle(number: &mut [Digit]) {
    let end = number.len().saturating_sub(SHOWN_LAST);
    number.iter_mut().take(end).skip(SHOWN_FIRST).for_each(|digit| digit.0 |= HIDDEN);
}

/// A text with asterisks in place of the hidden digits of its rows.
pub(super) struct Shown<'a> {
    text: &'a str,
    out: Vec<u8>,
    /// The end of the copied part of the text.
    kept: usize,
}

impl<'a> Shown<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, out: Vec::new(), kept: 0 }
    }

    /// Replaces every character of the hidden digits of a row.
    pub(super) fn hide(&mut self, row: &Row) {
        if row.digits.iter().fold(0, |any, digit| any | digit.0) & HIDDEN == 0 {
            return;
        }
        for pieces in row.pieces.chunk_by(|one, next| one.width == 1 && next.width == 1) {
            match pieces {
                [.., last] if last.width == 1 => self.hide_bytes(row, pieces, last.end()),
                _ => pieces.iter().for_each(|piece| self.hide_piece(row, piece)),
            }
        }
    }

    /// Replaces the hidden digits of pieces with digits of one byte, up to `end`.
    fn hide_bytes(&mut self, row: &Row, pieces: &[Piece], end: usize) {
        self.copy(end);
        let before = self.out.len();
        for piece in pieces {
            let start = before - (end - piece.at as usize);
            let bytes = &mut self.out[start..start + piece.len()];
            for (byte, digit) in bytes.iter_mut().zip(&row.digits[piece.digits()]) {
                *byte = if digit.is_hidden() { b'*' } else { *byte };
            }
        }
    }

    fn hide_piece(&mut self, row: &Row, piece: &Piece) {
        let width = usize::from(piece.width);
        for (at, _) in row.digits[piece.digits()].iter().enumerate().filter(|(_, digit)| digit.is_hidden()) {
            let start = piece.at as usize + at * width;
            self.copy(start);
            self.kept = start + width;
            // Counts characters by their first bytes.
            let replaced = self.text.as_bytes()[start..self.kept].iter().filter(|byte| **byte & 0xc0 != 0x80);
            self.out.extend(replaced.map(|_| b'*'));
        }
    }

    /// Copies the text up to this byte.
    fn copy(&mut self, end: usize) {
        if self.out.capacity() == 0 {
            self.out.reserve(self.text.len());
        }
        self.out.extend_from_slice(&self.text.as_bytes()[self.kept..end]);
        self.kept = end;
    }

    pub(super) fn end(mut self) -> Cow<'a, str> {
        if self.kept == 0 {
            return Cow::Borrowed(self.text);
        }
        self.copy(self.text.len());
        // Only whole characters are replaced.
        let text = String::from_utf8(self.out);
        Cow::Owned(text.unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }
}
