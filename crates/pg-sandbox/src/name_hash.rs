//! Maps by names of the tables. Their keys come from the tables and never change, so callers cannot fill a map with names that
//! collide, and a simple hash is enough. It has to be fast: a request has dozens of names, each looked up several times.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A map whose keys are names of the tables.
pub(crate) type NameMap<V> = HashMap<&'static str, V, BuildHasherDefault<NameHasher>>;

/// Multiplies and rotates, eight bytes at a time: a name has two or three such parts, and each waits for the one before.
#[derive(Default)]
pub(crate) struct NameHasher(u64);

impl NameHasher {
    const fn add(&mut self, part: u64) {
        self.0 = (self.0.rotate_left(5) ^ part).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (parts, rest) = bytes.as_chunks::<8>();
        parts.iter().for_each(|part| self.add(u64::from_le_bytes(*part)));
        match (bytes.last_chunk::<8>(), rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
            // The last eight bytes overlap those before.
            (Some(last), ..) => self.add(u64::from_le_bytes(*last)),
            (None, Some(first), Some(last)) => {
                self.add(u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last)));
            }
            _ => self.add(rest.iter().fold(0, |part, &byte| part << 8 | u64::from(byte))),
        }
    }

    fn finish(&self) -> u64 {
        // A product's upper bits depend on all of its factors' bits, the lower ones on few; a map uses both ends.
        self.0 ^ self.0 >> 32
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use pg_model::METHODS;

    use super::*;

    fn hash(text: &str) -> u64 {
        let mut hasher = NameHasher::default();
        hasher.write(text.as_bytes());
        hasher.finish()
    }

    #[test]
    fn no_two_names_of_the_tables_have_the_same_hash_and_few_the_same_place() {
        let names: HashSet<&str> = METHODS.iter().flat_map(|info| info.fields).map(|field| field.wire).collect();
        let hashes: HashSet<u64> = names.iter().map(|name| hash(name)).collect();
        assert_eq!(hashes.len(), names.len());
        let places: HashSet<u64> = hashes.iter().map(|hash| hash % 1_024).collect();
        assert!(places.len() > names.len() * 9 / 10, "{} of {}", places.len(), names.len());
    }

    #[test]
    fn every_byte_of_a_name_counts() {
        let name = "abcdefghijklmnopqrstuvw";
        for length in 1..=name.len() {
            assert_ne!(hash(&name[..length]), hash(&name[..length - 1]));
            for at in 0..length {
                let other = [&name[..at], "X", &name[at + 1..length]].concat();
                assert_ne!(hash(&other), hash(&name[..length]), "{length} {at}");
            }
        }
    }
}
