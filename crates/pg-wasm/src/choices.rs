//! Settings for what the documents leave open about session data (spec 2 §4.2).

use pg_crypto::{IvFormat, KeyDerivation, Padding, TextEncoding};

/// The settings of [`pg_crypto::SessionCipher`], with its defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// How the API key becomes the AES key.
    pub key_derivation: KeyDerivation,
    /// The form of the `iv`.
    pub iv_format: IvFormat,
    /// The only accepted text form of `data`. `None` accepts any.
    pub text_encoding: Option<TextEncoding>,
    /// The padding of the last block.
    pub padding: Padding,
}

impl Choices {
    /// Creates the settings from the numbers that the JavaScript passes: the positions in its lists of names.
    #[must_use]
    pub fn numbered(key_derivation: u32, iv_format: u32, text_encoding: u32, padding: u32) -> Option<Self> {
        Some(Self {
            key_derivation: match key_derivation {
                0 => KeyDerivation::Verbatim,
                1 => KeyDerivation::Sha256,
                2 => KeyDerivation::Hex,
                _ => return None,
            },
            iv_format: match iv_format {
                0 => IvFormat::Detect,
                1 => IvFormat::Text,
                2 => IvFormat::Hex,
                _ => return None,
            },
            text_encoding: match text_encoding {
                0 => None,
                1 => Some(TextEncoding::Base64),
                2 => Some(TextEncoding::Base64Url),
                3 => Some(TextEncoding::Hex),
                _ => return None,
            },
            padding: match padding {
                0 => Padding::Pkcs7,
                1 => Padding::Zero,
                2 => Padding::None,
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Choices;

    #[test]
    fn zero_is_the_default_and_unknown_values_are_none() {
        assert_eq!(Choices::numbered(0, 0, 0, 0), Some(Choices::default()));
        for strange in [[3, 0, 0, 0], [0, 3, 0, 0], [0, 0, 4, 0], [0, 0, 0, 3]] {
            let [derivation, iv, encoding, padding] = strange;
            assert_eq!(Choices::numbered(derivation, iv, encoding, padding), None, "{strange:?}");
        }
    }
}
