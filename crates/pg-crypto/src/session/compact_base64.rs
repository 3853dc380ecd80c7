//! Base64 in little code, for WebAssembly: there, code size matters more than a microsecond.

use alloc::vec::Vec;

/// The last two characters of an alphabet. All alphabets have the others in common.
pub(super) type Alphabet = [u8; 2];

pub(super) const STANDARD: Alphabet = *b"+/";
pub(super) const URL_SAFE: Alphabet = *b"-_";

/// Returns the bytes, or `None` if the text is not Base64. Padding is optional.
pub(super) fn decode(text: &[u8], alphabet: Alphabet) -> Option<Vec<u8>> {
    let end = text.iter().position(|byte| *byte == b'=').unwrap_or(text.len());
    let (digits, padding) = text.split_at_checked(end)?;
    // A last group of one digit contains no byte. With padding, a group has at most four characters.
    let last = digits.len() % 4;
    let fits = if padding.is_empty() { last != 1 } else { last > 1 && last + padding.len() <= 4 };
    if !fits || padding.iter().any(|byte| *byte != b'=') {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len());
    let (mut held, mut bits) = (0_u32, 0);
    for byte in digits {
        held = (held << 6) | u32::from(digit(*byte, alphabet)?);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            let [byte, ..] = (held >> bits).to_le_bytes();
            bytes.push(byte);
            held &= (1 << bits) - 1;
        }
    }
    // The unused bits of the last digit must be zero.
    (held == 0).then_some(bytes)
}

fn digit(byte: u8, [next_to_last, last]: Alphabet) -> Option<u8> {
    Some(match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        _ if byte == next_to_last => 62,
        _ if byte == last => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use proptest::prelude::*;

    use super::super::text::{BASE64, BASE64_URL};
    use super::{STANDARD, URL_SAFE, decode};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_decoder_reads_what_the_crate_base64_reads(text in "[A-Ea-e0-3+/_-]{0,12}={0,4}[AQ=!]?") {
            prop_assert_eq!(decode(text.as_bytes(), STANDARD), BASE64.decode(&text).ok(), "{}", text);
            prop_assert_eq!(decode(text.as_bytes(), URL_SAFE), BASE64_URL.decode(&text).ok(), "{}", text);
        }

        #[test]
        fn the_decoder_reads_what_was_encoded(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(decode(BASE64.encode(&bytes).as_bytes(), STANDARD), Some(bytes.clone()));
            prop_assert_eq!(decode(BASE64_URL.encode(&bytes).as_bytes(), URL_SAFE), Some(bytes));
        }
    }
}
