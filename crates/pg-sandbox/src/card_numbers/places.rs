//! Where the digits of a text stand, and which of them are numbers of cards.

use std::borrow::Cow;

use super::{GLUED, LENGTHS, SHOWN, digit};
use crate::cards::{self, Scheme};

/// The digits of a text in their order.
pub(super) struct Places {
    /// In ASCII.
    digits: String,
    places: Vec<Place>,
}

/// How a digit stands behind the one before.
struct Place {
    /// Whether no letter stands between them.
    joined: bool,
    /// Whether something stands between them.
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
                joined &= !letter.is_alphanumeric();
            }
        }
        Self { digits, places }
    }

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.places.len()
    }

    /// Where a number begins that stands in the text again.
    pub(super) fn repeats_of(&self, number: &str) -> impl Iterator<Item = usize> {
        let windows = self.digits.as_bytes().windows(number.len()).enumerate();
        windows.filter(|(_, window)| *window == number.as_bytes()).map(|(start, _)| start)
    }

    /// Digits with no letter between them.
    pub(super) fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let mut start = 0;
        self.places.chunk_by(|_, next| next.joined).map(move |places| {
            let digits = &self.digits[start..start + places.len()];
            start += places.len();
            Row { start: start - places.len(), digits, places }
        })
    }
}

/// Digits with no letter between them.
pub(super) struct Row<'a> {
    start: usize,
    digits: &'a str,
    places: &'a [Place],
}

impl Row<'_> {
    /// Its place among all digits.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    pub(super) const fn len(&self) -> usize {
        self.places.len()
    }

    /// Finds the numbers of card schemes with the right check digit: those that stand apart, and those of the usual lengths
    /// although other digits touch them.
    pub(super) fn likely(&self, check: &mut CheckDigits, mut found: impl FnMut(usize, usize)) {
        check.begin(self.digits);
        for (start, place) in self.places.iter().enumerate() {
            let digits = &self.digits[start..];
            // Most rows begin with no scheme's digits.
            if digits.len() < *LENGTHS.start() || !matches!(digits.as_bytes()[0], b'2'..=b'6') {
                continue;
            }
            for length in Scheme::of(digits).map(lengths).unwrap_or_default().iter().copied() {
                let ends = || self.places.get(start + length).is_none_or(|next| next.begins);
                if length <= digits.len()
                    && check.is_right(start, length)
                    && (GLUED.contains(&length) || (place.begins && ends()))
                {
                    found(self.start + start, length);
                }
            }
        }
    }
}

/// The check digits (Luhn) of all numbers in a row: sums from its beginning, from which that of any part follows.
#[derive(Default)]
pub(super) struct CheckDigits {
    /// Before each digit: those at even places counted as they are and the others twice, and the other way round.
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

    /// Whether the last digit of a part is the one that the others ask for.
    fn is_right(&self, start: usize, length: usize) -> bool {
        let end = start + length;
        let last = (end - 1) % 2;
        (self.sums[end][last] - self.sums[start][last]).is_multiple_of(10)
    }
}

/// Which digits of a text are not shown.
pub(super) struct Hidden(Vec<bool>);

impl Hidden {
    pub(super) fn none(digits: usize) -> Self {
        Self(vec![false; digits])
    }

    /// Hides the middle digits of a number.
    pub(super) fn hide(&mut self, start: usize, length: usize) {
        self.0[start + SHOWN.0..start + length - SHOWN.1].fill(true);
    }

    /// The text without them.
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

/// Whether digits are a number of a card scheme, of the scheme's length and with the right check digit.
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
