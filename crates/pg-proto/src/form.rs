//! The form encoding of request bodies: `application/x-www-form-urlencoded` (spec 1 §4.1, 3 §4).

use bytes::{Buf, Bytes};
use pg_crypto::Wiped;

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Builds a form.
///
/// It contains credentials and card data. Its bytes are wiped when the last handle to them is dropped. So are the
/// smaller buffers that it has outgrown.
///
/// Most names and values are too short for a call of `memcpy` to be efficient. So the buffer is filled with zeros
/// beyond the written part, and a short piece is copied into it in one or two moves of fixed size.
pub(crate) struct Form {
    buffer: Wiped,
    used: usize,
}

impl Form {
    /// Creates an empty form with this capacity in bytes.
    pub(crate) fn new(room: usize) -> Self {
        Self { buffer: Wiped::new(vec![0; room]), used: 0 }
    }

    /// Reserves capacity for more bytes.
    pub(crate) fn reserve(&mut self, more: usize) {
        let needed = self.used + more;
        if needed > self.buffer.bytes().len() {
            self.enlarge(needed.max(2 * self.buffer.bytes().len()));
        }
    }

    /// Starts a parameter: `name=`, with `&` before it.
    #[inline]
    pub(crate) fn begin(&mut self, name: &str) {
        if is_plain(name.as_bytes()) {
            self.begin_plain(name);
        } else {
            self.byte(b'&');
            self.escape(name.as_bytes());
            self.byte(b'=');
        }
    }

    /// The same for a name without characters that need escapes.
    #[inline]
    pub(crate) fn begin_plain(&mut self, name: &str) {
        debug_assert!(is_plain(name.as_bytes()), "{name}");
        let room = self.room(name.len() + 2);
        room[0] = b'&';
        room[name.len() + 1] = b'=';
        copy(&mut room[1..=name.len()], name.as_bytes());
    }

    /// Appends a name or a value.
    #[inline]
    pub(crate) fn text(&mut self, text: &str) {
        if is_plain(text.as_bytes()) { self.put(text.as_bytes()) } else { self.escape(text.as_bytes()) }
    }

    /// Appends bytes unchanged.
    #[inline]
    pub(crate) fn put(&mut self, piece: &[u8]) {
        copy(self.room(piece.len()), piece);
    }

    #[inline]
    fn byte(&mut self, byte: u8) {
        self.room(1)[0] = byte;
    }

    /// Returns the next bytes to write.
    #[inline]
    fn room(&mut self, length: usize) -> &mut [u8] {
        let start = self.used;
        self.used += length;
        if self.used > self.buffer.bytes().len() {
            self.enlarge(2 * self.used);
        }
        &mut self.buffer.bytes_mut()[start..self.used]
    }

    #[cold]
    fn enlarge(&mut self, length: usize) {
        // `resize` would leave the bytes in the old allocation.
        let mut larger = vec![0; length];
        larger[..self.buffer.bytes().len()].copy_from_slice(self.buffer.bytes());
        self.buffer = Wiped::new(larger);
    }

    /// Returns the bytes of the form, without the `&` before its first parameter.
    pub(crate) fn finish(self) -> Bytes {
        let mut bytes = Bytes::from_owner(self.buffer);
        bytes.truncate(self.used);
        bytes.advance(1.min(bytes.len()));
        bytes
    }

    #[inline(never)]
    fn escape(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(at) = rest.iter().position(|byte| !PLAIN[usize::from(*byte)]) {
            self.put(&rest[..at]);
            match rest[at] {
                b' ' => self.byte(b'+'),
                byte => self.put(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
            }
            rest = &rest[at + 1..];
        }
        self.put(rest);
    }
}

/// Branch-free, so that the compiler can check a block of bytes at once.
#[inline]
const fn stands_for_itself(byte: u8) -> bool {
    let letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let digit = byte.wrapping_sub(b'0') < 10;
    letter | digit | (byte == b'*') | (byte == b'-') | (byte == b'.') | (byte == b'_')
}

/// The same for one byte at a time.
const PLAIN: [bool; 256] = {
    let mut plain = [false; 256];
    let mut byte = 0;
    while byte < plain.len() {
        plain[byte] = stands_for_itself(byte as u8);
        byte += 1;
    }
    plain
};

#[inline]
fn is_plain(text: &[u8]) -> bool {
    match text.len() {
        0..4 => text.iter().all(|byte| PLAIN[usize::from(*byte)]),
        4..8 => ends(text, |end| u32::from_le_bytes(*end))
            .is_some_and(|(head, tail)| plain_bytes(u64::from(head) << 32 | u64::from(tail)) == TOP_BITS),
        8..=16 => ends(text, |end| u64::from_le_bytes(*end))
            .is_some_and(|(head, tail)| plain_bytes(head) & plain_bytes(tail) == TOP_BITS),
        _ => text.last_chunk::<16>().is_some_and(block_is_plain) && text.as_chunks().0.iter().all(block_is_plain::<16>),
    }
}

/// Returns the first and the last `N` bytes. Together they cover a text of up to twice as many.
#[inline]
fn ends<const N: usize, T>(text: &[u8], read: impl Fn(&[u8; N]) -> T) -> Option<(T, T)> {
    Some((read(text.first_chunk()?), read(text.last_chunk()?)))
}

#[inline]
fn block_is_plain<const N: usize>(block: &[u8; N]) -> bool {
    block.iter().fold(true, |plain, byte| plain & stands_for_itself(*byte))
}

/// The top bit of each of eight bytes.
const TOP_BITS: u64 = u64::from_ne_bytes([0x80; 8]);

/// Sets the top bit of each byte that stands for itself, and no other bit.
#[inline]
const fn plain_bytes(word: u64) -> u64 {
    /// For bytes below 128: the top bit of each that is in the range. No sum is above 255, so none reaches the next byte.
    const fn within(word: u64, first: u8, last: u8) -> u64 {
        (word + u64::from_ne_bytes([0x80 - first; 8])) & !(word + u64::from_ne_bytes([0x7F - last; 8]))
    }
    let ascii = word & !TOP_BITS;
    let letter = within(ascii | u64::from_ne_bytes([0x20; 8]), b'a', b'z');
    let digit = within(ascii, b'0', b'9');
    let mark = within(ascii, b'*', b'*') | within(ascii, b'-', b'.') | within(ascii, b'_', b'_');
    (letter | digit | mark) & !word & TOP_BITS
}

/// Copies a piece into a room of the same length.
#[inline]
fn copy(room: &mut [u8], piece: &[u8]) {
    if piece.len() > 32 {
        room.copy_from_slice(piece);
    } else if !(copy_ends::<16>(room, piece) || copy_ends::<8>(room, piece) || copy_ends::<4>(room, piece)) {
        copy_ends::<2>(room, piece);
        copy_ends::<1>(room, piece);
    }
}

/// Copies the first and the last `N` bytes, if together they cover the whole piece.
#[inline]
fn copy_ends<const N: usize>(room: &mut [u8], piece: &[u8]) -> bool {
    if piece.len() > 2 * N {
        return false;
    }
    let (Some(head), Some(tail)) = (piece.first_chunk::<N>(), piece.last_chunk::<N>()) else { return false };
    if let Some(to) = room.first_chunk_mut() {
        *to = *head;
    }
    if let Some(to) = room.last_chunk_mut() {
        *to = *tail;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn body(pairs: &[(String, String)]) -> String {
        let mut form = Form::new(0);
        for (name, value) in pairs {
            form.begin(name);
            form.text(value);
        }
        String::from_utf8(form.finish().into()).expect("ASCII")
    }

    proptest! {
        #[test]
        fn a_written_form_equals_that_of_serde_urlencoded(
            pairs in prop::collection::vec(any::<(String, String)>(), 0..if cfg!(miri) { 3 } else { 100 })
        ) {
            prop_assert_eq!(body(&pairs), serde_urlencoded::to_string(&pairs).expect("a form"));
        }

        #[test]
        fn mostly_plain_texts_of_every_length_are_no_exception(
            pairs in prop::collection::vec(("[a-zA-Z0-9]{1,40}", "[a-zA-Z0-9._*-]{0,80}[ ,&é]?[a-z]{0,40}"), 0..if cfg!(miri) { 3 } else { 20 })
        ) {
            prop_assert_eq!(body(&pairs), serde_urlencoded::to_string(&pairs).expect("a form"));
        }
    }

    #[test]
    fn characters_with_a_meaning_in_forms_are_escaped() {
        let pairs = [("a b".to_owned(), "1+1=2&x%ü".to_owned())];
        assert_eq!(body(&pairs), "a+b=1%2B1%3D2%26x%25%C3%BC");
    }

    #[test]
    fn every_byte_is_judged_alike_wherever_it_stands() {
        for byte in (0..128_u8).step_by(if cfg!(miri) { 11 } else { 1 }) {
            let expected = matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'*' | b'-' | b'.' | b'_');
            for length in [1, 5, 8, 11, 16, 19, 33] {
                for at in 0..length {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    assert_eq!(is_plain(&text), expected, "{byte} at {at} of {length}");
                }
            }
        }
    }
}
