//! Errors of session data.

use core::fmt;

use super::problem::DecryptProblem;

/// The API key does not fit the key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The key has the wrong length.
    Length {
        /// Number of bytes that the key derivation needs.
        expected: usize,
        /// Number of bytes in the API key.
        found: usize,
    },
    /// The key should be hexadecimal and is not.
    NotHex,
    /// The key is empty, as a missing setting may be: anyone could forge data under it.
    Empty,
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { expected, found } => {
                write!(f, "the API key has {found} bytes, {expected} are needed")
            }
            Self::NotHex => f.write_str("the API key is not hexadecimal"),
            Self::Empty => f.write_str("the API key is empty"),
        }
    }
}

impl core::error::Error for KeyError {}

/// Session data cannot be read: a wrong key, a wrong initialisation vector, or damaged data.
///
/// The error deliberately does not name the reason. If it distinguished invalid padding from invalid text, an attacker
/// could decrypt data by trying variations of it. On a developer's own machine,
/// [`SessionCipher::explain_locally`](super::SessionCipher::explain_locally) names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecryptError(pub(crate) ());

impl DecryptError {
    /// Drops the reason.
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
    /// The initialisation vector does not have the configured form.
    Iv,
    /// More text than [`MAX_PLAINTEXT_BYTES`](super::MAX_PLAINTEXT_BYTES).
    TooLong,
    /// Without padding, the text must fill one or more blocks of 16 bytes.
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
