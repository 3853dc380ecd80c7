//! Filling the last block, which the documents do not describe (spec 2 §4.2).

use alloc::vec::Vec;

use subtle::ConstantTimeEq;

use super::cipher::BLOCK;

/// How the last block of the plaintext is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Padding {
    /// PKCS#7: 1 to 16 bytes, each of which tells how many there are.
    #[default]
    Pkcs7,
    /// Up to 15 zero bytes. Zeros at the end of the text itself do not survive.
    Zero,
    /// None: the text has to fill its blocks.
    None,
}

impl Padding {
    /// The text with its padding, in a buffer that never grew; none if it does not fill its blocks.
    pub(crate) fn pad(self, text: &[u8]) -> Option<Vec<u8>> {
        let mut padded = Vec::with_capacity(text.len() + BLOCK);
        padded.extend_from_slice(text);
        let missing = BLOCK - text.len() % BLOCK;
        match self {
            Self::Pkcs7 => padded.resize(text.len() + missing, missing as u8),
            Self::Zero if missing < BLOCK || text.is_empty() => {
                padded.resize(text.len() + missing, 0);
            }
            Self::None if missing < BLOCK || text.is_empty() => return None,
            Self::Zero | Self::None => {}
        }
        Some(padded)
    }

    /// The length of the text within its padded form; none if the padding is wrong.
    pub(crate) fn text_len(self, padded: &[u8]) -> Option<usize> {
        match self {
            Self::Pkcs7 => pkcs7_text_len(padded),
            Self::Zero => Some(padded.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)),
            Self::None => Some(padded.len()),
        }
    }
}

/// Looks at all 16 bytes whatever they are, without branching, so that the time taken does not tell where the
/// padding is wrong.
fn pkcs7_text_len(padded: &[u8]) -> Option<usize> {
    let last = padded.last_chunk::<BLOCK>()?;
    let count = last[BLOCK - 1];
    // Only 1 to 16 are counts: one less fits into four bits.
    let mut wrong = count.wrapping_sub(1) & 0xf0;
    for (from_end, byte) in (0u8..).zip(last.iter().rev()) {
        // All ones among the last `count` bytes, else zero.
        let is_padding = ((i16::from(from_end) - i16::from(count)) >> 15) as u8;
        wrong |= is_padding & (byte ^ count);
    }
    bool::from(wrong.ct_eq(&0)).then(|| padded.len() - usize::from(count))
}

#[cfg(test)]
mod tests {
    use super::Padding;

    #[test]
    fn pads_and_unpads() {
        for len in 0..50 {
            let text = alloc::vec![b'x'; len];
            for padding in [Padding::Pkcs7, Padding::Zero, Padding::None] {
                let Some(padded) = padding.pad(&text) else {
                    assert!(padding == Padding::None && (len % 16 != 0 || len == 0));
                    continue;
                };
                assert!(padded.len().is_multiple_of(16) && !padded.is_empty());
                assert!(padded.len() >= len && padded.len() <= len + 16);
                assert_eq!(padding.text_len(&padded), Some(len), "{padding:?} {len}");
            }
        }
    }

    #[test]
    fn refuses_wrong_pkcs7() {
        let good = Padding::Pkcs7.pad(b"0123456789a").unwrap();
        assert_eq!(good[11..], [5; 5]);
        for (at, byte) in [(15, 0), (15, 17), (15, 6), (15, 255), (11, 4), (13, 0)] {
            let mut wrong = good.clone();
            wrong[at] = byte;
            assert_eq!(Padding::Pkcs7.text_len(&wrong), None, "{at} {byte}");
        }
        // A last byte of 1 is right, whatever stands before it.
        let mut shorter = good;
        shorter[15] = 1;
        assert_eq!(Padding::Pkcs7.text_len(&shorter), Some(15));
        assert_eq!(Padding::Pkcs7.text_len(&[]), None);
    }
}
