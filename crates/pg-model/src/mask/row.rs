//! The positions of digits in a text.

use alloc::{string::String, vec::Vec};

use super::{
    CARD_NUMBER_DIGITS, SHOWN_FIRST, SHOWN_LAST,
    letters::{digit, escaped, is_blank_or_hyphen, is_nothing, is_plain},
};

/// A digit of a text.
pub(super) struct Digit {
    /// Where it begins, in bytes.
    pub(super) at: usize,
    /// Its length in bytes: more than one in other scripts, and for escapes.
    pub(super) length: u8,
    pub(super) value: u8,
    /// The separator between it and the previous digit.
    pub(super) before: Between,
    pub(super) hidden: bool,
    /// Running sums for the check digit up to this digit, with each digit counted once or twice in turn: one sum counts this digit
    /// once, the other twice. They may overflow; only differences count.
    sums: [u16; 2],
}

/// The digits of a text in rows of at least twelve.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) digits: Vec<Digit>,
    /// Whether every digit of the text, also in shorter rows, is one byte.
    pub(super) plain: bool,
}

/// What stands between two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Nothing visible.
    Nothing,
    /// A single blank or hyphen.
    Single,
    /// A few other characters.
    Other,
    /// Letters, asterisks, or many characters: the digits do not belong together.
    Strange,
}

/// The most bytes between two digits of one number.
const LONGEST_BETWEEN: usize = 8;

impl Digit {
    pub(super) fn end(&self) -> usize {
        self.at + usize::from(self.length)
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

    fn add(&mut self, letter: char) {
        if !is_nothing(letter) {
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

/// Which characters count as digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Digits of every script, and escapes.
    All,
    /// ASCII digits only; others count as separators.
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

/// The digits of a text in rows; the first digit of each has an unrelated character before it. Rows too short for a number
/// are omitted.
pub(super) fn of(text: &str, kinds: Kinds) -> Rows {
    let bytes = text.as_bytes();
    // Memory that grows would be copied, and take up to twice as much.
    let most = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let mut rows = Rows { plain: true, digits: Vec::with_capacity(most) };
    let mut row = 0;
    let mut gap = Gap { strange: true, seen: 2, ..Gap::NONE };
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let class = CLASSES[usize::from(*byte)];
        let read = match class {
            Class::Digit => Some((byte - b'0', 1)),
            Class::Escape if kinds == Kinds::All => escaped(&bytes[at..]),
            Class::Beyond => {
                let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) else { break };
                if is_plain(letter) {
                    gap.sign(letter.len_utf8(), false, false);
                    at += letter.len_utf8();
                    continue;
                }
                let value = if kinds == Kinds::All { digit(letter) } else { None };
                if value.is_none() {
                    gap.add(letter);
                    at += letter.len_utf8();
                    continue;
                }
                value.map(|value| (value, letter.len_utf8()))
            }
            _ => None,
        };
        let Some((value, length)) = read else {
            if !matches!(class, Class::Nothing) {
                gap.sign(1, matches!(class, Class::BlankOrHyphen), matches!(class, Class::Strange));
            }
            at += 1;
            continue;
        };
        let before = gap.between();
        if before == Between::Strange {
            rows.begin(&mut row);
        }
        rows.push(at, length, value, before);
        gap = Gap::NONE;
        at += length;
        while let Some(byte @ b'0'..=b'9') = bytes.get(at) {
            rows.push(at, 1, byte - b'0', Between::Nothing);
            at += 1;
        }
    }
    rows.begin(&mut row);
    rows
}

impl Rows {
    /// Starts a row, and ends the one that started at `row`.
    #[inline]
    fn begin(&mut self, row: &mut usize) {
        if self.digits.len() - *row < *CARD_NUMBER_DIGITS.start() {
            self.digits.truncate(*row);
        }
        *row = self.digits.len();
    }

    #[inline]
    fn push(&mut self, at: usize, length: usize, value: u8, before: Between) {
        self.plain &= length == 1;
        let [once, twice] = self.digits.last().map_or([0; 2], |last| last.sums);
        let sums = [twice.wrapping_add(u16::from(value)), once.wrapping_add(doubled(value))];
        let length = u8::try_from(length).unwrap_or_default();
        self.digits.push(Digit { at, length, value, before, hidden: false, sums });
    }
}

/// A doubled digit's contribution to the check digit (Luhn): the sum of the digits of its double.
const fn doubled(value: u8) -> u16 {
    (value * 2 % 10 + value / 5) as u16
}

/// Whether the last digit is the valid check digit (Luhn).
pub(super) fn has_check_digit(digits: &[Digit]) -> bool {
    let [first, .., last] = digits else { return false };
    let (sum_before, value) = if digits.len() % 2 == 1 {
        (first.sums[0], u16::from(first.value))
    } else {
        (first.sums[1], doubled(first.value))
    };
    last.sums[0].wrapping_sub(sum_before).wrapping_add(value).is_multiple_of(10)
}

/// Masks all but the first six and the last four digits of a number.
pub(super) fn hide_middle(number: &mut [Digit]) {
    let end = number.len().saturating_sub(SHOWN_LAST);
    number.iter_mut().take(end).skip(SHOWN_FIRST).for_each(|digit| digit.hidden = true);
}

/// The text with an asterisk for every character of a masked digit.
pub(super) fn without_hidden(text: &str, rows: &Rows) -> String {
    let hidden = rows.digits.iter().filter(|digit| digit.hidden);
    if rows.plain {
        let mut bytes = text.as_bytes().to_vec();
        hidden.for_each(|digit| bytes[digit.at] = b'*');
        // Replaces one ASCII character.
        return String::from_utf8(bytes).unwrap_or_default();
    }
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for digit in hidden {
        out.push_str(&text[kept..digit.at]);
        let characters = text[digit.at..digit.end()].chars().count();
        out.extend(core::iter::repeat_n('*', characters));
        kept = digit.end();
    }
    out.push_str(&text[kept..]);
    out
}
