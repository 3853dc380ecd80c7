//! The random numbers of one world: its seed determines everything that is random.

use chacha20::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};

/// One stream of random numbers. Each part of a world has its own stream, so that switching a part off does not change
/// the others.
pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of this name in the world of this seed.
    pub(crate) fn new(seed: u64, stream: &str) -> Self {
        Self(ChaCha8Rng::from_seed(bytes(seed, stream)))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `limit`, which is not 0.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        // The bias of the remainder does not matter here.
        self.next() % limit
    }

    /// A number from `least` to `most`.
    pub(crate) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True `times` in a thousand.
    pub(crate) fn per_mille(&mut self, times: u64) -> bool {
        self.below(1_000) < times
    }

    /// Picks one of a non-empty slice.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        let at = self.below(from.len() as u64);
        from[usize::try_from(at).unwrap_or_default()]
    }
}

/// The seed of a stream: the world's seed and the name, spread by FNV-1a.
pub(crate) fn bytes(seed: u64, stream: &str) -> [u8; 32] {
    let name = stream
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&name.to_le_bytes());
    bytes
}
