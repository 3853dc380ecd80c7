//! What keeps session data from being decrypted, for a developer who looks for the reason.

use core::fmt;

use super::cipher::MAX_DATA_BYTES;

/// What keeps session data from being decrypted, as [`explain_locally`](super::SessionCipher::explain_locally) says it.
///
/// The last two depend on the plaintext: a server that lets an attacker distinguish them is a decryption oracle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecryptProblem {
    /// There is no data.
    Empty,
    /// There is more than [`MAX_DATA_BYTES`].
    TooLong,
    /// The `iv` does not have the form that the cipher expects.
    Iv,
    /// The data is neither Base64 nor hexadecimal, or not what the cipher was told to accept.
    TextForm,
    /// The data does not fill blocks of 16 bytes.
    NotWholeBlocks {
        /// How many bytes there are.
        bytes: usize,
    },
    /// The padding is wrong, as it is with another key, and after a change of the last block or the one before.
    Padding,
    /// The padding is right by chance or otherwise, and the text is not UTF-8.
    NotUtf8 {
        /// Where the text is none any more.
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
