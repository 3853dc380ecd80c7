//! Seals rows at rest: without the key no body can be read, and no row can be changed, moved or restored to an earlier
//! version.
//!
//! A body is encrypted in SIV mode, which RFC 5297 describes for AES: an HMAC-SHA-256 over the table, the key, the
//! columns and the body is the authentication tag, and the nonce of XChaCha20 at the same time. So two bodies share a
//! nonce only if the two rows are equal, without any random numbers, and the same requests give the same store byte by
//! byte. HMAC-SHA-256 was chosen because current processors have instructions for it, and because the program contains
//! it already.
//!
//! The rest of the HMAC is the row's share of [`Whole`], which only the key's owner can compute.

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

/// The stored form of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cell<'a> {
    /// Not sealed.
    Text(Cow<'a, str>),
    /// The digest of a caller's text.
    Digest([u8; DIGEST]),
}

/// The columns of a row besides its body.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) table: &'a str,
    pub(super) key: Cell<'a>,
    pub(super) merchant: &'a str,
    pub(super) index: [Option<Cell<'a>>; INDEX_COLUMNS],
}

impl<'a> Place<'a> {
    fn write(&self, bytes: &mut Vec<u8>) {
        push(bytes, b't', self.table.as_bytes());
        push_cell(bytes, Some(&self.key));
        push(bytes, b't', self.merchant.as_bytes());
        self.index.iter().for_each(|cell| push_cell(bytes, cell.as_ref()));
    }

    fn read(bytes: &mut &'a [u8]) -> Option<Self> {
        let (table, key, merchant) = (pop_text(bytes)?, pop_cell(bytes)??, pop_text(bytes)?);
        let index = [pop_cell(bytes)?, pop_cell(bytes)?, pop_cell(bytes)?];
        Some(Self { table, key, merchant, index })
    }
}

/// A change of a row, as in the redo log.
#[derive(Debug)]
pub(super) enum Change<'a> {
    /// The row is written, with this sealed body.
    Put(Place<'a>, &'a [u8]),
    /// The row of this table with this key is removed.
    Remove(&'a str, Cell<'a>),
}

impl<'a> Change<'a> {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Put(place, sealed) => {
                push(bytes, b'p', sealed);
                place.write(bytes);
            }
            Self::Remove(table, key) => {
                push(bytes, b'r', table.as_bytes());
                push_cell(bytes, Some(key));
            }
        }
    }

    /// Removes and returns the first of several changes.
    pub(super) fn read(bytes: &mut &'a [u8]) -> Option<Self> {
        match pop(bytes)? {
            (b'p', sealed) => Some(Self::Put(Place::read(bytes)?, sealed)),
            (b'r', table) => Some(Self::Remove(std::str::from_utf8(table).ok()?, pop_cell(bytes)??)),
            _ => None,
        }
    }
}

/// The number of rows, and the sum of their shares. A row that is missing, added, or replaced by an earlier version
/// changes it.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Whole {
    rows: u64,
    sum: u64,
}

impl Whole {
    /// The length in bytes of its written form.
    pub(super) const BYTES: usize = 16;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.rows.to_le_bytes());
        bytes[8..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (rows, sum) = bytes.split_first_chunk::<8>()?;
        Some(Self { rows: u64::from_le_bytes(*rows), sum: u64::from_le_bytes(sum.try_into().ok()?) })
    }

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
#[derive(Clone)]
pub(super) struct Sealer {
    /// The key that seals rows.
    writes: RowKey,
    /// The keys that may have sealed earlier rows.
    reads: Vec<RowKey>,
    digests: Hmac<Sha256>,
    /// The input of the next tag, reused without allocation.
    place: Vec<u8>,
}

/// The keys derived from one key.
#[derive(Clone)]
struct RowKey {
    tags: Hmac<Sha256>,
    cipher: Box<Zeroizing<[u8; 32]>>,
    fingerprint: [u8; DIGEST],
}

impl RowKey {
    fn new(key: &[u8; 32]) -> Self {
        Self {
            tags: keyed(&**derived(key, b"pg-sandbox store row tag")),
            cipher: derived(key, b"pg-sandbox store row body"),
            fingerprint: fingerprint(key),
        }
    }

    fn encrypt(&self, tag: [u8; TAG]) -> XChaCha20 {
        XChaCha20::new((&**self.cipher).into(), &XNonce::from(tag))
    }

    /// Returns the tag of a body at a place, and the row's share of the sum.
    fn tag(&self, place: &[u8], body: &[u8]) -> ([u8; TAG], u64) {
        let mut mac = self.tags.clone();
        mac.update(place);
        mac.update(body);
        let bytes: [u8; 32] = mac.finalize().into_bytes().into();
        let (mut tag, mut share) = ([0; TAG], [0; 8]);
        tag.copy_from_slice(&bytes[..TAG]);
        share.copy_from_slice(&bytes[TAG..]);
        (tag, u64::from_le_bytes(share))
    }
}

/// Returns an identifier of a key that does not reveal it.
pub(super) fn fingerprint(key: &[u8; 32]) -> [u8; DIGEST] {
    let mut fingerprint = [0; DIGEST];
    fingerprint.copy_from_slice(&derived(key, b"pg-sandbox store key fingerprint")[..DIGEST]);
    fingerprint
}

/// An opened body.
pub(super) struct Opened {
    pub(super) body: Vec<u8>,
    share: u64,
    /// Whether it is sealed with the current key.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only a shared store has several keys"))]
    pub(super) is_current: bool,
}

impl Sealer {
    pub(super) fn new(key: &[u8; 32]) -> Self {
        Self {
            writes: RowKey::new(key),
            reads: Vec::new(),
            digests: keyed(&**derived(key, b"pg-sandbox store digest")),
            place: Vec::new(),
        }
    }

    /// Seals rows with one key and opens those of several. The root is the first key of the store: digests always
    /// depend on it, so that rows are found after the keys have changed.
    #[cfg(feature = "postgres")]
    pub(super) fn with_keys<'a>(root: &[u8; 32], writes: &[u8; 32], reads: impl Iterator<Item = &'a [u8; 32]>) -> Self {
        Self { writes: RowKey::new(writes), reads: reads.map(RowKey::new).collect(), ..Self::new(root) }
    }

    /// Returns the stored form of this text in a column.
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

    /// Encrypts a body for its row into `sealed`, and returns the row's share of the sum.
    pub(super) fn seal(&mut self, place: &Place<'_>, body: &[u8], sealed: &mut Vec<u8>) -> u64 {
        self.place.clear();
        place.write(&mut self.place);
        let (tag, share) = self.writes.tag(&self.place, body);
        sealed.clear();
        sealed.extend_from_slice(&tag);
        sealed.extend_from_slice(body);
        self.writes.encrypt(tag).apply_keystream(&mut sealed[TAG..]);
        share
    }

    /// Returns the body and the row's share of the whole.
    pub(super) fn open(&mut self, place: &Place<'_>, sealed: &[u8]) -> Result<(Vec<u8>, u64), NotSealedHere> {
        self.opened(place, sealed).map(|opened| (opened.body, opened.share))
    }

    /// Returns the body, and which key it was sealed with.
    pub(super) fn opened(&mut self, place: &Place<'_>, sealed: &[u8]) -> Result<Opened, NotSealedHere> {
        let (tag, encrypted) = sealed.split_first_chunk::<TAG>().ok_or(NotSealedHere)?;
        self.place.clear();
        place.write(&mut self.place);
        for (key, is_current) in std::iter::once((&self.writes, true)).chain(self.reads.iter().map(|key| (key, false)))
        {
            let mut body = encrypted.to_vec();
            key.encrypt(*tag).apply_keystream(&mut body);
            let (expected, share) = key.tag(&self.place, &body);
            if expected.ct_eq(tag).into() {
                return Ok(Opened { body, share, is_current });
            }
        }
        Err(NotSealedHere)
    }

    /// Returns the sum in its row, with what may be missing from it.
    pub(super) fn seal_whole(&mut self, whole: Whole, since: Since) -> Vec<u8> {
        let mut body = whole.to_bytes().to_vec();
        if since.generation > 0 {
            body.extend_from_slice(&since.generation.to_le_bytes());
        }
        match since.needs {
            Needs::Nothing => {}
            // An earlier version of the sandbox, which would not look for it, refuses the longer row.
            Needs::Length => body.push(NEEDS_LENGTH),
            Needs::Generation => body.push(NEEDS_GENERATION),
        }
        let mut sealed = Vec::new();
        self.seal(&WHOLE, &body, &mut sealed);
        [&self.writes.fingerprint[..], &sealed].concat()
    }

    /// Returns the sealed sum and what may be missing from it; `None` if they are sealed with another key.
    pub(super) fn open_whole(&mut self, row: &[u8]) -> Result<Option<(Whole, Since)>, NotSealedHere> {
        let (fingerprint, sealed) = row.split_first_chunk::<DIGEST>().ok_or(NotSealedHere)?;
        if *fingerprint != self.writes.fingerprint {
            return Ok(None);
        }
        let (body, _) = self.open(&WHOLE, sealed)?;
        let (whole, since) = body.split_at_checked(Whole::BYTES).ok_or(NotSealedHere)?;
        let since = match since.split_first_chunk() {
            None if since.is_empty() => Since::default(),
            Some((generation, needs)) => {
                let needs = match needs {
                    [] => Needs::Nothing,
                    [NEEDS_LENGTH] => Needs::Length,
                    [NEEDS_GENERATION] => Needs::Generation,
                    _ => return Err(NotSealedHere),
                };
                Since { generation: u64::from_le_bytes(*generation), needs }
            }
            None => return Err(NotSealedHere),
        };
        Ok(Some((Whole::from_bytes(whole).ok_or(NotSealedHere)?, since)))
    }
}

/// The first generation of the redo log that the tables do not contain, and what has to be there of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Since {
    pub(super) generation: u64,
    pub(super) needs: Needs,
}

/// What a store needs of its redo log to be complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Needs {
    /// The store is complete without it.
    #[default]
    Nothing,
    /// A log of its full length: an earlier version of the sandbox wrote the header of a generation with its first entry.
    Length,
    /// A log with the header of this generation.
    Generation,
}

const NEEDS_LENGTH: u8 = 1;
const NEEDS_GENERATION: u8 = 2;

/// Returns the place of the sum.
const WHOLE: Place<'static> =
    Place { table: "whole", key: Cell::Text(Cow::Borrowed("")), merchant: "", index: [None, None, None] };

/// Appends kind, length and bytes of a part, so that no two rows give the same bytes.
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

/// Reverses [`push`].
fn pop<'a>(bytes: &mut &'a [u8]) -> Option<(u8, &'a [u8])> {
    let (&kind, rest) = bytes.split_first()?;
    let (length, rest) = rest.split_first_chunk::<8>()?;
    let (found, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
    *bytes = rest;
    Some((kind, found))
}

fn pop_text<'a>(bytes: &mut &'a [u8]) -> Option<&'a str> {
    let (kind, text) = pop(bytes)?;
    std::str::from_utf8(text).ok().filter(|_| kind == b't')
}

#[expect(clippy::option_option, reason = "no cell, or what a row has in the place of one")]
fn pop_cell<'a>(bytes: &mut &'a [u8]) -> Option<Option<Cell<'a>>> {
    match pop(bytes)? {
        (b'n', b"") => Some(None),
        (b't', text) => Some(Some(Cell::Text(std::str::from_utf8(text).ok()?.into()))),
        (b'd', digest) => Some(Some(Cell::Digest(digest.try_into().ok()?))),
        _ => None,
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
        let mut sealed = Vec::new();
        let share = sealer.seal(&here, b"body 4000000000001000", &mut sealed);
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
    fn a_digest_of_the_store_reveals_an_earlier_version_of_a_row() {
        let mut sealer = Sealer::new(&[1; 32]);
        let here = place("t", "k", "m", None);
        let early = sealer.seal(&here, b"early", &mut Vec::new());
        let late = sealer.seal(&here, b"late", &mut Vec::new());
        let mut whole = Whole::default();
        whole.add(early);
        let before = whole;
        whole.take(early);
        whole.add(late);
        assert_ne!(whole, before);
        let row = sealer.seal_whole(whole, Since::default());
        assert_eq!(sealer.open_whole(&row), Ok(Some((whole, Since::default()))));
        for needs in [Needs::Nothing, Needs::Length, Needs::Generation] {
            let since = Since { generation: 7, needs };
            let later = sealer.seal_whole(whole, since);
            assert_eq!(sealer.open_whole(&later), Ok(Some((whole, since))));
        }
        assert_eq!(Sealer::new(&[2; 32]).open_whole(&row), Ok(None));
        let mut altered = row;
        *altered.last_mut().unwrap() ^= 1;
        assert_eq!(sealer.open_whole(&altered), Err(NotSealedHere));
    }

    #[test]
    fn changes_are_read_as_they_were_written() {
        let here = || place("t", "k", "m", Some("i"));
        let mut digests = here();
        digests.key = Cell::Digest([7; DIGEST]);
        digests.index[2] = Some(Cell::Digest([9; DIGEST]));
        let changes = [
            Change::Put(here(), b"sealed"),
            Change::Remove("t", Cell::Text("k".into())),
            Change::Put(digests, b""),
            Change::Remove("u", Cell::Digest([8; DIGEST])),
        ];
        let mut bytes = Vec::new();
        changes.iter().for_each(|change| change.write(&mut bytes));
        let mut rest = &bytes[..];
        for change in &changes {
            assert_eq!(format!("{:?}", Change::read(&mut rest).unwrap()), format!("{change:?}"));
        }
        assert!(rest.is_empty() && Change::read(&mut rest).is_none());
        for end in 0..bytes.len() {
            let mut cut = &bytes[..end];
            while Change::read(&mut cut).is_some() {}
        }
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
