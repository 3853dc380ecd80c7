//! Finds a duplicate among thousands of texts.

use alloc::{vec, vec::Vec};

use crate::text::Text;

/// The average number of table slots examined per text, before giving up.
const PATIENCE: usize = 8;

/// The part of a slot that holds the number of a text.
const NUMBER: u32 = 0xFFFF;

/// A text that occurs more than once.
///
/// A hash table finds it in one pass. The hash is not random, so an attacker can choose texts whose hashes collide;
/// such texts are sorted instead, in time that no choice of texts can increase.
pub(crate) fn find<T: Text>(texts: &[T]) -> Option<&str> {
    by_hash(texts).unwrap_or_else(|| by_order(texts))
}

/// `None` if too many hashes collide, or there are more texts than a slot can number.
fn by_hash<T: Text>(texts: &[T]) -> Option<Option<&str>> {
    let count = u16::try_from(texts.len()).ok()?;
    let slots = (2 * texts.len()).next_power_of_two();
    // Low bits: the number of a text, from 1. High bits: more of its hash, so that few texts have to be compared.
    let mut table = vec![0_u32; slots];
    let mut looks = PATIENCE * texts.len();
    for (number, text) in (1..=count).zip(texts) {
        let text = text.text();
        let hash = hash(text.as_bytes());
        let entry = (hash >> 32) as u32 & !NUMBER | u32::from(number);
        let mut slot = hash as usize;
        loop {
            slot &= slots - 1;
            let other = table[slot];
            if other == 0 {
                break;
            }
            if (other ^ entry) & !NUMBER == 0 && texts[(other & NUMBER) as usize - 1].text() == text {
                return Some(Some(text));
            }
            slot += 1;
            looks = looks.checked_sub(1)?;
        }
        table[slot] = entry;
    }
    Some(None)
}

fn by_order<T: Text>(texts: &[T]) -> Option<&str> {
    let mut sorted: Vec<&str> = texts.iter().map(Text::text).collect();
    sorted.sort_unstable();
    sorted.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
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
    use alloc::{format, string::String};

    use super::*;

    fn keys(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("4F2C-{number}")).collect()
    }

    #[test]
    fn only_what_occurs_twice_is_found_wherever_it_stands() {
        for count in [1, 2, 3, 100, 5_000] {
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
    fn texts_whose_hashes_meet_are_sorted() {
        // The same low bits: one slot for all of them.
        let meeting: Vec<String> = (0..)
            .map(|number: u32| format!("{number:x}"))
            .filter(|text| hash(text.as_bytes()) % 256 == 7)
            .take(100)
            .collect();
        assert_eq!(by_hash(&meeting), None);
        assert_eq!(find(&meeting), None);
        let twice: Vec<String> = meeting.iter().chain(&meeting[40..41]).cloned().collect();
        assert_eq!(find(&twice), Some(&*meeting[40]));
    }
}
