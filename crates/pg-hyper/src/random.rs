//! The random numbers of the drivers.

use std::sync::atomic::{AtomicU64, Ordering};

/// The source of random numbers. A machine keeps its promises with any sequence.
pub(crate) enum Dice {
    /// The system's randomness. A system without randomness is not an error.
    System,
    /// The same numbers each time, for tests.
    Seeded(AtomicU64),
}

impl Dice {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self::Seeded(AtomicU64::new(seed))
    }

    pub(crate) fn number(&self) -> u64 {
        match self {
            Self::System => system(),
            // SplitMix64: a counter whose values are scrambled.
            Self::Seeded(state) => {
                let mut mixed = state.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
                mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                mixed ^ (mixed >> 31)
            }
        }
    }
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

#[expect(clippy::disallowed_methods, reason = "the driver is where randomness comes in")]
fn system() -> u64 {
    getrandom::u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_of_the_published_generator() {
        // The first outputs of the reference implementation for the seed 1234567.
        let dice = Dice::seeded(1_234_567);
        let expected = [6_457_827_717_110_365_317_u64, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([(); 3].map(|()| dice.number()), expected);
    }
}
