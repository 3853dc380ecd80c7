//! The random values of a drill, derived from the seed and the drill's number.

/// `SplitMix64`: the same seed, the same values, on every machine.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

const LETTERS: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

impl Dice {
    pub(crate) fn new(seed: u64, drill: &str, round: u32) -> Self {
        // FNV-1a of the drill's id.
        let mut state = seed ^ 0xcbf2_9ce4_8422_2325;
        for byte in drill.bytes().chain(round.to_le_bytes()) {
            state = (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(state)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next().to_le_bytes()[0])
    }

    /// Letters and digits, as in keys.
    pub(crate) fn letters(&mut self, count: usize) -> String {
        (0..count).map(|_| char::from(LETTERS[usize::from(self.next().to_le_bytes()[1] & 31)])).collect()
    }

    /// Returns a Luhn-valid number of 16 digits that belongs to no scenario of the sandbox and to no customer.
    pub(crate) fn card_number(&mut self) -> String {
        let mut digits = format!("41111{:010}", self.below(10_000_000_000));
        let sum: u32 = digits.bytes().rev().enumerate().map(|(at, digit)| luhn(at, u32::from(digit - b'0'))).sum();
        digits.push_str(&((10 - sum % 10) % 10).to_string());
        digits
    }
}

/// Returns the contribution of a digit to the Luhn sum, counted from the right of a number without its check digit.
fn luhn(at: usize, digit: u32) -> u32 {
    match digit * 2 {
        doubled if at.is_multiple_of(2) => doubled / 10 + doubled % 10,
        _ => digit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_values_and_card_numbers_are_valid() {
        let (mut one, mut same) = (Dice::new(7, "M01", 0), Dice::new(7, "M01", 0));
        assert_eq!(one.letters(32), same.letters(32));
        assert_ne!(Dice::new(7, "M02", 0).next(), Dice::new(7, "M01", 0).next());
        for _ in 0..50 {
            let number = one.card_number();
            assert_eq!(number.len(), 16);
            let sum: u32 =
                number.bytes().rev().enumerate().map(|(at, digit)| luhn(at + 1, u32::from(digit - b'0'))).sum();
            assert_eq!(sum % 10, 0, "{number}");
        }
    }
}
