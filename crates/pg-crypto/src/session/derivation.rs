//! Derives an AES-256 key from an API key. The documents name the key, but not how it becomes 32 bytes (spec 2 §4.2).

use sha2::{Digest, Sha256};

use super::error::KeyError;
use super::hex;

/// How an API key becomes the 32 bytes of an AES-256 key.
///
/// The documents do not say how (spec 2 §4.2), so you can choose. An API key that does not fit is a [`KeyError`] when
/// the cipher is created, never a wrong plaintext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyDerivation {
    /// The bytes of the API key, which must have exactly 32.
    #[default]
    Verbatim,
    /// SHA-256 of the API key, which may have any length but zero.
    Sha256,
    /// 64 hexadecimal digits of either case for 32 bytes.
    Hex,
}

impl KeyDerivation {
    /// Writes the key into its final place. A returned key would be moved, which leaves copies behind.
    pub(crate) fn derive(self, api_key: &str, key: &mut [u8; 32]) -> Result<(), KeyError> {
        let text = api_key.as_bytes();
        match self {
            Self::Verbatim => {
                require_length(text, 32)?;
                key.copy_from_slice(text);
            }
            Self::Sha256 => {
                if text.is_empty() {
                    return Err(KeyError::Empty);
                }
                Sha256::new().chain_update(text).finalize_into(key.into());
            }
            Self::Hex => {
                require_length(text, 64)?;
                if !hex::decode(text, key) {
                    return Err(KeyError::NotHex);
                }
            }
        }
        Ok(())
    }
}

fn require_length(text: &[u8], expected: usize) -> Result<(), KeyError> {
    if text.len() == expected { Ok(()) } else { Err(KeyError::Length { expected, found: text.len() }) }
}

#[cfg(test)]
mod tests {
    use super::{KeyDerivation, KeyError};

    fn derived(derivation: KeyDerivation, api_key: &str) -> Result<[u8; 32], KeyError> {
        let mut key = [0; 32];
        derivation.derive(api_key, &mut key).map(|()| key)
    }

    // spec: 2 §4.2, A30: Its key is the API key.
    #[test]
    fn derives() {
        let text = "0123456789abcdef0123456789ABCDEF";
        assert_eq!(derived(KeyDerivation::default(), text).unwrap(), text.as_bytes());
        let doubled = derived(KeyDerivation::Hex, &text.repeat(2)).unwrap();
        assert_eq!(doubled[..8], 0x0123_4567_89ab_cdef_u64.to_be_bytes());
        // The digest of "abc", as FIPS 180-2 appendix B.1 gives it.
        let digest = derived(KeyDerivation::Sha256, "abc").unwrap();
        assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    }

    // spec: 2 §4.2, A30
    #[test]
    fn refuses_other_keys() {
        let length = |expected, found| Err(KeyError::Length { expected, found });
        assert_eq!(derived(KeyDerivation::Verbatim, "short"), length(32, 5));
        assert_eq!(derived(KeyDerivation::Verbatim, &"a".repeat(33)), length(32, 33));
        assert_eq!(derived(KeyDerivation::Hex, "ab"), length(64, 2));
        assert_eq!(derived(KeyDerivation::Hex, &"g".repeat(64)), Err(KeyError::NotHex));
        assert_eq!(derived(KeyDerivation::Sha256, ""), Err(KeyError::Empty));
    }
}
