//! The padding of the last block, which the documents do not describe (spec 2 §4.2).

use alloc::vec::Vec;

/// Bytes of an AES block.
pub(super) const BLOCK: usize = 16;

/// How the last block of the plaintext is filled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Padding {
    /// PKCS#7: 1 to 16 bytes that each contain their number.
    #[default]
    Pkcs7,
    /// Up to 15 zero bytes. Zeros at the end of the text are lost.
    Zero,
    /// No padding: the text must fill its blocks.
    None,
}

impl Padding {
    /// Returns the text with its padding, in a buffer that never grew. `None` if the text does not fill its blocks.
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

    /// Returns the length of the padding and whether it is valid.
    pub(crate) fn verdict(self, padded: &[u8]) -> Verdict {
        match self {
            Self::Pkcs7 => pkcs7(padded),
            Self::Zero | Self::None => Verdict { wrong: 0, count: 0 },
        }
    }

    /// Returns the length of a text with valid padding.
    pub(crate) fn text_len(self, padded: &[u8], verdict: Verdict) -> usize {
        match self {
            Self::Pkcs7 => padded.len().saturating_sub(usize::from(verdict.count)),
            Self::Zero => padded.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1),
            Self::None => padded.len(),
        }
    }
}

/// The result of a padding check. Code must not branch on it before all other checks.
#[derive(Clone, Copy)]
pub(crate) struct Verdict {
    /// Zero if the padding is valid.
    pub(crate) wrong: u8,
    /// The length of the padding, according to its last byte. Meaningless if the padding is invalid.
    pub(crate) count: u8,
}

/// Reads all 16 bytes without branching, so that the time does not reveal where the padding is invalid.
fn pkcs7(padded: &[u8]) -> Verdict {
    let Some(last) = padded.last_chunk::<BLOCK>() else { return Verdict { wrong: 1, count: 0 } };
    let count = last[BLOCK - 1];
    // Only 1 to 16 are valid: minus one, they fit into four bits.
    let mut wrong = count.wrapping_sub(1) & 0xf0;
    for (from_end, byte) in (0u8..).zip(last.iter().rev()) {
        // All ones among the last `count` bytes, else zero.
        let is_padding = ((i16::from(from_end) - i16::from(count)) >> 15) as u8;
        wrong |= is_padding & (byte ^ count);
    }
    Verdict { wrong, count }
}

#[cfg(test)]
mod tests {
    use super::Padding;

    fn text_len(padding: Padding, padded: &[u8]) -> Option<usize> {
        let verdict = padding.verdict(padded);
        (verdict.wrong == 0).then(|| padding.text_len(padded, verdict))
    }

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
                assert_eq!(text_len(padding, &padded), Some(len), "{padding:?} {len}");
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
            assert_eq!(text_len(Padding::Pkcs7, &wrong), None, "{at} {byte}");
        }
        // A last byte of 1 is valid after any other bytes.
        let mut shorter = good;
        shorter[15] = 1;
        assert_eq!(text_len(Padding::Pkcs7, &shorter), Some(15));
        assert_eq!(text_len(Padding::Pkcs7, &[]), None);
    }
}
