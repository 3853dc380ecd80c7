//! Pending changes, which SQLite does not have yet, so that no response waits for its tables and indexes.
//!
//! A change is kept sealed, as in the redo log. Reads look here first. [`Sqlite::settle`](super::Sqlite) passes the
//! changes to SQLite while their group is synced.

use std::{collections::BTreeMap, ops::Range};

use rusqlite::{CachedStatement, Connection, ToSql};

use super::{
    super::{
        INDEX_COLUMNS, StoreError,
        seal::{Cell, Change, Place},
    },
    Sqlite,
    known_keys::{Era, hash},
    table,
    table::{Eras, Table},
};

/// The limits of pending changes, in bytes: from one group to the next, and within a group. Undoing a group costs more
/// if SQLite has a part of its changes.
pub(super) const MAY_WAIT: usize = if cfg!(test) { 1 << 10 } else { 16 << 10 };
const MAY_WAIT_WITHIN: usize = if cfg!(test) { 4 << 10 } else { 256 << 10 };

/// The changes since SQLite last had all of them.
#[derive(Default)]
pub(super) struct Later {
    /// The changes in their order, as [`Change::write`] writes them.
    bytes: Vec<u8>,
    changes: Vec<Noted>,
    /// The number of the latest change of a key, by the hash of the key.
    latest: BTreeMap<u64, usize>,
    /// The number of changes that belong to committed groups, and of those that SQLite has.
    committed: usize,
    done: usize,
}

/// Where a change is.
struct Noted {
    hash: u64,
    range: Range<usize>,
    /// The row's share in the sum of all rows; `None` if the change removes it.
    share: Option<u64>,
    /// The era in which the row is, or was.
    era: Era,
    /// The previous change whose key has the same hash.
    before: Option<usize>,
}

/// A row after its latest change.
pub(super) enum Known<'a> {
    /// The row as it is now.
    Row(Place<'a>, &'a [u8], Stored),
    /// The row is removed.
    Removed,
}

/// A row that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stored {
    /// Its share in the sum of all rows.
    share: u64,
    /// Its era.
    era: Era,
}

impl Known<'_> {
    /// Returns the row if it exists.
    pub(super) const fn stored(&self) -> Option<Stored> {
        match self {
            Self::Row(_, _, stored) => Some(*stored),
            Self::Removed => None,
        }
    }
}

impl Later {
    /// Returns the size of the changes in bytes.
    pub(super) const fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether SQLite has every change.
    pub(super) const fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Adds a change of a key with this hash, of a row in this era.
    pub(super) fn take(&mut self, change: &Change<'_>, hash: u64, share: Option<u64>, era: Era) {
        let start = self.bytes.len();
        change.write(&mut self.bytes);
        let before = self.latest.insert(hash, self.changes.len());
        self.changes.push(Noted { hash, range: start..self.bytes.len(), share, era, before });
    }

    /// Returns the bytes of the latest change.
    pub(super) fn last(&self) -> &[u8] {
        self.changes.last().and_then(|noted| self.bytes.get(noted.range.clone())).unwrap_or_default()
    }

    /// Returns the latest change of a row, unless SQLite has it.
    pub(super) fn find(&self, table: &str, key: &Cell<'_>, hash: u64) -> Option<Known<'_>> {
        let mut next = self.latest.get(&hash).copied();
        while let Some(at) = next.filter(|at| *at >= self.done) {
            let noted = self.changes.get(at)?;
            match (self.read(noted)?, noted.share) {
                (Change::Put(place, sealed), Some(share)) if place.table == table && place.key == *key => {
                    return Some(Known::Row(place, sealed, Stored { share, era: noted.era }));
                }
                (Change::Remove(name, removed), _) if name == table && removed == *key => return Some(Known::Removed),
                _ => next = noted.before,
            }
        }
        None
    }

    /// Returns the first change that SQLite does not have, and the era of its row.
    pub(super) fn first(&self) -> Option<(Change<'_>, Era)> {
        self.changes.get(self.done).and_then(|noted| Some((self.read(noted)?, noted.era)))
    }

    /// Records that SQLite has the first change now. Returns whether the change belongs to an uncommitted group.
    pub(super) const fn advance(&mut self) -> bool {
        self.done += 1;
        self.done > self.committed
    }

    /// Records that the group is committed.
    pub(super) const fn commit(&mut self) {
        self.committed = self.changes.len();
    }

    /// Drops the changes of the uncommitted group; SQLite has none of them.
    pub(super) fn undo(&mut self) {
        while self.changes.len() > self.committed
            && let Some(noted) = self.changes.pop()
        {
            self.bytes.truncate(noted.range.start);
            match noted.before {
                Some(before) => self.latest.insert(noted.hash, before),
                None => self.latest.remove(&noted.hash),
            };
        }
    }

    /// Drops all changes.
    pub(super) fn clear(&mut self) {
        let Self { bytes, changes, latest, committed, done } = self;
        bytes.clear();
        changes.clear();
        latest.clear();
        (*committed, *done) = (0, 0);
    }

    fn read(&self, noted: &Noted) -> Option<Change<'_>> {
        Change::read(&mut self.bytes.get(noted.range.clone())?)
    }
}

impl Sqlite {
    /// Returns the row with this key and hash, if it exists.
    fn stored(&mut self, table: &Table, key: &Cell<'_>, hash: u64) -> Result<Option<Stored>, StoreError> {
        if let Some(known) = self.later.find(&table.name, key, hash) {
            return Ok(known.stored());
        }
        let Self { connection, sealer, keys, .. } = self;
        table.find(connection, keys, (key, hash), |row| {
            Ok(Stored { share: table.open(sealer, row)?.1, era: table.era_of(row)? })
        })
    }

    /// Adds a change of a row, with the row's new share in the sum. Returns false if the change removes a row that does
    /// not exist.
    pub(super) fn change(&mut self, table: &Table, change: &Change<'_>, new: Option<u64>) -> Result<bool, StoreError> {
        let (key, index) = match change {
            Change::Put(place, _) => (&place.key, &place.index),
            Change::Remove(_, key) => (key, &[const { None }; INDEX_COLUMNS]),
        };
        let hash = hash(&table.name, key);
        let old = self.stored(table, key, hash)?;
        if old.is_none() && new.is_none() {
            return Ok(false);
        }
        let era = old.map_or_else(|| self.keys.era(), |old| old.era);
        old.into_iter().for_each(|old| self.whole.take(old.share));
        if let Some(share) = new {
            self.whole.add(share);
            self.keys.add(hash);
            table.digests(hash, index).for_each(|digest| self.keys.add_to(era, digest));
        }
        self.later.take(change, hash, new, era);
        Ok(true)
    }

    /// Adds a change of the open group.
    pub(super) fn change_in_group(
        &mut self,
        table: &Table,
        change: &Change<'_>,
        new: Option<u64>,
    ) -> Result<(), StoreError> {
        if !self.change(table, change, new)? {
            return Ok(());
        }
        match &mut self.ahead {
            Some(ahead) => {
                ahead.redo.note(self.later.last());
                if self.later.size() <= MAY_WAIT_WITHIN { Ok(()) } else { self.catch_up_with_later(&mut || false) }
            }
            // A store in memory commits SQLite's own transaction.
            None => self.catch_up_with_later(&mut || false),
        }
    }

    /// Passes pending changes to SQLite, until it has all of them or the work is interrupted.
    pub(super) fn catch_up_with_later(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), StoreError> {
        let Self { connection, tables, later, touched, ahead, .. } = self;
        // Each statement is looked up once.
        let mut inserts: Vec<(&str, CachedStatement<'_>)> = Vec::new();
        while let Some((change, era)) = later.first() {
            // SQLite has rolled back its transaction, with earlier changes.
            if ahead.is_some() && connection.is_autocommit() {
                return Err(StoreError::Lost);
            }
            match change {
                Change::Put(place, sealed) => {
                    let table = table(tables, place.table)?;
                    let known = inserts.iter().position(|(name, _)| *name == table.name);
                    let at = known.unwrap_or(inserts.len());
                    if known.is_none() {
                        inserts.push((&*table.name, connection.prepare_cached(&table.insert)?));
                    }
                    write(connection, &mut inserts[at].1, table, (&place, sealed, era))?;
                }
                Change::Remove(name, key) => {
                    let table = table(tables, name)?;
                    let values: [&dyn ToSql; 2] = [&key, &era];
                    let count = if table.eras == Eras::OfKeys { 2 } else { 1 };
                    connection.prepare_cached(&table.remove)?.execute(&values[..count])?;
                }
            }
            *touched |= later.advance();
            if interrupted() {
                return Ok(());
            }
        }
        later.clear();
        Ok(())
    }

    /// Passes pending changes to SQLite between groups. If it fails, they are read from the redo log before the next group.
    pub(super) fn catch_up_between_groups(&mut self, interrupted: &mut dyn FnMut() -> bool) -> Result<(), StoreError> {
        let result = self.catch_up_with_later(interrupted);
        if result.is_err()
            && let Some(ahead) = &mut self.ahead
        {
            self.later.clear();
            ahead.behind = true;
        }
        result
    }
}

/// Inserts or replaces a sealed row.
fn write(
    connection: &Connection,
    insert: &mut CachedStatement<'_>,
    table: &Table,
    (place, sealed, era): (&Place<'_>, &[u8], Era),
) -> Result<(), StoreError> {
    let [one, two, three] = &place.index;
    let mut values: [&dyn ToSql; 4 + INDEX_COLUMNS] = [&place.key, &place.merchant, &sealed, one, two, three, &era];
    values[3 + table.width()] = &era;
    let count = if table.eras == Eras::None { 3 } else { 4 } + table.width();
    // Nearly every row is new. An insert of an existing one changes nothing, which shows without a search.
    if insert.execute(&values[..count])? > 0 || connection.prepare_cached(&table.update)?.execute(&values[..count])? > 0
    {
        return Ok(());
    }
    Err(StoreError::Damaged(format!("a record of {} both exists and does not", table.name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(key: &'static str) -> Place<'static> {
        Place { table: "t", key: Cell::Text(key.into()), merchant: "m", index: [None, None, None] }
    }

    fn put(later: &mut Later, key: &'static str, sealed: &[u8], share: u64) {
        // Every key has the same hash.
        later.take(&Change::Put(place(key), sealed), 1, Some(share), 7);
    }

    fn shares(later: &Later) -> [Option<Option<u64>>; 2] {
        ["k", "l"].map(|key| {
            later.find("t", &Cell::Text(key.into()), 1).map(|known| known.stored().map(|stored| stored.share))
        })
    }

    #[test]
    fn the_latest_change_is_found_among_keys_of_one_hash_until_it_is_undone() {
        let mut later = Later::default();
        put(&mut later, "k", b"one", 1);
        put(&mut later, "l", b"two", 2);
        later.commit();
        put(&mut later, "k", b"three", 3);
        later.take(&Change::Remove("t", Cell::Text("l".into())), 1, None, 7);
        assert_eq!(shares(&later), [Some(Some(3)), Some(None)]);
        assert!(later.find("u", &Cell::Text("k".into()), 1).is_none());
        later.undo();
        assert_eq!(shares(&later), [Some(Some(1)), Some(Some(2))]);
        later.clear();
        assert_eq!(shares(&later), [None, None]);
    }

    #[test]
    fn rows_that_sqlite_has_are_not_found_here() {
        let mut later = Later::default();
        put(&mut later, "k", b"one", 1);
        later.commit();
        put(&mut later, "l", b"two", 2);
        assert!(matches!(later.first(), Some((Change::Put(_, b"one"), 7))));
        assert!(!later.advance(), "it was committed");
        assert_eq!(shares(&later), [None, Some(Some(2))]);
        assert!(matches!(later.first(), Some((Change::Put(_, b"two"), 7))));
        assert!(later.advance(), "it was not committed");
        assert!(later.first().is_none());
    }
}
