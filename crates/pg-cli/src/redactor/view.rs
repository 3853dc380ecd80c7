//! A text as its reader sees it, and the position of each byte.

use std::{borrow::Cow, ops::Range};

/// A text with one kind of encoding removed.
pub(super) struct View<'a> {
    bytes: Cow<'a, [u8]>,
    /// The position from which each byte comes; empty if the bytes are those of the text.
    places: Vec<Range<usize>>,
}

/// The bytes that an encoded form represents, and the length of that form.
type Decoded = (Vec<u8>, usize);

impl<'a> View<'a> {
    /// The text itself.
    pub(super) const fn plain(text: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(text), places: Vec::new() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the position in the text of a range of the view.
    pub(super) fn place(&self, range: Range<usize>) -> Range<usize> {
        match (self.places.get(range.start), self.places.get(range.end - 1)) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => range,
        }
    }

    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }

    /// Without the encoding of forms and URLs.
    pub(super) fn percent_decoded(&self) -> View<'_> {
        self.decoded(b"%+", percent)
    }

    /// Without the escapes of a JSON string.
    pub(super) fn unescaped(&self) -> View<'_> {
        self.decoded(b"\\", escape)
    }

    /// Without the entities of XML and HTML.
    pub(super) fn without_entities(&self) -> View<'_> {
        self.decoded(b"&", entity)
    }

    fn decoded(&self, signs: &[u8], decode: fn(&[u8]) -> Option<Decoded>) -> View<'_> {
        let text = &*self.bytes;
        if !text.iter().any(|byte| signs.contains(byte)) {
            return View { bytes: Cow::Borrowed(text), places: self.places.clone() };
        }
        let (mut bytes, mut places, mut at) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()), 0);
        while at < text.len() {
            let (stands_for, length) = decode(&text[at..]).unwrap_or_else(|| (vec![text[at]], 1));
            let place = self.place(at..at + length);
            places.extend(stands_for.iter().map(|_| place.clone()));
            bytes.extend(stands_for);
            at += length;
        }
        View { bytes: Cow::Owned(bytes), places }
    }
}

fn percent(text: &[u8]) -> Option<Decoded> {
    match text {
        [b'+', ..] => Some((vec![b' '], 1)),
        [b'%', high, low, ..] => Some((vec![u8::try_from(number(&[*high, *low], 16)?).ok()?], 3)),
        _ => None,
    }
}

fn escape(text: &[u8]) -> Option<Decoded> {
    match text {
        [b'\\', b'u', digits @ ..] => Some((character(number(digits.get(..4)?, 16)?)?, 6)),
        [b'\\', b'n', ..] => Some((vec![b'\n'], 2)),
        [b'\\', b'r', ..] => Some((vec![b'\r'], 2)),
        [b'\\', b't', ..] => Some((vec![b'\t'], 2)),
        [b'\\', byte @ (b'"' | b'\\' | b'/' | b'\''), ..] => Some((vec![*byte], 2)),
        _ => None,
    }
}

fn entity(text: &[u8]) -> Option<Decoded> {
    const NAMED: [(&[u8], u8); 5] = [(b"amp", b'&'), (b"lt", b'<'), (b"gt", b'>'), (b"quot", b'"'), (b"apos", b'\'')];
    let inside = text.strip_prefix(b"&")?;
    // The longest entity is a number of seven digits.
    let end = inside.iter().take(10).position(|byte| *byte == b';')?;
    let inside = &inside[..end];
    let stands_for = match inside {
        [b'#', b'x' | b'X', digits @ ..] => character(number(digits, 16)?)?,
        [b'#', digits @ ..] => character(number(digits, 10)?)?,
        name => vec![NAMED.iter().find(|(known, _)| *known == name)?.1],
    };
    Some((stands_for, end + 2))
}

fn number(digits: &[u8], base: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, base).ok()
}

fn character(code: u32) -> Option<Vec<u8>> {
    char::from_u32(code).map(|letter| letter.to_string().into_bytes())
}
