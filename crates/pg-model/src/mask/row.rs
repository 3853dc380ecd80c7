//! Where the digits of a text stand.

use alloc::{string::String, vec::Vec};

use super::{
    SHOWN_FIRST, SHOWN_LAST,
    letters::{digit, escaped, is_blank_or_hyphen, is_nothing},
};

/// A digit of a text.
pub(super) struct Digit {
    /// Where it begins, in bytes.
    pub(super) at: usize,
    /// How many bytes it takes: more than one in other scripts, and as an escape.
    pub(super) length: u8,
    pub(super) value: u8,
    /// What stands between it and the digit before it.
    pub(super) before: Between,
    pub(super) hidden: bool,
}

/// What stands between two digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between {
    /// Nothing that anybody sees.
    Nothing,
    /// A single blank or hyphen.
    Single,
    /// A few other signs.
    Other,
    /// Letters, asterisks, or many signs: the digits do not belong together.
    Strange,
}

/// The most bytes between two digits of one number.
const LONGEST_BETWEEN: usize = 8;

impl Digit {
    pub(super) fn end(&self) -> usize {
        self.at + usize::from(self.length)
    }
}

/// What has been read since the last digit.
struct Gap {
    seen: usize,
    bytes: usize,
    single: bool,
    strange: bool,
}

impl Gap {
    const NONE: Self = Self { seen: 0, bytes: 0, single: false, strange: false };

    fn add(&mut self, letter: char) {
        if is_nothing(letter) {
            return;
        }
        self.seen += 1;
        self.bytes += letter.len_utf8();
        self.single = self.seen == 1 && is_blank_or_hyphen(letter);
        self.strange |= letter.is_ascii_alphanumeric() || letter == '*';
    }

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

/// What counts as a digit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kinds {
    /// Digits of every script, and escapes.
    All,
    /// Those of ASCII; others are signs like any other.
    Ascii,
}

/// The digits of a text; the first one has something strange before it.
pub(super) fn of(text: &str, kinds: Kinds) -> Vec<Digit> {
    let mut found = Vec::new();
    let mut gap = Gap { strange: true, seen: 2, ..Gap::NONE };
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        let escape = if kinds == Kinds::All { escaped(&text.as_bytes()[at..]) } else { None };
        let read = match escape {
            Some((value, length)) => {
                // The escape is ASCII: so many more characters belong to it.
                letters.nth(length - 2);
                Some((value, length))
            }
            None if kinds == Kinds::Ascii && !letter.is_ascii() => None,
            None => digit(letter).map(|value| (value, letter.len_utf8())),
        };
        match read {
            Some((value, length)) => {
                let length = u8::try_from(length).unwrap_or_default();
                found.push(Digit { at, length, value, before: gap.between(), hidden: false });
                gap = Gap::NONE;
            }
            None => gap.add(letter),
        }
    }
    found
}

/// Hides all but the first six and the last four digits of a number.
pub(super) fn hide_middle(number: &mut [Digit]) {
    let end = number.len().saturating_sub(SHOWN_LAST);
    number.iter_mut().take(end).skip(SHOWN_FIRST).for_each(|digit| digit.hidden = true);
}

/// The text with an asterisk for every character of a hidden digit.
pub(super) fn without_hidden(text: &str, digits: &[Digit]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for digit in digits.iter().filter(|digit| digit.hidden) {
        out.push_str(&text[kept..digit.at]);
        let characters = text[digit.at..digit.end()].chars().count();
        out.extend(core::iter::repeat_n('*', characters));
        kept = digit.end();
    }
    out.push_str(&text[kept..]);
    out
}
