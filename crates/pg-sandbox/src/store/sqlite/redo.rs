//! The redo log: commits that are not in SQLite's own files yet.
//!
//! A group of requests costs one write here, and one sync. Its changes are in SQLite's open transaction as well, where
//! the next request sees them; that transaction is committed rarely, so that a page which many groups change is written
//! once. After a crash the missing changes are read from here.
//!
//! The file has two regions of the same size, which generations use in turn. A generation begins when SQLite
//! commits all of the previous one. It overwrites the generation before that, whose changes must already be on the
//! disk in SQLite's files; see [`super::Sqlite`]. Its header is on the disk before that commit, with which the store asks for
//! it: a log without that header is another store's, or an earlier copy, and lacks commits.
//!
//! A region consists of a header and entries, one for each group. An entry is its length, the sum of all rows after it,
//! a mark, the changes, and a tag over the previous tag and all of this. So neither the remains of an earlier
//! generation after the last entry nor half of an entry from a crash counts as an entry. The header names the
//! generation and the sum of all rows before it; the store's own sum says which generation is the first that SQLite
//! lacks. The numbers of generations increase, by a random step at each start: so copies of one store, whose key and rows are the
//! same, never accept each other's logs. Rows are sealed as they are in their tables.
//!
//! The mark says how much of the generation was on the disk when the entry was written. If an entry cannot be read
//! although the mark of a later one says that it was on the disk, the log is damaged, and the store does not open: its
//! commits were acknowledged. After each sync, a receipt with a mark is written to the last block of the region: an entry
//! without changes, whose tag depends on nothing before it. It shares no sector or block with an entry, so damage of one
//! never hits both a group and the proof that the group was on the disk. Earlier versions wrote it after the last entry; it is
//! found anywhere. A killed process leaves the receipt behind. A power cut may leave an earlier one, since a receipt is not
//! synced: then damage to the last entries cannot be distinguished from entries that were cut off.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    ops::Range,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hmac::{Hmac, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;

use super::{
    super::{
        StoreError, Syncer,
        seal::{Needs, Since, Whole},
        syncer::Synced,
    },
    file,
};
use crate::{
    private_file,
    vault::{derived, keyed},
};

mod foreign;

pub(super) use foreign::check_unused;

/// The size of a region in bytes: about five thousand payments. Tests use smaller regions, to fill many.
pub(super) const REGION: u64 = if cfg!(test) { 20 << 10 } else { 8 << 20 };
/// The part of a region that entries use. The rest, one block of the disk, is for the receipt.
const ENTRIES: u64 = REGION - (4 << 10);
/// The length of the file, most of which has no blocks on the disk at first. A shorter one has been cut.
const WHOLE: u64 = 2 * REGION;
/// The most memory that is kept for the next group.
const LARGE: usize = 1 << 20;
const MAGIC: &[u8; 8] = b"pgSBredo";
/// Added to the generation in a header if the entries have marks. An earlier version of the sandbox, whose entries have none,
/// refuses such a log; with another magic it would ignore the log and lose commits.
const MARKED: u64 = 1 << 63;
const TAG: usize = 32;
type Tag = [u8; TAG];
/// Before a header and a receipt, neither of which depends on what is before it.
const NONE: Tag = [0; TAG];
/// Magic, generation, sum, tag.
pub(super) const HEADER: usize = 8 + 8 + Whole::BYTES + TAG;
/// The length of the data between it and the tag.
const LENGTH: usize = 4;
/// The generation, and the length of its part that was on the disk.
const MARK: usize = 8 + 8;
/// The part of an entry before its changes.
const START: usize = LENGTH + Whole::BYTES + MARK;

/// Reads a part of a file.
fn read(mut file: &File, at: u64, length: u64) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.take(length).read_to_end(&mut bytes));
    read.map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// A redo log that is open for writing.
pub(super) struct Redo {
    end: Arc<Mutex<End>>,
    syncer: Syncer,
    tags: Tags,
    /// The entry of the current group.
    entry: Vec<u8>,
}

/// Where the log is written: by the writer, and by the thread that syncs.
struct End {
    file: File,
    tags: Tags,
    generation: u64,
    /// The number of bytes of the generations before this one.
    earlier: u64,
    /// The length of the written part of the region: zero before the first generation of this process.
    used: u64,
    /// The number of bytes that are on the disk for certain, earlier generations included.
    on_disk: u64,
    /// The tag of the header or the last entry, and the sum of all rows after the entry.
    last: Tag,
    whole: Whole,
}

/// The key of the log, from which the tags come.
#[derive(Clone)]
struct Tags(Hmac<Sha256>);

/// The content of one generation.
pub(super) struct Left {
    generation: u64,
    /// The sum of all rows before its first entry.
    pub(super) base: Whole,
    bytes: Vec<u8>,
    /// The position of each entry's changes, and the sum of all rows after it.
    entries: Vec<(Range<usize>, Whole)>,
    /// The length of everything that could be read.
    end: usize,
}

/// A generation that can begin: its header is on the disk.
pub(super) struct Prepared {
    pub(super) generation: u64,
    /// The tag of the header.
    tag: Tag,
}

/// An entry that could be read.
struct Entry {
    changes: Range<usize>,
    whole: Whole,
    tag: Tag,
}

impl Left {
    /// Returns the changes of each group, and the sum of all rows after them.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u8], Whole)> {
        self.entries.iter().map(|(range, whole)| (&self.bytes[range.clone()], *whole))
    }
}

impl Redo {
    /// Opens or creates the log of a store that only this process has open, and reads the entries that the store, with this
    /// sum of its rows, lacks, oldest first. `found` is the locked log, if it exists. The next generation is `step` after
    /// the last one; until it begins, nothing can be appended.
    pub(super) fn open(
        store: &Path,
        found: Option<File>,
        key: &[u8; 32],
        (since, whole): (Since, Whole),
        step: u32,
    ) -> Result<(Self, Vec<Left>), StoreError> {
        let path = file::redo(store);
        if since.needs != Needs::Nothing && fs::metadata(&path).map_or(0, |found| found.len()) < WHOLE {
            return Err(StoreError::Damaged(format!(
                "{} is missing or cut, with acknowledged commits",
                path.display()
            )));
        }
        let file = file::own_redo(store, found)?;
        let tags = Tags(keyed(&**derived(key, b"pg-sandbox store redo")));
        if since.needs == Needs::Nothing {
            if foreign::is_foreign(&file, &tags)? {
                return Err(StoreError::ForeignLog(path));
            }
            // Without its name or its length, the log would seem to be missing or cut.
            let long =
                file.set_len(WHOLE).and_then(|()| file.sync_all()).and_then(|()| private_file::sync_folder(&path));
            long.map_err(|error| failed(&error))?;
        }
        let synced = file.try_clone().map_err(|error| failed(&error))?;
        let end = End { file, tags: tags.clone(), generation: 0, earlier: 0, used: 0, on_disk: 0, last: NONE, whole };
        let end = Arc::new(Mutex::new(end));
        let syncer = Syncer::of(Arc::<Mutex<End>>::clone(&end), synced);
        let mut redo = Self { end, syncer, tags, entry: Vec::new() };
        let mut left = redo.left(since.generation)?;
        let is_begun = left.iter().any(|left| (left.generation, left.base) == (since.generation, whole));
        if since.needs == Needs::Generation && !is_begun {
            return Err(StoreError::Damaged(format!(
                "{} is another store's log, an earlier copy or damaged, and lacks acknowledged commits",
                path.display()
            )));
        }
        let last = left.last().map_or(0, |left| left.generation).max(since.generation);
        redo.end().generation = last + u64::from(step);
        // The store may never have asked for a generation that has only its header.
        left.retain(|left| left.generation >= since.generation && !left.entries.is_empty());
        redo.forget();
        Ok((redo, left))
    }

    /// Returns the syncer of the log.
    pub(super) const fn syncer(&self) -> &Syncer {
        &self.syncer
    }

    /// Returns what the syncer tells of its syncs.
    #[cfg(test)]
    pub(super) fn log(&self) -> Arc<dyn Synced> {
        Arc::<Mutex<End>>::clone(&self.end)
    }

    /// Adds a change to the current group, as [`Change::write`](super::super::seal::Change::write) writes it.
    pub(super) fn note(&mut self, change: &[u8]) {
        self.entry.extend_from_slice(change);
    }

    /// Whether the current group has changed anything.
    pub(super) fn has_changes(&self) -> bool {
        self.entry.len() > START
    }

    /// Removes the log of a store that needs it no more.
    pub(super) fn remove(self, store: &Path) -> Result<(), StoreError> {
        let path = file::redo(store);
        // If the store was moved, another one may have a log there.
        let removed = match file::names(&path, &self.end().file) {
            Ok(true) => fs::remove_file(&path).and_then(|()| private_file::sync_folder(&path)),
            other => other.map(drop),
        };
        removed.map_err(|error| failed(&error))
    }

    /// Returns the current position.
    pub(super) fn generation(&self) -> u64 {
        self.end().generation
    }

    /// Drops the current group.
    pub(super) fn forget(&mut self) {
        self.entry.clear();
        self.entry.shrink_to(LARGE);
        self.entry.resize(START, 0);
    }

    /// Whether SQLite should commit before the log has no space for another group.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.end().used > ENTRIES - ENTRIES / 4
    }

    /// Writes the current group. Returns whether there was room for it.
    pub(super) fn append(&mut self, after: Whole) -> Result<bool, StoreError> {
        let mut end = locked(&self.end);
        if !end.has_room(self.entry.len()) {
            return Ok(false);
        }
        let tag = end.complete(&end.last, &mut self.entry, after);
        let (generation, at) = (end.generation, end.used);
        if let Err(error) = end.write(generation, at, &self.entry) {
            return Err(end.spoil(at, &error));
        }
        end.used += self.entry.len() as u64;
        (end.last, end.whole) = (tag, after);
        drop(end);
        self.forget();
        Ok(true)
    }

    /// Writes the header of the next generation, which overwrites the previous one, and syncs it.
    pub(super) fn prepare(&self, base: Whole) -> Result<Prepared, StoreError> {
        let mut end = self.end();
        let generation = end.generation + 1;
        let (header, tag) = end.header(generation, base);
        end.write(generation, 0, &header).map_err(|error| failed(&error))?;
        drop(end);
        self.syncer.sync()?;
        Ok(Prepared { generation, tag })
    }

    /// Begins the next generation.
    pub(super) fn turn(&mut self, next: &Prepared) {
        let mut end = self.end();
        end.generation = next.generation;
        end.earlier += end.used;
        end.used = HEADER as u64;
        end.on_disk = end.earlier + end.used;
        end.last = next.tag;
    }

    /// Returns the written part of this generation.
    pub(super) fn so_far(&self) -> Result<Option<Left>, StoreError> {
        let End { generation, used, .. } = *self.end();
        if used <= HEADER as u64 {
            return Ok(None);
        }
        let bytes = self.region(turn_of(generation))?;
        let whole = self
            .parse(bytes)
            .ok()
            .filter(|left| left.generation == generation && u64::try_from(left.end).ok() == Some(used));
        whole.map(Some).ok_or_else(|| StoreError::Damaged("the redo log is damaged".to_owned()))
    }

    fn left(&self, since: u64) -> Result<Vec<Left>, StoreError> {
        let mut left: Vec<Left> = Vec::new();
        for which in 0..2 {
            let bytes = self.region(which)?;
            match self.parse(bytes) {
                Ok(found) => {
                    self.check_rest(&found.bytes, found.end, found.generation.max(since))?;
                    left.extend((turn_of(found.generation) == which).then_some(found));
                }
                Err(bytes) => self.check_rest(&bytes, 0, since)?,
            }
        }
        left.sort_by_key(|left| left.generation);
        Ok(left)
    }

    fn end(&self) -> MutexGuard<'_, End> {
        locked(&self.end)
    }

    /// Reads a region.
    fn region(&self, which: u64) -> Result<Vec<u8>, StoreError> {
        read(&self.end().file, which * REGION, REGION)
    }

    /// Reads the entries of a region, up to the first byte that the same generation has not written. Returns the bytes if
    /// there is no header.
    fn parse(&self, bytes: Vec<u8>) -> Result<Left, Vec<u8>> {
        let Some((generation, base, tag, is_marked)) = self.tags.header_of(&bytes) else { return Err(bytes) };
        let (mut last, mut end, mut entries) = (tag, HEADER, Vec::new());
        while let Some(entry) = self.entry_at(&bytes, end, &last, is_marked) {
            (last, end) = (entry.tag, entry.changes.end + TAG);
            entries.push((entry.changes, entry.whole));
        }
        Ok(Left { generation, base, bytes, entries, end })
    }

    fn entry_at(&self, bytes: &[u8], at: usize, last: &Tag, is_marked: bool) -> Option<Entry> {
        let length = bytes.get(at..)?.first_chunk::<LENGTH>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let body = at + LENGTH;
        let end = body.checked_add(length)?;
        let tag = bytes.get(end..)?.first_chunk::<TAG>()?;
        if !self.tags.are(last, &bytes[at..end], tag) {
            return None;
        }
        let whole = body + Whole::BYTES;
        let changes = whole + if is_marked { MARK } else { 0 };
        let whole = Whole::from_bytes(bytes.get(body..whole)?)?;
        Some(Entry { changes: bytes.get(changes..end).map(|_| changes..end)?, whole, tag: *tag })
    }

    /// Fails if an entry after `end`, of this generation or a later one, says that more of its generation was on the disk
    /// than can be read.
    fn check_rest(&self, bytes: &[u8], end: usize, generation: u64) -> Result<(), StoreError> {
        let number = |at: usize| Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?));
        let readable = u64::try_from(end).unwrap_or(u64::MAX);
        for at in end.max(TAG)..=bytes.len().saturating_sub(START + TAG) {
            let mark = at + LENGTH + Whole::BYTES;
            // Nearly every other position ends here.
            let is_later = number(mark).is_some_and(|found| (generation.max(1)..=generation + 2).contains(&found));
            if is_later
                && number(mark + 8).is_some_and(|on_disk| on_disk > readable)
                && let Ok(last) = Tag::try_from(&bytes[at - TAG..at])
                && [last, NONE].iter().any(|before| self.entry_at(bytes, at, before, true).is_some())
            {
                return Err(StoreError::Damaged(format!(
                    "the redo log is damaged {end} bytes after the beginning of a generation, before commits that were acknowledged"
                )));
            }
        }
        Ok(())
    }
}

impl End {
    /// Whether this many bytes and a tag have room in the region.
    fn has_room(&self, length: usize) -> bool {
        // So a length is a u32.
        const { assert!(REGION <= u32::MAX as u64) };
        (length + TAG) as u64 <= ENTRIES - self.used
    }

    /// Returns the header of a generation, and its tag.
    fn header(&self, generation: u64, base: Whole) -> ([u8; HEADER], Tag) {
        let mut header = [0; HEADER];
        let (content, place) = header.split_at_mut(HEADER - TAG);
        fill(content, &[MAGIC, &(generation | MARKED).to_le_bytes(), &base.to_bytes()]);
        let tag = self.tags.tag(&NONE, content);
        place.copy_from_slice(&tag);
        (header, tag)
    }

    /// Writes the start and the tag of an entry after one with a tag, and returns its tag.
    fn complete(&self, before: &Tag, entry: &mut Vec<u8>, whole: Whole) -> Tag {
        let length = (entry.len() - LENGTH) as u32;
        let on_disk = self.on_disk.saturating_sub(self.earlier);
        let parts: [&[u8]; 4] =
            [&length.to_le_bytes(), &whole.to_bytes(), &self.generation.to_le_bytes(), &on_disk.to_le_bytes()];
        fill(entry, &parts);
        let tag = self.tags.tag(before, entry);
        entry.extend_from_slice(&tag);
        tag
    }

    /// Makes a written entry invalid, since a file system may report an error although all data has arrived. Returns the error of the
    /// write, or one that leaves open whether the entry is there.
    fn spoil(&mut self, at: u64, error: &io::Error) -> StoreError {
        let error = failed(error);
        match self.write(self.generation, at, &[0; START]) {
            // A full disk has no space for the zeros either, and had none for the entry.
            Err(unwritten) if !matches!(error, StoreError::Full) => StoreError::Unsynced(unwritten.to_string()),
            _ => error,
        }
    }

    /// Writes at this position of a generation's region.
    fn write(&mut self, generation: u64, at: u64, bytes: &[u8]) -> io::Result<()> {
        let at = turn_of(generation) * REGION + at;
        self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(bytes))
    }
}

impl Synced for Mutex<End> {
    fn written(&self) -> u64 {
        let end = locked(self);
        end.earlier + end.used
    }

    fn is_on_disk(&self, written: u64) {
        let mut end = locked(self);
        end.on_disk = end.on_disk.max(written);
        if end.used > HEADER as u64 {
            let mut receipt = vec![0; START];
            end.complete(&NONE, &mut receipt, end.whole);
            // Without a receipt nothing is lost but a proof of damage; if the disk has failed, the next entry shows it.
            let generation = end.generation;
            let _ = end.write(generation, ENTRIES, &receipt);
        }
    }
}

impl Tags {
    /// Returns the generation, the sum of all rows before it, its tag, and whether its entries have marks.
    fn header_of(&self, bytes: &[u8]) -> Option<(u64, Whole, Tag, bool)> {
        let (header, tag) = bytes.get(..HEADER)?.split_at(HEADER - TAG);
        let (magic, rest) = header.split_first_chunk::<8>()?;
        let (generation, base) = rest.split_first_chunk::<8>()?;
        if magic != MAGIC || !self.are(&NONE, header, tag) {
            return None;
        }
        let generation = u64::from_le_bytes(*generation);
        Some((generation & !MARKED, Whole::from_bytes(base)?, Tag::try_from(tag).ok()?, generation & MARKED != 0))
    }

    fn tag(&self, before: &Tag, bytes: &[u8]) -> Tag {
        self.0.clone().chain_update(before).chain_update(bytes).finalize().into_bytes().into()
    }

    fn are(&self, before: &Tag, bytes: &[u8], tag: &[u8]) -> bool {
        self.tag(before, bytes).ct_eq(tag).into()
    }
}

/// Returns the end of the log; a panic elsewhere leaves at most an entry that is not valid.
fn locked(end: &Mutex<End>) -> MutexGuard<'_, End> {
    end.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the parts one after the other.
fn fill(mut place: &mut [u8], parts: &[&[u8]]) {
    for part in parts {
        let (here, rest) = place.split_at_mut(part.len());
        here.copy_from_slice(part);
        place = rest;
    }
}

/// Returns the region of a generation.
const fn turn_of(generation: u64) -> u64 {
    (generation + 1) % 2
}

fn failed(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => StoreError::Full,
        _ => StoreError::Engine(format!("the redo log: {error}")),
    }
}

#[cfg(test)]
mod tests;
