//! A signature: 64 bytes, sent as 128 lower-case hexadecimal digits (spec 1 §5).

use core::fmt;

use subtle::ConstantTimeEq;

/// Bytes of a SHA-512 digest.
const BYTES: usize = 64;

/// A request signature: a SHA-512 digest of 64 bytes.
///
/// `Display` and [`hex`](Self::hex) return the form for `shaSignature`: 128 lower-case hexadecimal digits. Equality
/// takes constant time.
#[derive(Clone, Copy)]
pub struct Signature([u8; BYTES]);

impl Signature {
    pub(crate) const fn from_bytes(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// Parses 128 lower-case hexadecimal digits.
    ///
    /// Upper-case digits are refused: the documents only show lower case (spec 1 §5), and a peer that compares text
    /// would refuse them too.
    ///
    /// # Errors
    ///
    /// [`SignatureFormatError`] if the length, a character, or the case is wrong.
    pub fn parse(text: &str) -> Result<Self, SignatureFormatError> {
        if text.len() != 2 * BYTES {
            return Err(SignatureFormatError::Length { found: text.chars().count() });
        }
        if let Some(at) = text.bytes().position(|b| !b.is_ascii_hexdigit()) {
            return Err(SignatureFormatError::NotHex { at });
        }
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(SignatureFormatError::UpperCase);
        }
        let mut bytes = [0; BYTES];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit_value(pair[0]) << 4 | digit_value(pair[1]);
        }
        Ok(Self(bytes))
    }

    /// Returns the 64 bytes of the digest.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Returns the sent form without allocating: 128 lower-case hexadecimal digits.
    #[must_use]
    #[inline]
    pub fn hex(&self) -> SignatureHex {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 2 * BYTES];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        SignatureHex(text)
    }
}

/// Returns the value of a lower-case hexadecimal digit.
fn digit_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit - b'a' + 10,
    }
}

impl PartialEq for Signature {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Signature {}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.hex().as_str())
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({self})")
    }
}

/// 128 lower-case hexadecimal digits, held on the stack.
#[derive(Clone, Copy)]
pub struct SignatureHex([u8; 2 * BYTES]);

impl SignatureHex {
    /// Returns the digits as text.
    #[must_use]
    #[inline]
    pub fn as_str(&self) -> &str {
        core::str::from_utf8(&self.0).expect("hexadecimal digits are ASCII")
    }

    /// Returns the digits as ASCII bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 2 * BYTES] {
        &self.0
    }
}

impl AsRef<str> for SignatureHex {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for SignatureHex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for SignatureHex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a text is not a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureFormatError {
    /// Not 128 characters long.
    Length {
        /// Number of characters.
        found: usize,
    },
    /// A character is not a hexadecimal digit.
    NotHex {
        /// Its byte position, counted from 0.
        at: usize,
    },
    /// Hexadecimal, but in upper case.
    UpperCase,
}

impl fmt::Display for SignatureFormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { found } => {
                let characters = if *found == 1 { "character" } else { "characters" };
                write!(f, "a signature has 128 hexadecimal digits, this text has {found} {characters}")?;
                match found {
                    0 => f.write_str(" (it is missing)"),
                    32 => f.write_str(" (the length of MD5)"),
                    40 => f.write_str(" (the length of SHA-1)"),
                    64 => f.write_str(" (the length of SHA-256)"),
                    86 | 88 => f.write_str(" (the length of SHA-512 in Base64)"),
                    96 => f.write_str(" (the length of SHA-384)"),
                    _ => Ok(()),
                }
            }
            Self::NotHex { at } => {
                write!(f, "character {at} of the signature is not a hexadecimal digit")
            }
            Self::UpperCase => f.write_str("the signature has upper-case digits"),
        }
    }
}

impl core::error::Error for SignatureFormatError {}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::{Signature, SignatureFormatError};

    #[test]
    fn hex_and_back() {
        let bytes = core::array::from_fn(|i| (i * 37) as u8);
        let signature = Signature::from_bytes(bytes);
        let text = signature.to_string();
        assert_eq!(text.len(), 128);
        assert!(text.starts_with("00254a6f94b9de"));
        assert_eq!(Signature::parse(&text), Ok(signature));
        assert_eq!(signature.hex().as_str(), text);
        assert_eq!(format!("{signature:?}"), format!("Signature({text})"));
    }

    #[test]
    fn refuses_what_is_no_signature() {
        let good = "ab".repeat(64);
        assert!(Signature::parse(&good).is_ok());
        assert_eq!(Signature::parse(&good.to_uppercase()), Err(SignatureFormatError::UpperCase));
        assert_eq!(Signature::parse(&good[1..]), Err(SignatureFormatError::Length { found: 127 }));
        assert_eq!(Signature::parse(&format!("{}g", &good[1..])), Err(SignatureFormatError::NotHex { at: 127 }));
        assert_eq!(Signature::parse(&"é".repeat(64)), Err(SignatureFormatError::NotHex { at: 0 }));
    }

    #[test]
    fn length_hints_at_the_algorithm() {
        let error = Signature::parse(&"a".repeat(64)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a signature has 128 hexadecimal digits, this text has 64 characters (the length of SHA-256)"
        );
    }
}
