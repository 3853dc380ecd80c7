//! Reasons why session data cannot be decrypted, for developers.

use core::fmt;

/// Maximum length of `data` to decrypt, in bytes: 1 MiB, far more than a browser puts into a URL.
pub const MAX_DATA_BYTES: usize = 1 << 20;

/// Why session data cannot be decrypted, from [`explain_locally`](super::SessionCipher::explain_locally).
///
/// The last two depend on the plaintext: a server that lets an attacker distinguish them is a decryption oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecryptProblem {
    /// The data is empty.
    Empty,
    /// The data is longer than [`MAX_DATA_BYTES`].
    TooLong,
    /// The `iv` does not have the form that the cipher expects.
    Iv,
    /// The data is neither Base64 nor hexadecimal, or not in the configured text form.
    TextForm,
    /// The data does not fill blocks of 16 bytes.
    NotWholeBlocks {
        /// Number of bytes.
        bytes: usize,
    },
    /// The padding is invalid: a wrong key, or a change in the last two blocks.
    Padding,
    /// The padding is valid, perhaps by chance, but the text is not UTF-8.
    NotUtf8 {
        /// The position of the first invalid byte.
        at: usize,
    },
}

impl fmt::Display for DecryptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the data is empty"),
            Self::TooLong => write!(f, "the data has more than {MAX_DATA_BYTES} characters"),
            Self::Iv => {
                f.write_str("the iv is not 16 characters or 32 hexadecimal digits, or not in the chosen encoding")
            }
            Self::TextForm => f.write_str("the data is not in Base64 or hexadecimal, or not in the chosen encoding"),
            Self::NotWholeBlocks { bytes } => {
                write!(
                    f,
                    "the data has {bytes} bytes, not a multiple of 16: it was truncated, or is in another encoding"
                )
            }
            Self::Padding => {
                f.write_str("wrong padding: another key, key derivation or padding, or a damaged last block")
            }
            Self::NotUtf8 { at } => {
                write!(f, "not UTF-8 from byte {at} on: another iv, another key, or a damaged block")
            }
        }
    }
}

impl core::error::Error for DecryptProblem {}
