//! Maps by names of the tables. Their keys are our own and never change, so callers cannot fill a map with names that collide, and a
//! simple hash (FNV-1a) does: a request has dozens of names, each looked up several times.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// A map whose keys are names of the tables.
pub(crate) type NameMap<V> = HashMap<&'static str, V, BuildHasherDefault<NameHasher>>;

/// FNV-1a with 64 bits.
pub(crate) struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vectors of the authors of FNV.
    #[test]
    fn the_hash_is_fnv_1a() {
        for (text, wanted) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hasher = NameHasher::default();
            hasher.write(text.as_bytes());
            assert_eq!(hasher.finish(), wanted, "{text}");
        }
    }
}
