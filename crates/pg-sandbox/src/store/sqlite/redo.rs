//! The redo log: commits that are not in SQLite's own files yet.
//!
//! A group of requests costs one write here, and one sync. Its changes are in SQLite's open transaction as well, where
//! the next request sees them; that transaction is committed rarely, so that a page which many groups change is written
//! once. After a crash the missing changes are read from here.
//!
//! The file has two regions of the same size, which generations use in turn. A generation begins when SQLite has
//! committed all of the previous one. It overwrites the one before that, which must be on the disk in SQLite's files by
//! then; see [`super::Sqlite`].
//!
//! A region is a header and entries, one a group. An entry is its length, the sum of all rows after it, the changes,
//! and a tag over the tag before and all this. So neither the remains of an earlier generation after the last entry nor
//! half of an entry from a crash counts as an entry. The header names the generation and the sum of all rows before it;
//! the store's own sum says which generation is the first that SQLite lacks. Rows are sealed as they are in their
//! tables.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{
    super::{StoreError, seal::Whole},
    file,
};
use crate::{
    private_file,
    vault::{derived, keyed},
};

/// The size of a region in bytes: about five thousand payments. Tests use smaller regions, to fill many.
const REGION: u64 = if cfg!(test) { 16 << 10 } else { 8 << 20 };
/// The most memory that is kept for the next group.
const LARGE: usize = 1 << 20;
const MAGIC: &[u8; 8] = b"pgSBredo";
const TAG: usize = 32;
type Tag = [u8; TAG];
/// Magic, generation, sum, tag.
const HEADER: usize = 8 + 8 + Whole::BYTES + TAG;
/// The length of the data between it and the tag.
const LENGTH: usize = 4;

/// A redo log that is open for writing.
pub(super) struct Redo {
    file: File,
    tags: Hmac<Sha256>,
    generation: u64,
    /// The length of the written part of the region: zero before the first entry.
    used: u64,
    last: Tag,
    /// The entry of the current group, after space for a header.
    entry: Vec<u8>,
}

/// The content of one generation.
pub(super) struct Left {
    generation: u64,
    /// The sum of all rows before its first entry.
    pub(super) base: Whole,
    bytes: Vec<u8>,
    /// The position of each entry's changes, and the sum of all rows after it.
    entries: Vec<(std::ops::Range<usize>, Whole)>,
}

impl Left {
    /// Returns the changes of each group, and the sum of all rows after them.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u8], Whole)> {
        self.entries.iter().map(|(range, whole)| (&self.bytes[range.clone()], *whole))
    }
}

impl Redo {
    /// Opens or creates the log of a store that only this process has open, and reads its entries since a generation,
    /// oldest first. New entries belong to a later generation.
    pub(super) fn open(store: &Path, key: &[u8; 32], since: u64) -> Result<(Self, Vec<Left>), StoreError> {
        let path = file::redo(store);
        file::create(&path)?;
        // If the name of the log were lost, acknowledged commits would be lost.
        private_file::sync_folder(&path).map_err(|error| failed(&error))?;
        let file = File::options().read(true).write(true).open(&path).map_err(|error| failed(&error))?;
        let mut redo = Self {
            file,
            tags: keyed(&*derived(key, b"pg-sandbox store redo")),
            generation: 0,
            used: 0,
            last: [0; TAG],
            entry: Vec::new(),
        };
        let mut left = redo.left()?;
        redo.generation = left.last().map_or(1, |left| left.generation + 1).max(since);
        left.retain(|left| left.generation >= since);
        redo.forget();
        Ok((redo, left))
    }

    /// Returns the syncer of the log.
    pub(super) fn file(&self) -> Result<File, StoreError> {
        self.file.try_clone().map_err(|error| failed(&error))
    }

    /// Adds a change to the current group, as [`Change::write`](super::super::seal::Change::write) writes it.
    pub(super) fn note(&mut self, change: &[u8]) {
        self.entry.extend_from_slice(change);
    }

    /// Whether the current group has changed anything.
    pub(super) fn has_changes(&self) -> bool {
        self.entry.len() > HEADER + LENGTH + Whole::BYTES
    }

    /// Returns the current position.
    pub(super) const fn generation(&self) -> u64 {
        self.generation
    }

    /// Drops the current group.
    pub(super) fn forget(&mut self) {
        self.entry.clear();
        self.entry.shrink_to(LARGE);
        self.entry.resize(HEADER + LENGTH + Whole::BYTES, 0);
    }

    /// Whether there is an entry.
    pub(super) const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Whether the store contains every entry of the log.
    pub(super) const fn is_new(&self) -> bool {
        self.generation == 1 && self.is_empty()
    }

    /// Whether SQLite should commit before the log has no space for another group.
    pub(super) const fn is_nearly_full(&self) -> bool {
        self.used > REGION - REGION / 4
    }

    /// Writes the current group. Returns whether there was room for it.
    pub(super) fn append(&mut self, before: Whole, after: Whole) -> Result<bool, StoreError> {
        let length = self.entry.len() - HEADER - LENGTH;
        let begin = if self.used == 0 { 0 } else { HEADER };
        let size = u64::try_from(self.entry.len() - begin + TAG).unwrap_or(u64::MAX);
        let Some(written) = u32::try_from(length).ok().filter(|_| size <= REGION - self.used) else {
            return Ok(false);
        };
        let mut last = self.last;
        if self.used == 0 {
            last = self.header(before);
        }
        self.entry[HEADER..HEADER + LENGTH].copy_from_slice(&written.to_le_bytes());
        self.entry[HEADER + LENGTH..HEADER + LENGTH + Whole::BYTES].copy_from_slice(&after.to_bytes());
        let tag = self.tag(&last, &self.entry[HEADER..]);
        self.entry.extend_from_slice(&tag);
        // A failed write leaves an invalid entry, which the next one overwrites.
        let at = self.start() + self.used;
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(&self.entry[begin..]));
        written.map_err(|error| failed(&error))?;
        (self.used, self.last) = (self.used + size, tag);
        self.forget();
        Ok(true)
    }

    /// Begins the next generation, which overwrites the previous one.
    pub(super) fn turn(&mut self) {
        self.generation += 1;
        self.used = 0;
    }

    /// Returns the written part of this generation.
    pub(super) fn so_far(&mut self) -> Result<Option<Left>, StoreError> {
        if self.is_empty() {
            return Ok(None);
        }
        let (generation, used) = (self.generation, self.used);
        let left = self.read(turn_of(generation))?.filter(|left| left.generation == generation);
        let whole = left.filter(|left| {
            let end = left.entries.last().map_or(0, |(range, _)| range.end + TAG);
            u64::try_from(end).ok() == Some(used)
        });
        whole.map(Some).ok_or_else(|| StoreError::Damaged("the redo log is damaged".to_owned()))
    }

    fn left(&mut self) -> Result<Vec<Left>, StoreError> {
        let mut left: Vec<Left> = Vec::new();
        for which in 0..2 {
            left.extend(self.read(which)?);
        }
        left.sort_by_key(|left| left.generation);
        Ok(left)
    }

    const fn start(&self) -> u64 {
        turn_of(self.generation) * REGION
    }

    /// Writes the header of this generation before the entry, and returns its tag.
    fn header(&mut self, base: Whole) -> Tag {
        let mut header = Vec::with_capacity(HEADER);
        header.extend_from_slice(MAGIC);
        header.extend_from_slice(&self.generation.to_le_bytes());
        header.extend_from_slice(&base.to_bytes());
        let tag = self.tag(&[0; TAG], &header);
        header.extend_from_slice(&tag);
        self.entry[..HEADER].copy_from_slice(&header);
        tag
    }

    fn tag(&self, before: &Tag, bytes: &[u8]) -> Tag {
        let mut mac = self.tags.clone();
        mac.update(before);
        mac.update(bytes);
        mac.finalize().into_bytes().into()
    }

    fn is_tagged(&self, before: &Tag, bytes: &[u8], tag: &[u8]) -> bool {
        self.tag(before, bytes).ct_eq(tag).into()
    }

    /// Reads a region, up to the first byte that the same generation has not written.
    fn read(&mut self, which: u64) -> Result<Option<Left>, StoreError> {
        let mut bytes = Vec::new();
        let read = self
            .file
            .seek(SeekFrom::Start(which * REGION))
            .and_then(|_| (&self.file).take(REGION).read_to_end(&mut bytes));
        read.map_err(|error| failed(&error))?;
        Ok(self.parse(bytes).filter(|left| turn_of(left.generation) == which))
    }

    fn parse(&self, bytes: Vec<u8>) -> Option<Left> {
        let (header, tag) = bytes.get(..HEADER)?.split_at(HEADER - TAG);
        let (magic, rest) = header.split_first_chunk::<8>()?;
        let (generation, base) = rest.split_first_chunk::<8>()?;
        if magic != MAGIC || !self.is_tagged(&[0; TAG], header, tag) {
            return None;
        }
        let (generation, base) = (u64::from_le_bytes(*generation), Whole::from_bytes(base)?);
        let (mut last, mut at, mut entries) = (Tag::try_from(tag).ok()?, HEADER, Vec::new());
        while let Some((range, whole, tag)) = self.entry_at(&bytes, at, &last) {
            (last, at) = (tag, range.end + TAG);
            entries.push((range, whole));
        }
        Some(Left { generation, base, bytes, entries })
    }

    fn entry_at(&self, bytes: &[u8], at: usize, last: &Tag) -> Option<(std::ops::Range<usize>, Whole, Tag)> {
        let length = bytes.get(at..)?.first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let body = at + LENGTH;
        let end = body.checked_add(length)?;
        let tag = bytes.get(end..)?.first_chunk::<TAG>()?;
        if !self.is_tagged(last, &bytes[at..end], tag) {
            return None;
        }
        let changes = body + Whole::BYTES;
        Some((changes..end, Whole::from_bytes(bytes.get(body..changes)?)?, *tag))
    }
}

/// Returns the region of a generation. The first generation uses the first region, so that a small store has a small
/// file.
const fn turn_of(generation: u64) -> u64 {
    (generation + 1) % 2
}

fn failed(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreError::Full,
        _ => StoreError::Engine(format!("the redo log: {error}")),
    }
}
