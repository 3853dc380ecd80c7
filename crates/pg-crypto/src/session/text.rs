//! The text form of the ciphertext, which the documents do not name (spec 2 §4.2).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

#[cfg(target_arch = "wasm32")]
use super::compact_base64;
use super::hex;

/// A text form of ciphertext.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextEncoding {
    /// Standard Base64, written with padding; read with or without, and with spaces for `+`.
    #[default]
    Base64,
    /// URL-safe Base64, written without padding; read with or without.
    Base64Url,
    /// Hexadecimal, written in lower case; read in either.
    Hex,
}

/// WebAssembly prefers small code to a second, faster implementation.
const LITTLE_CODE: bool = cfg!(target_arch = "wasm32");

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
pub(super) static BASE64: GeneralPurpose = GeneralPurpose::new(&STANDARD, LENIENT);
pub(super) static BASE64_URL: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, LENIENT.with_encode_padding(false));

impl TextEncoding {
    pub(crate) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Base64 => BASE64.encode(bytes),
            Self::Base64Url => BASE64_URL.encode(bytes),
            Self::Hex => {
                let mut text = String::with_capacity(2 * bytes.len());
                for byte in bytes {
                    write!(text, "{byte:02x}").expect("writing to a String cannot fail");
                }
                text
            }
        }
    }

    /// Returns the bytes, or `None` if the text is not in this form.
    pub(crate) fn decode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Base64 if LITTLE_CODE || text.bytes().any(|byte| byte == b' ') => {
                standard(&standard_alphabet(text, false))
            }
            Self::Base64 => standard(text.as_bytes()),
            Self::Base64Url => url_safe(text.as_bytes()),
            Self::Hex => {
                let mut bytes = alloc::vec![0; text.len() / 2];
                hex::decode(text.as_bytes(), &mut bytes).then_some(bytes)
            }
        }
    }
}

/// Decodes ciphertext of any text form.
///
/// A text of hexadecimal digits that makes whole blocks of 16 bytes is hexadecimal: Base64 of two random blocks
/// contains only `0-9a-fA-F` once in 10^29 cases. Any other text is Base64 of either alphabet.
pub(crate) fn detect(text: &str) -> Option<Vec<u8>> {
    if text.len().is_multiple_of(32)
        && let Some(bytes) = TextEncoding::Hex.decode(text)
    {
        return Some(bytes);
    }
    let as_it_is = if LITTLE_CODE { None } else { standard(text.as_bytes()) };
    as_it_is.or_else(|| standard(&standard_alphabet(text, true)))
}

#[cfg(not(target_arch = "wasm32"))]
fn standard(text: &[u8]) -> Option<Vec<u8>> {
    BASE64.decode(text).ok()
}

#[cfg(not(target_arch = "wasm32"))]
fn url_safe(text: &[u8]) -> Option<Vec<u8>> {
    BASE64_URL.decode(text).ok()
}

#[cfg(target_arch = "wasm32")]
fn standard(text: &[u8]) -> Option<Vec<u8>> {
    compact_base64::decode(text, compact_base64::STANDARD)
}

#[cfg(target_arch = "wasm32")]
fn url_safe(text: &[u8]) -> Option<Vec<u8>> {
    compact_base64::decode(text, compact_base64::URL_SAFE)
}

/// Returns the text in the standard alphabet. A space was `+` before the query string was decoded.
fn standard_alphabet(text: &str, from_url_safe: bool) -> Vec<u8> {
    text.bytes()
        .map(|byte| match byte {
            b' ' => b'+',
            b'-' if from_url_safe => b'+',
            b'_' if from_url_safe => b'/',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{TextEncoding, detect};

    const ENCODINGS: [TextEncoding; 3] = [TextEncoding::Base64, TextEncoding::Base64Url, TextEncoding::Hex];

    /// Bytes whose Base64 contains both characters in which the alphabets differ.
    const BYTES: [u8; 16] = [0xfb, 0xef, 0xbe, 0xff, 0xff, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

    // spec: 2 §4.2, A33: The ciphertext is encoded as text for a query string.
    #[test]
    fn detects_every_form() {
        for form in [
            "++++////AQIDBAUGBwgJCg==",
            "++++////AQIDBAUGBwgJCg",
            "----____AQIDBAUGBwgJCg==",
            "----____AQIDBAUGBwgJCg",
            "    ////AQIDBAUGBwgJCg==",
            "+- +_/_/AQIDBAUGBwgJCg",
            "fbefbeffffff0102030405060708090a",
            "FBEFBEFFFFFF0102030405060708090A",
        ] {
            assert_eq!(detect(form).as_deref(), Some(&BYTES[..]), "{form}");
        }
        for wrong in ["++++////AQIDBAUGBwgJC!==", "a", "====", "é", "++++\n////"] {
            assert_eq!(detect(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn each_reads_what_it_writes() {
        for encoding in ENCODINGS {
            let text = encoding.encode(&BYTES);
            assert_eq!(encoding.decode(&text).as_deref(), Some(&BYTES[..]));
            assert_eq!(detect(&text).as_deref(), Some(&BYTES[..]));
        }
        assert_eq!(TextEncoding::Base64.encode(&BYTES), "++++////AQIDBAUGBwgJCg==");
        assert_eq!(TextEncoding::Base64Url.encode(&BYTES), "----____AQIDBAUGBwgJCg");
    }

    #[test]
    fn a_chosen_form_is_the_only_one() {
        assert_eq!(TextEncoding::Base64.decode("----____AQIDBAUGBwgJCg"), None);
        assert_eq!(TextEncoding::Base64Url.decode("++++////AQIDBAUGBwgJCg"), None);
        assert_eq!(TextEncoding::Hex.decode("++++////AQIDBAUGBwgJCg=="), None);
        assert_eq!(TextEncoding::Base64.decode("    ////AQIDBAUGBwgJCg").as_deref(), Some(&BYTES[..]));
    }

    #[test]
    fn hexadecimal_wins_over_base64() {
        assert_eq!(detect(&"ab".repeat(32)), Some(alloc::vec![0xab; 32]));
        // Not whole blocks as hexadecimal, so it is Base64.
        assert_eq!(detect(&"ab".repeat(8)).map(|bytes| bytes.len()), Some(12));
    }
}
