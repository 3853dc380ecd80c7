//! Checks decrypted bytes. Every rejection takes the same steps, so that neither the answer nor its time reveals the
//! reason.
//!
//! Valid bytes may take a short path, because the answer reveals that they are valid. All other bytes are checked
//! completely, without a branch or an index that depends on them.

use subtle::ConstantTimeEq;

use super::padding::{BLOCK, Verdict};

/// Whether the bytes are UTF-8 with valid padding.
pub(super) fn is_text(bytes: &[u8], padding: Verdict) -> bool {
    is_zero(padding.wrong | not_ascii(bytes)) || is_zero(padding.wrong | not_utf8(bytes, |_, _| {}))
}

/// Whether they also look like XML or JSON: the first character is `<` or `{`, the last is `>` or `}`.
pub(super) fn is_document(bytes: &[u8], padding: Verdict) -> bool {
    let framed = || is_zero(padding.wrong | not_ascii(bytes) | not_framed(bytes, padding));
    // WebAssembly prefers small code.
    (!cfg!(target_arch = "wasm32") && framed()) || is_zero(padding.wrong | not_document(bytes, padding))
}

/// Overwrites invalid bytes with a JSON object that fills them. Its white space is read byte by byte, which takes about as long
/// as names and values, and leaves no data
/// behind. So a rejection takes as much work as an answer.
pub(super) fn fill_with_decoy(bytes: &mut [u8]) {
    bytes.fill(b' ');
    if let [first, .., last] = bytes {
        (*first, *last) = (b'{', b'}');
    }
}

fn is_zero(wrong: u8) -> bool {
    wrong.ct_eq(&0).into()
}

fn not_ascii(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum | byte) & 0x80
}

/// Zero if the first byte and the last byte before the padding are those of a document without white space around it.
fn not_framed(bytes: &[u8], padding: Verdict) -> u8 {
    let (Some(first), Some(end)) = (bytes.first(), bytes.last_chunk::<BLOCK>()) else { return 1 };
    // A whole block of padding hides the last byte from this check, and takes the long path.
    let is_last = |at: u8| u8::from(at == padding.count).wrapping_neg();
    let last = (0u8..).zip(end.iter().rev()).fold(0, |last, (at, byte)| last | (byte & is_last(at)));
    u8::from(!(begins(*first) & ends(last)))
}

/// Nonzero if the bytes are not UTF-8, or do not start and end like a document.
#[inline(never)]
fn not_document(bytes: &[u8], padding: Verdict) -> u8 {
    let len = bytes.len().wrapping_sub(usize::from(padding.count));
    let (mut first, mut last) = (0, 0);
    let wrong = not_utf8(bytes, |at, byte| {
        // White space, a byte order mark and zero padding do not count: only visible ASCII does.
        let tells = u8::from(byte.is_ascii_graphic() & (at < len)).wrapping_neg();
        first |= byte & tells & u8::from(first == 0).wrapping_neg();
        last = (last & !tells) | (byte & tells);
    });
    wrong | u8::from(!(begins(first) & ends(last)))
}

/// Nonzero if the bytes are not UTF-8. Passes each byte to `see`.
///
/// A byte continues a character exactly if one of the three bytes before it requires that. A few pairs are also
/// invalid: overlong encodings, surrogates, and values above U+10FFFF. So each byte is checked against the three before
/// it.
#[inline(always)]
fn not_utf8(bytes: &[u8], mut see: impl FnMut(usize, u8)) -> u8 {
    // Bytes before and after the text count as ASCII.
    let mut before = [0; 3];
    let mut wrong = false;
    for (at, byte) in bytes.iter().enumerate() {
        wrong |= may_not_follow(before, *byte);
        before = [before[1], before[2], *byte];
        see(at, *byte);
    }
    let [third, second, first] = before;
    u8::from(wrong | (first >= 0xc0) | (second >= 0xe0) | (third >= 0xf0))
}

#[inline(always)]
fn may_not_follow([third, second, first]: [u8; 3], byte: u8) -> bool {
    let continues = byte & 0xc0 == 0x80;
    let must = (first >= 0xc0) | (second >= 0xe0) | (third >= 0xf0);
    let never = (byte & 0xfe == 0xc0) | (byte > 0xf4);
    let too_long = (first == 0xe0) & (byte < 0xa0) | (first == 0xf0) & (byte < 0x90);
    let too_large = (first == 0xed) & (byte > 0x9f) | (first == 0xf4) & (byte > 0x8f);
    (continues ^ must) | never | too_long | too_large
}

fn begins(byte: u8) -> bool {
    (byte == b'{') | (byte == b'<')
}

fn ends(byte: u8) -> bool {
    (byte == b'}') | (byte == b'>')
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use proptest::prelude::*;

    use super::super::padding::{Padding, Verdict};
    use super::{fill_with_decoy, is_document, is_text, not_utf8};

    fn padded(text: &[u8]) -> (Vec<u8>, Verdict) {
        let bytes = Padding::Pkcs7.pad(text).unwrap();
        let verdict = Padding::Pkcs7.verdict(&bytes);
        (bytes, verdict)
    }

    fn document(text: &[u8]) -> bool {
        let (bytes, verdict) = padded(text);
        is_document(&bytes, verdict)
    }

    #[test]
    fn a_decoy_is_json_of_every_length() {
        let mut bytes = [0xff; 16];
        fill_with_decoy(&mut bytes);
        assert_eq!(&bytes, b"{              }");
        fill_with_decoy(&mut []);
    }

    #[test]
    fn texts_delimited_like_xml_or_json_are_documents() {
        let inner = "x".repeat(40);
        for (before, after) in [("{", "}"), ("<", ">"), (" \r\n\t{", "}\n "), ("\u{feff}<", ">\n"), ("{é", "é}")] {
            for inner in ["", &inner, &inner[..13], &inner[..14], &inner[..15]] {
                let text = alloc::format!("{before}{inner}{after}");
                assert!(document(text.as_bytes()), "{text:?}");
            }
        }
        assert!(document(alloc::format!("{0}{{}}{0}", " ".repeat(40)).as_bytes()));
        for wrong in ["", "x", "{", "}", "[]", "plain", "{\"a\":1", "a{}", "{}a", "\u{feff}a{}", "<a>a"] {
            assert!(!document(wrong.as_bytes()), "{wrong:?}");
        }
        assert!(!document(b"{\xff}"));
    }

    #[test]
    fn without_padding_the_last_sign_is_the_last_byte() {
        for padding in [Padding::None, Padding::Zero] {
            let judged = |bytes: &[u8]| is_document(bytes, padding.verdict(bytes));
            assert!(judged(b"{              }"));
            assert!(judged(b"{            }\n\n"));
            assert!(!judged(b"{             }x"));
            assert!(judged(b"{}\0\0\0\0\0\0\0\0\0\0\0\0\0\0"));
        }
    }

    #[test]
    fn wrong_padding_is_neither_text_nor_document() {
        for text in ["{}", "{12345678901234}", "{é}"] {
            let (mut bytes, right) = padded(text.as_bytes());
            assert!(is_text(&bytes, right) && is_document(&bytes, right));
            *bytes.last_mut().unwrap() ^= 0x40;
            let wrong = Padding::Pkcs7.verdict(&bytes);
            assert!(!is_text(&bytes, wrong) && !is_document(&bytes, wrong), "{text}");
        }
    }

    /// Bytes at the limits of UTF-8, so that a few of them often form a character, or nearly.
    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![
            Just(b'a'),
            prop::sample::select(&[0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf][..]),
            prop::sample::select(&[0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef][..]),
            prop::sample::select(&[0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff][..]),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn utf8_is_what_the_standard_library_takes_for_it(
            before in 0usize..20, text in any::<[char; 3]>(), bytes in prop::collection::vec(byte(), 0..5), after in 0usize..20
        ) {
            let mut all = alloc::vec![b'x'; before];
            text.iter().for_each(|c| all.extend(c.encode_utf8(&mut [0; 4]).bytes()));
            all.extend(bytes);
            all.extend(alloc::vec![b'y'; after]);
            // Whole blocks that may end within a character.
            all.resize(all.len().next_multiple_of(16), b'z');
            for from in 0..16 {
                let part = &all[from..];
                let part = &part[..part.len() / 16 * 16];
                prop_assert_eq!(not_utf8(part, |_, _| {}) == 0, core::str::from_utf8(part).is_ok(), "{:x?}", part);
            }
        }

        #[test]
        fn four_bytes_of_any_kind(bytes in prop::array::uniform4(byte())) {
            for at in [0, 5, 12] {
                let mut block = [b'a'; 16];
                block[at..at + 4].copy_from_slice(&bytes);
                prop_assert_eq!(not_utf8(&block, |_, _| {}) == 0, core::str::from_utf8(&block).is_ok(), "{:x?}", block);
            }
        }
    }
}
