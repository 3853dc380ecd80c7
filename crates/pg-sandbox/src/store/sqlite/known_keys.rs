//! Bloom filters of the keys that a store may contain, and of the digests of each era. Nearly every requested key is
//! new, and a filter shows that faster than a search in a tree.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use super::super::seal::Cell;

/// Bits in a block, which is one line of a processor's cache.
const BLOCK: usize = 512;
/// The bits reserved for each key, and those it sets: a missing key seems to be present in fewer than one of 200 cases.
const BITS_A_KEY: usize = 16;
const SET: u32 = 5;

/// A run of rows that were written one after the other.
pub(super) type Era = u32;

/// The keys of all rows, and the digests of the tables that are kept in eras.
#[derive(Default)]
pub(super) struct KnownKeys {
    keys: Filter<4_096, 4, { usize::MAX }>,
    eras: BTreeMap<Era, Digests>,
}

/// The digests of an era. It starts small, so that a file in which each row has a different era needs little more memory.
type Digests = Filter<SMALL, { ERA / SMALL }, ERA>;
const SMALL: usize = if cfg!(test) { 32 } else { 256 };
/// An era ends when it has slightly more digests than this. Smaller eras change fewer pages of the store, but a search
/// for a stored digest asks the filter of every era.
const ERA: usize = if cfg!(test) { 64 } else { 4_096 };

/// Returns the hash of a value of a column, the same in every run.
pub(super) fn hash(table: &str, value: &Cell<'_>) -> u64 {
    match value {
        Cell::Text(text) => {
            let mut hasher = DefaultHasher::new();
            (table, text).hash(&mut hasher);
            hasher.finish()
        }
        // A digest depends on its table, and its bits are as good as those of a hash.
        Cell::Digest(digest) => u128::from_le_bytes(*digest) as u64,
    }
}

impl KnownKeys {
    /// Adds the key with this hash.
    pub(super) fn add(&mut self, hash: u64) {
        self.keys.add(hash);
    }

    /// Whether the key with this hash may have been added; if not, it certainly was not.
    pub(super) fn may_hold(&self, hash: u64) -> bool {
        self.keys.may_hold(hash)
    }

    /// Returns the era of new rows.
    pub(super) fn era(&self) -> Era {
        let Some((era, digests)) = self.eras.last_key_value() else { return 0 };
        if digests.is_full() { era.saturating_add(1) } else { *era }
    }

    /// Adds the digest with this hash to an era.
    pub(super) fn add_to(&mut self, era: Era, hash: u64) {
        self.eras.entry(era).or_default().add(hash);
    }

    /// Returns the eras to which the digest with this hash may have been added, latest first.
    pub(super) fn eras(&self, hash: u64) -> impl Iterator<Item = Era> {
        self.eras.iter().rev().filter(move |(_, digests)| digests.may_hold(hash)).map(|(era, _)| *era)
    }
}

/// A Bloom filter in layers. The first has room for `FIRST` hashes, each further one for `GROWTH` times as many, but at
/// most for `MOST`.
#[derive(Default)]
struct Filter<const FIRST: usize, const GROWTH: usize, const MOST: usize>(Vec<Layer>);

struct Layer {
    blocks: Vec<[u64; BLOCK / 64]>,
    room: usize,
}

impl<const FIRST: usize, const GROWTH: usize, const MOST: usize> Filter<FIRST, GROWTH, MOST> {
    fn add(&mut self, hash: u64) {
        if self.may_hold(hash) {
            return;
        }
        if self.0.last().is_none_or(|last| last.room == 0) {
            let last = self.0.last().map(|last| last.blocks.len() * BLOCK / BITS_A_KEY);
            let hashes = last.map_or(FIRST, |last| last.saturating_mul(GROWTH).min(MOST));
            self.0.push(Layer { blocks: vec![[0; BLOCK / 64]; hashes * BITS_A_KEY / BLOCK], room: hashes });
        }
        if let Some(last) = self.0.last_mut() {
            last.room -= 1;
            let block = last.block(hash);
            bits(hash).for_each(|(word, bit)| last.blocks[block][word] |= bit);
        }
    }

    fn may_hold(&self, hash: u64) -> bool {
        self.0.iter().any(|layer| {
            let block = &layer.blocks[layer.block(hash)];
            bits(hash).all(|(word, bit)| block[word] & bit != 0)
        })
    }

    /// Whether a layer of the greatest size is full.
    fn is_full(&self) -> bool {
        self.0.last().is_some_and(|last| last.room == 0 && last.blocks.len() * BLOCK / BITS_A_KEY == MOST)
    }
}

impl Layer {
    fn block(&self, hash: u64) -> usize {
        usize::try_from(((hash >> 32) * self.blocks.len() as u64) >> 32).unwrap_or_default()
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
        assert!(keys.keys.0.len() > 2, "more than one layer was needed");
    }

    #[test]
    fn an_era_ends_when_it_is_full_and_its_digests_are_found_in_it() {
        let mut keys = KnownKeys::default();
        let mut written = |number| {
            let era = keys.era();
            keys.add_to(era, hashed(number));
            era
        };
        let eras: Vec<Era> = (0..10_000).map(&mut written).collect();
        assert!(eras.is_sorted() && eras[0] == 0 && (99..=10_000 / 96).contains(&eras[9_999]), "{:?}", eras.last());
        let mut found = 0;
        for (number, era) in (0..).zip(&eras) {
            let candidates: Vec<Era> = keys.eras(hashed(number)).collect();
            assert!(candidates.contains(era) && candidates.is_sorted_by(|one, next| one > next));
            found += candidates.len();
        }
        assert!(found < 20_000, "few other eras seem to have them: {found}");
    }

    #[test]
    fn the_last_era_of_all_does_not_end() {
        let mut keys = KnownKeys::default();
        (0..1_000).for_each(|number| keys.add_to(Era::MAX, hashed(number)));
        assert_eq!(keys.era(), Era::MAX);
    }

    #[test]
    fn tables_texts_and_digests_differ() {
        let text = Cell::Text("0123456789abcdef".into());
        assert_ne!(hash("t", &text), hash("u", &text));
        assert_ne!(hash("t", &text), hash("t", &Cell::Digest(*b"0123456789abcdef")));
    }
}
