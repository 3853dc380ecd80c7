//! A set of card keys with a bounded number of bytes per key.

use std::{
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use sha2::{Digest, Sha512};

/// 128 bits of the SHA-512 of each card key. A hash takes 17 bytes in a table that is between seven sixteenths and
/// seven eighths full: 19 to 39 bytes a key, and half as much again while the table grows.
///
/// Finding two keys with the same 128 bits takes about 2⁶⁴ attempts.
#[derive(Default)]
pub(super) struct KeySet(HashSet<u128, BuildHasherDefault<Leading>>);

/// Returns a hash of a text with the length of a `u128`.
pub(super) fn print_of(text: &str) -> u128 {
    let hash = Sha512::digest(text.as_bytes());
    hash.iter().take(16).fold(0, |print, &byte| (print << 8) | u128::from(byte))
}

/// A hash of a sequence of hashes, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Trail(u64, u64);

impl Trail {
    pub(super) fn and(self, print: u128) -> Self {
        let before = (u128::from(self.0) << 64) | u128::from(self.1);
        // Any odd factor keeps all earlier information; this one is the multiplier of PCG 128.
        let after = before.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(print).wrapping_add(1);
        Self((after >> 64) as u64, after as u64)
    }
}

impl KeySet {
    /// Inserts a hash; returns whether it is new.
    pub(super) fn insert(&mut self, print: u128) -> bool {
        self.0.insert(print)
    }

    pub(super) fn contains(&self, print: u128) -> bool {
        self.0.contains(&print)
    }
}

/// Uses the lower half of a hash unchanged, since hashes are evenly distributed.
#[derive(Default)]
struct Leading(u64);

impl Hasher for Leading {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |sum, &byte| sum.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u128(&mut self, print: u128) {
        self.0 = print as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_the_first_quarter_of_sha_512() {
        // printf abc | sha512sum
        assert_eq!(print_of("abc"), 0xddaf_35a1_9361_7aba_cc41_7349_ae20_4131);
    }

    #[test]
    fn a_key_is_new_once_and_a_trail_knows_the_order() {
        let mut set = KeySet::default();
        assert_eq!(["a", "b", "a"].map(|key| set.insert(print_of(key))), [true, true, false]);
        let trail = |keys: &[&str]| keys.iter().fold(Trail::default(), |trail, key| trail.and(print_of(key)));
        assert_eq!(trail(&["a", "b"]), trail(&["a", "b"]));
        assert_ne!(trail(&["a", "b"]), trail(&["b", "a"]));
        assert_ne!(trail(&["a"]), trail(&["a", "a"]));
    }
}
