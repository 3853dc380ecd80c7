//! Keys that sort by time and cannot be guessed.
//!
//! With time-ordered keys, inserts append to the end of an index (about seven times faster than with
//! random keys) and the primary key has the order "newest first". Every key ends in at least
//! 88 random bits, so that a merchant cannot guess another's.

use std::fmt::Write as _;

use chacha20::{
    ChaCha20Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

use crate::timestamp::Timestamp;

/// A source of unpredictable bytes, passed to the core so that a seed makes a run reproducible.
pub trait RandomSource: Send {
    /// Fills the slice with random bytes.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// The ChaCha20 generator: a test seeds it with a constant, the server from the system.
pub struct SeededRandom(ChaCha20Rng);

impl SeededRandom {
    /// Creates a generator that gives the same bytes for the same seed.
    #[must_use]
    pub fn new(seed: [u8; 32]) -> Self {
        Self(ChaCha20Rng::from_seed(seed))
    }
}

impl RandomSource for SeededRandom {
    fn fill(&mut self, bytes: &mut [u8]) {
        self.0.fill_bytes(bytes);
    }
}

const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
/// Nine digits of base 36 can represent every [`Timestamp`] up to the year 5188.
const TIME_DIGITS: usize = 9;
const COUNT_DIGITS: usize = 2;
const KEY_DIGITS: usize = 32;
/// The characters of a card key that contain its number.
const CARD_NUMBER_END: usize = "01234567-89ab-cd".len();
const COUNT_LIMIT: u64 = 36 * 36;
/// The bits of the count in the number of a key. The bits above are its time.
const COUNT_BITS: u32 = 11;

/// Generates the keys of one sandbox, each greater than the previous one.
pub struct Keys {
    dice: Box<dyn RandomSource>,
    /// The number of the last key.
    last: u64,
}

/// Returns the number of a record key or a card key: its time and count. Keys have the order of their numbers.
pub(crate) fn number(key: &str) -> Option<u64> {
    let number = |digits: Option<&str>| digits.and_then(|digits| u64::from_str_radix(digits, 36).ok());
    if key.as_bytes().get(8) == Some(&b'-') {
        return u64::from_str_radix(&key.get(..CARD_NUMBER_END)?.replace('-', ""), 16).ok();
    }
    let time = number(key.get(..TIME_DIGITS))?;
    Some(time << COUNT_BITS | number(key.get(TIME_DIGITS..TIME_DIGITS + COUNT_DIGITS))?)
}

impl Keys {
    /// Creates a maker of keys whose random part comes from the given source.
    #[must_use]
    pub fn new(dice: Box<dyn RandomSource>) -> Self {
        Self { dice, last: 0 }
    }

    /// Makes all further keys greater than the key with this [`number`] of another process, whatever the clock shows.
    pub(crate) fn go_on_after(&mut self, number: u64) {
        self.last = self.last.max(number);
    }

    /// Returns the number of the last key.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Returns a key of 32 lower-case letters and digits, for sessions, transactions, authentications and batches (spec
    /// 2 §2.1, §2.3, §2.5; spec 1 §2.2): time, a counter, and 108 random bits.
    pub fn record(&mut self, now: Timestamp) -> String {
        let number = self.next(now);
        let mut key = [0_u8; KEY_DIGITS];
        let (prefix, random) = key.split_at_mut(TIME_DIGITS + COUNT_DIGITS);
        let (time, counter) = prefix.split_at_mut(TIME_DIGITS);
        write_base36(time, number >> COUNT_BITS);
        write_base36(counter, count_of(number));
        self.fill_base36(random);
        key.iter().map(|&digit| char::from(digit)).collect()
    }

    /// Returns a card key in hyphen-separated hexadecimal groups (spec 1 §2.1), 40 characters: 56 bits of time and
    /// count, and 88 random bits. It never has so many adjacent decimal digits that unknown text would mask it as a
    /// card number.
    pub fn card(&mut self, now: Timestamp) -> String {
        loop {
            let key = self.any_card(now);
            if pg_model::mask::text(&key) == key {
                return key;
            }
        }
    }

    fn any_card(&mut self, now: Timestamp) -> String {
        // 45 bits for a Timestamp, 11 for a count: keys of the same millisecond ascend too.
        let ordered = self.next(now) & 0xff_ffff_ffff_ffff;
        let mut random = [0_u8; 11];
        self.dice.fill(&mut random);
        let mut key = String::with_capacity(40);
        let bytes = ordered.to_be_bytes();
        for (position, byte) in bytes[1..].iter().chain(&random).enumerate() {
            if matches!(position, 4 | 6 | 8 | 10) {
                key.push('-');
            }
            // Writing to a string cannot fail.
            let _ = write!(key, "{byte:02x}");
        }
        key
    }

    /// Returns this number of random decimal digits, for trace codes and bank references.
    pub fn digits(&mut self, length: usize) -> String {
        let mut digits = String::with_capacity(length);
        digits.extend(self.below(length, 10).map(|digit| char::from(b'0' + digit)));
        digits
    }

    /// Returns this number of random lower-case letters and digits, for credentials.
    pub fn letters_and_digits(&mut self, length: usize) -> String {
        let mut text = vec![0_u8; length];
        self.fill_base36(&mut text);
        text.into_iter().map(char::from).collect()
    }

    /// Returns the random source itself, for initialisation vectors and nonces.
    pub fn dice(&mut self) -> &mut dyn RandomSource {
        &mut *self.dice
    }

    /// Returns the number of the next key. The time in it never decreases, even if the sandbox's clock is set back.
    fn next(&mut self, now: Timestamp) -> u64 {
        let now = u64::try_from(now.millis()).unwrap_or(0) << COUNT_BITS;
        let is_full = count_of(self.last) + 1 == COUNT_LIMIT;
        let next = if is_full { ((self.last >> COUNT_BITS) + 1) << COUNT_BITS } else { self.last + 1 };
        self.last = next.max(now);
        self.last
    }

    fn fill_base36(&mut self, digits: &mut [u8]) {
        let length = digits.len();
        for (digit, value) in digits.iter_mut().zip(self.below(length, 36)) {
            *digit = ALPHABET[usize::from(value)];
        }
    }

    /// Uniform random numbers below `base`: bytes in the incomplete last range are discarded.
    fn below(&mut self, length: usize, base: u8) -> impl Iterator<Item = u8> {
        let limit = u8::MAX - u8::MAX % base;
        let mut pool = [0_u8; 32];
        let mut left = 0;
        (0..length).map(move |_| {
            loop {
                if left == 0 {
                    self.dice.fill(&mut pool);
                    left = pool.len();
                }
                left -= 1;
                if pool[left] < limit {
                    return pool[left] % base;
                }
            }
        })
    }
}

const fn count_of(number: u64) -> u64 {
    number & ((1 << COUNT_BITS) - 1)
}

fn write_base36(digits: &mut [u8], mut value: u64) {
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[usize::try_from(value % 36).unwrap_or(0)];
        value /= 36;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn keys() -> Keys {
        Keys::new(Box::new(SeededRandom::new([7; 32])))
    }

    // spec: 1 §2.2, A03
    #[test]
    fn record_keys_are_32_alphanumeric_and_ascending() {
        let mut keys = keys();
        let mut last = String::new();
        for step in 0..20_000_i64 {
            // Four keys a millisecond, and the clock is set back half way.
            let now = if step < 10_000 { 1_800_000_000_000 + step / 4 } else { 5 };
            let key = keys.record(Timestamp::from_millis(now));
            assert_eq!(key.len(), 32);
            assert!(key.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase()));
            assert!(key > last, "{last} {key}");
            last = key;
        }
    }

    #[test]
    fn keys_of_a_later_process_follow_those_of_an_earlier_one_while_the_clock_stands_still() {
        let now = Timestamp::from_millis(1_800_000_000_000);
        for make in [Keys::record, Keys::card] {
            let mut earlier = keys();
            let last = (0..5_000).map(|_| make(&mut earlier, now)).last().unwrap();
            assert_eq!(number(&last), Some(earlier.last()));
            let mut later = Keys::new(Box::new(SeededRandom::new([8; 32])));
            later.go_on_after(number(&last).unwrap());
            let next = make(&mut later, now);
            assert!(next > last, "{last} {next}");
            // An older key changes nothing.
            later.go_on_after(number(&last).unwrap());
            assert!(make(&mut later, now) > next);
        }
        for other in ["", "main", "zz-zz-zz-zz-zz", "zzzzzzzz-zzzz-zz"] {
            assert_eq!(number(other), None, "{other}");
        }
    }

    #[test]
    fn keys_of_the_ends_of_time_keep_their_width() {
        let mut keys = keys();
        let first = keys.record(Timestamp::MIN);
        let last = keys.record(Timestamp::MAX);
        assert_eq!((first.len(), last.len()), (32, 32));
        assert!(first < last);
        let (first, last) = (self::keys().card(Timestamp::MIN), keys.card(Timestamp::MAX));
        assert_eq!((first.len(), last.len()), (40, 40));
        assert!(first < last);
    }

    // spec: 1 §2.1, A66: A card key is groups of hexadecimal digits with hyphens.
    #[test]
    fn card_keys_are_hexadecimal_groups_and_ascending() {
        let mut keys = keys();
        let mut last = String::new();
        for step in 0..20_000_i64 {
            // The clock stands still for half of them, and is set back for the others.
            let now = if step < 10_000 { 1_800_000_000_000 } else { 5 };
            let key = keys.card(Timestamp::from_millis(now));
            let groups: Vec<usize> = key.split('-').map(str::len).collect();
            assert_eq!(groups, [8, 4, 4, 4, 16]);
            assert!(key.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit()));
            assert_eq!(pg_model::mask::text(&key), key);
            assert!(key > last, "{last} {key}");
            last = key;
        }
    }

    /// Times whose own digits are all decimal: only the count brings a letter.
    #[test]
    fn a_card_key_is_found_whatever_the_time() {
        for ordered in [0x00_1111_1111_1000_u64, 0x99_9999_9999_9000, 0x12_3456_7890_1000] {
            let now = Timestamp::from_millis(i64::try_from(ordered >> 11).unwrap());
            let mut keys = keys();
            for _ in 0..100 {
                let key = keys.card(now);
                assert_eq!(pg_model::mask::text(&key), key);
            }
        }
    }

    #[test]
    fn a_seed_replays_and_nothing_repeats() {
        let (mut one, mut two) = (keys(), keys());
        let now = Timestamp::from_millis(1_800_000_000_000);
        let mut seen = HashSet::new();
        for _ in 0..5_000 {
            let key = one.record(now);
            assert_eq!(key, two.record(now));
            assert!(seen.insert(key[11..].to_owned()));
        }
    }

    #[test]
    fn random_digits_are_uniform() {
        let text = keys().digits(10_000);
        for digit in b'0'..=b'9' {
            let count = text.bytes().filter(|&b| b == digit).count();
            assert!((850..1150).contains(&count), "{count}");
        }
    }
}
