//! What can go wrong with session data.

use core::fmt;

use super::problem::DecryptProblem;

/// The API key cannot be made into an AES key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The key has the wrong length.
    Length {
        /// Bytes of text that the key derivation needs.
        expected: usize,
        /// Bytes that were given.
        found: usize,
    },
    /// The key was to be hexadecimal and is not.
    NotHex,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, found } => {
                write!(f, "the API key has {found} bytes, {expected} are needed")
            }
            Self::NotHex => f.write_str("the API key is not hexadecimal"),
        }
    }
}

impl core::error::Error for KeyError {}

/// Session data cannot be read: a wrong key, a wrong initialisation vector, or damaged data.
///
/// Which of them is not said, on purpose: an error that told bad padding from bad text would let an attacker
/// decrypt data by trying variations of it. On a developer's own machine
/// [`SessionCipher::explain_locally`](super::SessionCipher::explain_locally) says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecryptError(pub(crate) ());

impl DecryptError {
    /// Forgets what is wrong.
    pub(crate) fn new(_: DecryptProblem) -> Self {
        Self(())
    }
}

impl fmt::Display for DecryptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("session data cannot be read: wrong key, wrong iv, or damaged data")
    }
}

impl core::error::Error for DecryptError {}

/// Session data cannot be encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncryptError {
    /// The initialisation vector does not have the form that the cipher was told.
    Iv,
    /// More text than [`MAX_PLAINTEXT_BYTES`](super::MAX_PLAINTEXT_BYTES).
    TooLong,
    /// Without padding the text has to fill one or more blocks of 16 bytes.
    NotWholeBlocks,
}

impl fmt::Display for EncryptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iv => "the iv has to be 16 characters or 32 hexadecimal digits",
            Self::TooLong => "the text is too long to encrypt",
            Self::NotWholeBlocks => "without padding the length of the text must be a multiple of 16 bytes",
        })
    }
}

impl core::error::Error for EncryptError {}
