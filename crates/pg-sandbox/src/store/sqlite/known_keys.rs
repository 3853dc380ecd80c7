//! Which keys a store may hold: a Bloom filter. Nearly every key that is looked for is new, and to find that out in a tree costs
//! more than to ask here.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::super::seal::Cell;

/// Keys in the first layer. Each further layer has room for four times as many.
const FIRST: usize = 4_096;
const GROWTH: usize = 4;
/// Bits in a block, which is one line of a processor's cache.
const BLOCK: usize = 512;
/// Room for each key, and how many bits it sets: fewer than one key in two hundred that are missing seems to be there.
const BITS_A_KEY: usize = 16;
const SET: u32 = 5;

/// The keys that were added, and a few others.
#[derive(Default)]
pub(super) struct KnownKeys(Vec<Layer>);

struct Layer {
    blocks: Vec<[u64; BLOCK / 64]>,
    room: usize,
}

/// The hash of a key of a table, the same in every run.
pub(super) fn hash(table: &str, key: &Cell<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    table.hash(&mut hasher);
    match key {
        Cell::Text(text) => text.hash(&mut hasher),
        Cell::Digest(digest) => digest.hash(&mut hasher),
    }
    hasher.finish()
}

impl KnownKeys {
    /// Adds the key with this hash.
    pub(super) fn add(&mut self, hash: u64) {
        if self.may_hold(hash) {
            return;
        }
        if self.0.last().is_none_or(|last| last.room == 0) {
            let keys = self.0.last().map_or(FIRST, |last| last.blocks.len() * BLOCK / BITS_A_KEY * GROWTH);
            self.0.push(Layer { blocks: vec![[0; BLOCK / 64]; keys * BITS_A_KEY / BLOCK], room: keys });
        }
        if let Some(last) = self.0.last_mut() {
            last.room -= 1;
            let block = last.block(hash);
            bits(hash).for_each(|(word, bit)| last.blocks[block][word] |= bit);
        }
    }

    /// Whether the key with this hash may have been added; if not, it certainly was not.
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        self.0.iter().any(|layer| {
            let block = &layer.blocks[layer.block(hash)];
            bits(hash).all(|(word, bit)| block[word] & bit != 0)
        })
    }
}

impl Layer {
    fn block(&self, hash: u64) -> usize {
        usize::try_from(hash >> 32).unwrap_or_default() % self.blocks.len()
    }
}

/// The words of a block, and the bit in each, that a hash sets.
fn bits(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    let mixed = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (0..SET).map(move |number| {
        let bit = usize::try_from(mixed >> (64 - 9 * (number + 1))).unwrap_or_default() % BLOCK;
        (bit / 64, 1 << (bit % 64))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hashed(number: u64) -> u64 {
        hash("t", &Cell::Text(number.to_string().into()))
    }

    #[test]
    fn every_key_that_was_added_is_known_and_few_others_are() {
        let mut keys = KnownKeys::default();
        assert!(!keys.may_hold(hashed(0)));
        (0..100_000).for_each(|number| keys.add(hashed(number)));
        assert!((0..100_000).all(|number| keys.may_hold(hashed(number))));
        let mistaken = (100_000..200_000).filter(|number| keys.may_hold(hashed(*number))).count();
        assert!((1..1_000).contains(&mistaken), "{mistaken}");
        assert!(keys.0.len() > 2, "more than one layer was needed");
    }

    #[test]
    fn tables_texts_and_digests_differ() {
        let text = Cell::Text("0123456789abcdef".into());
        assert_ne!(hash("t", &text), hash("u", &text));
        assert_ne!(hash("t", &text), hash("t", &Cell::Digest(*b"0123456789abcdef")));
    }
}
