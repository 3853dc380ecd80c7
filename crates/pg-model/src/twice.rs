//! Finds a duplicate among thousands of texts.

use alloc::{vec, vec::Vec};

use crate::text::Text;

/// Returns a text that occurs more than once.
///
/// Only texts whose hash falls on the bit of another text are compared, two in a hundred. The hash is not random: an attacker can
/// choose texts that all fall on one bit, and then all are sorted.
pub(crate) fn find<T: Text>(texts: &[T]) -> Option<&str> {
    let hashes: Vec<u64> = texts.iter().map(|text| hash(text.text().as_bytes())).collect();
    let (mut met, mut met_again) = (Bits::of(texts.len()), Bits::of(texts.len()));
    for hash in &hashes {
        if !met.add(*hash) {
            met_again.add(*hash);
        }
    }
    let alike = texts.iter().zip(&hashes).filter(|(_, hash)| met_again.has(**hash));
    let mut alike: Vec<&str> = alike.map(|(text, _)| text.text()).collect();
    alike.sort_unstable();
    alike.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// A set of hashes of which only some bits count.
struct Bits(Vec<u64>);

impl Bits {
    /// At least 16 bits for each text.
    fn of(texts: usize) -> Self {
        Self(vec![0; (texts / 4).next_power_of_two()])
    }

    /// Whether the hash was new.
    fn add(&mut self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        let new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        new
    }

    fn has(&self, hash: u64) -> bool {
        let (word, bit) = self.place(hash);
        self.0[word] & bit != 0
    }

    const fn place(&self, hash: u64) -> (usize, u64) {
        ((hash >> 6) as usize & (self.0.len() - 1), 1 << (hash & 63))
    }
}

/// Eight bytes at a time.
fn hash(text: &[u8]) -> u64 {
    let (words, rest) = text.as_chunks();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, u64::from_le_bytes(last))
}

/// Multiplies by 2⁶⁴ / φ, so that every bit reaches the high half, and brings that half down again.
const fn mix(hash: u64, word: u64) -> u64 {
    let product = (hash ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    product ^ (product >> 32)
}

#[cfg(test)]
mod tests {
    use alloc::{borrow::ToOwned, format, string::String};

    use super::*;

    fn keys(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("4F2C-{number}")).collect()
    }

    #[test]
    fn only_what_occurs_twice_is_found_wherever_it_stands() {
        for count in [1, 2, 3, 100, if cfg!(miri) { 200 } else { 5_000 }] {
            let mut texts = keys(count);
            assert_eq!(find(&texts), None);
            for again in [0, count / 2, count - 1] {
                texts.push(texts[again].clone());
                assert_eq!(find(&texts), Some(&*texts[again].clone()), "{again} of {count}");
                texts.pop();
            }
        }
        assert_eq!(find::<String>(&[]), None);
    }

    #[test]
    fn texts_that_differ_in_length_or_in_one_byte_are_different() {
        let texts: Vec<String> = ["", "a", "b", "aa", "aaaaaaaa", "aaaaaaaaa", "aaaaaaaab", "baaaaaaaa", "\0", "\0\0"]
            .map(String::from)
            .into();
        assert_eq!(find(&texts), None);
    }

    #[test]
    fn texts_whose_hashes_are_equal_are_compared() {
        let word = |text: &str| u64::from_le_bytes(*text.as_bytes().first_chunk().unwrap());
        let start = |text: &str| mix(16, word(text));
        let first = format!("{}{}", "aaaaaaaa", "bbbbbbbb");
        // Another first half, and the second half that gives the same hash. Miri begins with the first one that is
        // found.
        let other = (if cfg!(miri) { 16_773 } else { 0 }..)
            .find_map(|number: u64| {
                let half = format!("{number:08x}");
                let rest = start(&first) ^ word("bbbbbbbb") ^ start(&half);
                let rest = core::str::from_utf8(&rest.to_le_bytes()).ok()?.to_owned();
                Some(format!("{half}{rest}"))
            })
            .unwrap();
        assert!(first != other && hash(first.as_bytes()) == hash(other.as_bytes()));
        let mut texts = keys(100);
        texts.extend([first.clone(), other]);
        assert_eq!(find(&texts), None);
        texts.push(first.clone());
        assert_eq!(find(&texts), Some(&*first));
    }
}
