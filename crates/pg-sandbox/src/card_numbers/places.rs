//! The digits of a text, and which of them are card numbers.

use std::borrow::Cow;

use super::{GLUED, LENGTHS, SHOWN, digit};
use crate::cards::{self, Scheme};

/// The digits of a text in order.
pub(super) struct Places {
    /// In ASCII.
    digits: String,
    places: Vec<Place>,
}

/// The separator between a digit and the one before.
struct Place {
    /// Whether there is no letter between them.
    joined: bool,
    /// Whether there is any character between them.
    begins: bool,
}

impl Places {
    pub(super) fn of(text: &str) -> Self {
        let (mut digits, mut places) = (String::new(), Vec::new());
        let (mut joined, mut begins) = (false, true);
        for letter in text.chars() {
            if let Some(digit) = digit(letter) {
                digits.push(char::from(digit));
                places.push(Place { joined, begins });
                (joined, begins) = (true, false);
            } else {
                begins = true;
                // Letters beyond ASCII are looked up in tables.
                joined = joined && !letter.is_alphanumeric();
            }
        }
        Self { digits, places }
    }

    /// The number of digits.
    pub(super) const fn len(&self) -> usize {
        self.places.len()
    }

    /// The start of a number that occurs in the text again.
    pub(super) fn repeats_of(&self, number: &str) -> impl Iterator<Item = usize> {
        let windows = self.digits.as_bytes().windows(number.len()).enumerate();
        windows.filter(|(_, window)| *window == number.as_bytes()).map(|(start, _)| start)
    }

    /// Digits without letters between them.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut start = 0;
        self.places.chunk_by(|_, next| next.joined).map(move |places| {
            let digits = &self.digits[start..start + places.len()];
            start += places.len();
            Row { start: start - places.len(), digits, places }
        })
    }
}

/// Digits without letters between them.
pub(super) struct Row<'a> {
    start: usize,
    digits: &'a str,
    places: &'a [Place],
}

impl Row<'_> {
    /// Its index among all digits.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    pub(super) const fn len(&self) -> usize {
        self.places.len()
    }

    /// Finds card-scheme numbers with a valid check digit: isolated ones, and those of the usual lengths
    /// also beside other digits if `beside_digits` is true.
    pub(super) fn likely(&self, check: &mut CheckDigits, beside_digits: bool, mut found: impl FnMut(usize, usize)) {
        check.begin(self.digits);
        for (start, place) in self.places.iter().enumerate() {
            let digits = &self.digits[start..];
            // Most rows do not start with a scheme's digits.
            if digits.len() < *LENGTHS.start() || !matches!(digits.as_bytes()[0], b'2'..=b'6') {
                continue;
            }
            for length in Scheme::of(digits).map(lengths).unwrap_or_default().iter().copied() {
                let ends = || self.places.get(start + length).is_none_or(|next| next.begins);
                if length <= digits.len()
                    && check.is_right(start, length)
                    && (beside_digits && GLUED.contains(&length) || (place.begins && ends()))
                {
                    found(self.start + start, length);
                }
            }
        }
    }
}

/// The check digits (Luhn) of all numbers in a row: prefix sums, from which that of any part follows.
#[derive(Default)]
pub(super) struct CheckDigits {
    /// Before each digit: the sum with digits at even indices counted once and the others doubled, and the reverse.
    sums: Vec<[u32; 2]>,
}

impl CheckDigits {
    fn begin(&mut self, digits: &str) {
        let mut sums = [0; 2];
        self.sums.clear();
        self.sums.push(sums);
        for (at, byte) in digits.bytes().enumerate() {
            let digit = u32::from(byte - b'0');
            sums[at % 2] += digit;
            sums[1 - at % 2] += digit * 2 % 10 + digit / 5;
            self.sums.push(sums);
        }
    }

    /// Whether the last digit of a part is its valid check digit.
    fn is_right(&self, start: usize, length: usize) -> bool {
        let end = start + length;
        let last = (end - 1) % 2;
        (self.sums[end][last] - self.sums[start][last]).is_multiple_of(10)
    }
}

/// The masked digits of a text.
pub(super) struct Hidden(Vec<bool>);

impl Hidden {
    pub(super) fn none(digits: usize) -> Self {
        Self(vec![false; digits])
    }

    /// Masks the middle digits of a number.
    pub(super) fn hide(&mut self, start: usize, length: usize) {
        self.hide_all(start + SHOWN.0, length - SHOWN.0 - SHOWN.1);
    }

    /// Masks all these digits.
    pub(super) fn hide_all(&mut self, start: usize, length: usize) {
        self.0[start..start + length].fill(true);
    }

    /// The text with masks.
    pub(super) fn applied_to(self, text: &str) -> Cow<'_, str> {
        if !self.0.contains(&true) {
            return Cow::Borrowed(text);
        }
        let mut hidden = self.0.into_iter();
        let shown = |letter| match digit(letter) {
            Some(_) if hidden.next() == Some(true) => '*',
            _ => letter,
        };
        text.chars().map(shown).collect()
    }
}

/// Whether digits are a number of a card scheme, with the scheme's length and a valid check digit.
pub(super) fn is_card_number(digits: &str) -> bool {
    LENGTHS.contains(&digits.len())
        && Scheme::of(digits).is_some_and(|scheme| lengths(scheme).contains(&digits.len()))
        && cards::luhn_valid(digits)
}

/// The lengths of a scheme's numbers.
const fn lengths(scheme: Scheme) -> &'static [usize] {
    match scheme {
        Scheme::Visa => &[13, 16, 19],
        Scheme::Mastercard => &[16],
        Scheme::Amex => &[15],
        Scheme::Diners => &[14, 15, 16, 17, 18, 19],
        Scheme::Maestro => &[12, 13, 14, 15, 16, 17, 18, 19],
        Scheme::Discover | Scheme::Jcb | Scheme::UnionPay => &[16, 17, 18, 19],
    }
}
