//! Rows at rest: without the key nothing of a body can be read, and nothing of a row can be changed, moved or put back.
//!
//! A body is encrypted in SIV mode, which RFC 5297 describes for AES: an HMAC-SHA-256 over the table, the key, the columns
//! and the body is the authentication tag, and the nonce of XChaCha20 at the same time. So two bodies share a nonce only
//! when the two rows are the same, whatever the dice do, and a store can be made again from the same requests byte by byte.
//! HMAC-SHA-256 rather than another code: the processors that matter have instructions for it, and nothing more is built.
//!
//! The bytes of the HMAC that the tag leaves over are the row's share of [`Whole`], which only the key's owner can compute.

use std::borrow::Cow;

use chacha20::{KeyIvInit as _, XChaCha20, XNonce, cipher::StreamCipher as _};
use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::INDEX_COLUMNS;
use crate::vault::{derived, keyed};

/// The length of a tag, which is that of a nonce.
const TAG: usize = 24;
/// The length of a digest.
pub(super) const DIGEST: usize = 16;

/// A value as a column holds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cell<'a> {
    /// In clear.
    Text(Cow<'a, str>),
    /// The digest of what a caller wrote.
    Digest([u8; DIGEST]),
}

/// What of a row stands beside its body.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) table: &'a str,
    pub(super) key: Cell<'a>,
    pub(super) merchant: &'a str,
    pub(super) index: [Option<Cell<'a>>; INDEX_COLUMNS],
}

/// How many rows there are, and the sum of their shares: a row that is missing, added, or an earlier version of itself makes
/// another one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Whole {
    rows: u64,
    sum: u64,
}

impl Whole {
    pub(super) fn add(&mut self, share: u64) {
        self.rows = self.rows.wrapping_add(1);
        self.sum = self.sum.wrapping_add(share);
    }

    pub(super) fn take(&mut self, share: u64) {
        self.rows = self.rows.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(share);
    }
}

/// A row was altered, moved, or sealed under another key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotSealedHere;

/// Seals and opens the rows of one store.
pub(super) struct Sealer {
    tags: Hmac<Sha256>,
    digests: Hmac<Sha256>,
    cipher: Zeroizing<[u8; 32]>,
    /// What tells this key from others and says nothing about it.
    fingerprint: [u8; DIGEST],
    /// What the next tag is made of, and what was sealed last: no row allocates any.
    place: Vec<u8>,
    sealed: Vec<u8>,
}

impl Sealer {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        let mut fingerprint = [0; DIGEST];
        fingerprint.copy_from_slice(&derived(key, b"pg-sandbox store key fingerprint")[..DIGEST]);
        Self {
            tags: keyed(&*derived(key, b"pg-sandbox store row tag")),
            digests: keyed(&*derived(key, b"pg-sandbox store digest")),
            cipher: derived(key, b"pg-sandbox store row body"),
            fingerprint,
            place: Vec::new(),
            sealed: Vec::new(),
        }
    }

    /// What a column holds in the place of this text.
    pub(super) fn digest(&self, table: &str, column: &str, text: &str) -> [u8; DIGEST] {
        let mut mac = self.digests.clone();
        for name in [table, column] {
            mac.update(name.as_bytes());
            mac.update(&[0]);
        }
        mac.update(text.as_bytes());
        let mut digest = [0; DIGEST];
        digest.copy_from_slice(&mac.finalize().into_bytes()[..DIGEST]);
        digest
    }

    /// The body as the row holds it, and the row's share of the whole.
    pub(super) fn seal(&mut self, place: &Place<'_>, body: &[u8]) -> (&[u8], u64) {
        let (tag, share) = self.tag(place, body);
        self.sealed.clear();
        self.sealed.extend_from_slice(&tag);
        self.sealed.extend_from_slice(body);
        self.encrypt(tag).apply_keystream(&mut self.sealed[TAG..]);
        (&self.sealed, share)
    }

    /// The body and the row's share of the whole.
    pub(super) fn open(&mut self, place: &Place<'_>, sealed: &[u8]) -> Result<(Vec<u8>, u64), NotSealedHere> {
        let (tag, body) = sealed.split_first_chunk::<TAG>().ok_or(NotSealedHere)?;
        let mut body = body.to_vec();
        self.encrypt(*tag).apply_keystream(&mut body);
        let (expected, share) = self.tag(place, &body);
        if expected.ct_eq(tag).into() { Ok((body, share)) } else { Err(NotSealedHere) }
    }

    /// The whole as its row holds it.
    pub(super) fn seal_whole(&mut self, whole: Whole) -> Vec<u8> {
        let fingerprint = self.fingerprint;
        let body = [whole.rows.to_le_bytes(), whole.sum.to_le_bytes()].concat();
        let (sealed, _) = self.seal(&WHOLE, &body);
        [&fingerprint[..], sealed].concat()
    }

    /// The whole that was sealed; nothing within when that was done with another key.
    pub(super) fn open_whole(&mut self, row: &[u8]) -> Result<Option<Whole>, NotSealedHere> {
        let (fingerprint, sealed) = row.split_first_chunk::<DIGEST>().ok_or(NotSealedHere)?;
        if *fingerprint != self.fingerprint {
            return Ok(None);
        }
        let (body, _) = self.open(&WHOLE, sealed)?;
        let (rows, sum) = body.split_first_chunk::<8>().ok_or(NotSealedHere)?;
        let sum = sum.try_into().map_err(|_| NotSealedHere)?;
        Ok(Some(Whole { rows: u64::from_le_bytes(*rows), sum: u64::from_le_bytes(sum) }))
    }

    fn encrypt(&self, tag: [u8; TAG]) -> XChaCha20 {
        XChaCha20::new((&*self.cipher).into(), &XNonce::from(tag))
    }

    fn tag(&mut self, place: &Place<'_>, body: &[u8]) -> ([u8; TAG], u64) {
        self.place.clear();
        push(&mut self.place, b't', place.table.as_bytes());
        push_cell(&mut self.place, Some(&place.key));
        push(&mut self.place, b't', place.merchant.as_bytes());
        place.index.iter().for_each(|cell| push_cell(&mut self.place, cell.as_ref()));
        let mut mac = self.tags.clone();
        mac.update(&self.place);
        mac.update(body);
        let bytes: [u8; 32] = mac.finalize().into_bytes().into();
        let (mut tag, mut share) = ([0; TAG], [0; 8]);
        tag.copy_from_slice(&bytes[..TAG]);
        share.copy_from_slice(&bytes[TAG..]);
        (tag, u64::from_le_bytes(share))
    }
}

/// Where the whole itself stands.
const WHOLE: Place<'static> =
    Place { table: "whole", key: Cell::Text(Cow::Borrowed("")), merchant: "", index: [None, None, None] };

/// What it is, how long it is, and itself: no two rows give the same bytes.
fn push(place: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    place.push(kind);
    place.extend_from_slice(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
    place.extend_from_slice(bytes);
}

fn push_cell(place: &mut Vec<u8>, cell: Option<&Cell<'_>>) {
    match cell {
        None => push(place, b'n', b""),
        Some(Cell::Text(text)) => push(place, b't', text.as_bytes()),
        Some(Cell::Digest(digest)) => push(place, b'd', digest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place<'a>(table: &'a str, key: &'a str, merchant: &'a str, index: Option<&'a str>) -> Place<'a> {
        let index = index.map(|text| Cell::Text(text.into()));
        Place { table, key: Cell::Text(key.into()), merchant, index: [index, None, None] }
    }

    #[test]
    fn a_row_opens_as_it_was_sealed_and_nowhere_else() {
        let mut sealer = Sealer::new(&[1; 32]);
        let here = place("t", "k", "m", Some("i"));
        let (sealed, share) = sealer.seal(&here, b"body 4000000000001000");
        let sealed = sealed.to_vec();
        assert!(!sealed.windows(4).any(|window| window == b"4000"));
        assert_eq!(sealer.open(&here, &sealed), Ok((b"body 4000000000001000".to_vec(), share)));
        for elsewhere in [
            place("u", "k", "m", Some("i")),
            place("t", "l", "m", Some("i")),
            place("t", "k", "n", Some("i")),
            place("t", "k", "m", Some("j")),
            place("t", "k", "m", None),
            place("t", "km", "", Some("i")),
        ] {
            assert_eq!(sealer.open(&elsewhere, &sealed), Err(NotSealedHere), "{elsewhere:?}");
        }
        assert_eq!(Sealer::new(&[2; 32]).open(&here, &sealed), Err(NotSealedHere));
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(sealer.open(&here, &altered), Err(NotSealedHere), "{at}");
            assert_eq!(sealer.open(&here, &sealed[..at]), Err(NotSealedHere), "{at}");
        }
    }

    #[test]
    fn the_whole_tells_an_earlier_version_of_a_row() {
        let mut sealer = Sealer::new(&[1; 32]);
        let here = place("t", "k", "m", None);
        let (_, early) = sealer.seal(&here, b"early");
        let (_, late) = sealer.seal(&here, b"late");
        let mut whole = Whole::default();
        whole.add(early);
        let before = whole;
        whole.take(early);
        whole.add(late);
        assert_ne!(whole, before);
        let row = sealer.seal_whole(whole);
        assert_eq!(sealer.open_whole(&row), Ok(Some(whole)));
        assert_eq!(Sealer::new(&[2; 32]).open_whole(&row), Ok(None));
        let mut altered = row;
        *altered.last_mut().unwrap() ^= 1;
        assert_eq!(sealer.open_whole(&altered), Err(NotSealedHere));
    }

    #[test]
    fn digests_differ_by_table_column_and_key() {
        let sealer = Sealer::new(&[1; 32]);
        let digest = sealer.digest("t", "c", "text");
        for (table, column, text) in [("u", "c", "text"), ("t", "d", "text"), ("t", "c", "texts"), ("tc", "", "text")] {
            assert_ne!(sealer.digest(table, column, text), digest);
        }
        assert_ne!(Sealer::new(&[2; 32]).digest("t", "c", "text"), digest);
    }
}
