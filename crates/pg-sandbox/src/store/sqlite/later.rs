//! Changes that SQLite may not have yet, so that no response waits for its tables and indexes.
//!
//! A change is kept as the redo log has it, sealed. Reads look here first. The [folder](super::folder) gives the changes of
//! committed groups to SQLite, on its own thread.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use rusqlite::{Connection, ToSql};

use super::{
    super::{
        StoreError,
        seal::{Cell, Change, Place, Sealer},
    },
    Sqlite,
    group::{At, Group, make},
    known_keys::hash,
    table::Table,
};

/// The bytes of changes of a group that may wait for SQLite: a larger group would need too much memory.
const MAY_WAIT_WITHIN: usize = if cfg!(test) { 4 << 10 } else { 256 << 10 };

/// The changes that SQLite may lack.
#[derive(Default)]
pub(super) struct Later {
    /// The committed groups, oldest first, and the number of the oldest.
    groups: VecDeque<Arc<Group>>,
    first: u64,
    /// The group that is under way.
    open: Group,
    /// The latest change of a key, by the hash of the key.
    latest: BTreeMap<u64, At>,
    /// The bytes of the changes of committed groups.
    size: usize,
}

/// What the latest change has made of a row.
pub(super) enum Known<'a> {
    /// The row as it is now, and what it adds to the sum of all rows.
    Row(Place<'a>, &'a [u8], u64),
    /// The row is removed.
    Removed,
}

impl Known<'_> {
    /// What the row adds to the sum of all rows, if it exists.
    pub(super) const fn share(&self) -> Option<u64> {
        match self {
            Self::Row(_, _, share) => Some(*share),
            Self::Removed => None,
        }
    }
}

impl Later {
    /// The bytes of the changes of committed groups.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// The number of the group up to which SQLite should have half of all groups.
    pub(super) fn half(&self) -> u64 {
        self.first + u64::try_from(self.groups.len().div_ceil(2)).unwrap_or_default()
    }

    /// Takes a change of a key with this hash.
    pub(super) fn take(&mut self, change: &Change<'_>, hash: u64, share: Option<u64>) {
        let at = At { group: self.next(), place: self.open.len() };
        let before = self.latest.insert(hash, at);
        self.open.push(change, hash, share, before);
    }

    /// The latest change of a row, unless SQLite has it.
    pub(super) fn find(&self, table: &str, key: &Cell<'_>, hash: u64) -> Option<Known<'_>> {
        let mut next = self.latest.get(&hash).copied();
        while let Some(at) = next {
            let (change, noted) = self.group(at.group)?.get(at.place)?;
            match (change, noted.share) {
                (Change::Put(place, sealed), Some(share)) if place.table == table && place.key == *key => {
                    return Some(Known::Row(place, sealed, share));
                }
                (Change::Remove(name, removed), _) if name == table && removed == *key => return Some(Known::Removed),
                _ => next = noted.before,
            }
        }
        None
    }

    /// Returns the group under way, which is committed, unless it has no changes.
    pub(super) fn commit(&mut self) -> Option<Arc<Group>> {
        if self.open.is_empty() {
            return None;
        }
        let next = Group::as_large_as(&self.open);
        let group = Arc::new(std::mem::replace(&mut self.open, next));
        self.size += group.size();
        self.groups.push_back(Arc::clone(&group));
        Some(group)
    }

    /// Forgets the groups before this number, which SQLite has.
    pub(super) fn forget(&mut self, number: u64) {
        while self.first < number
            && let Some(group) = self.groups.pop_front()
        {
            for noted in group.noted() {
                if self.latest.get(&noted.hash).is_some_and(|latest| latest.group <= self.first) {
                    self.latest.remove(&noted.hash);
                }
            }
            self.size -= group.size();
            self.first += 1;
        }
    }

    /// Forgets the changes of the group under way.
    pub(super) fn undo(&mut self) {
        while let Some(noted) = self.open.pop() {
            match noted.before.filter(|before| before.group >= self.first) {
                Some(before) => self.latest.insert(noted.hash, before),
                None => self.latest.remove(&noted.hash),
            };
        }
    }

    /// Forgets every change.
    pub(super) fn clear(&mut self) {
        self.first = self.next();
        self.groups.clear();
        self.open = Group::default();
        self.latest.clear();
        self.size = 0;
    }

    /// The number of the group under way.
    fn next(&self) -> u64 {
        self.first + u64::try_from(self.groups.len()).unwrap_or_default()
    }

    fn group(&self, number: u64) -> Option<&Group> {
        let at = usize::try_from(number.checked_sub(self.first)?).ok()?;
        if at == self.groups.len() { Some(&self.open) } else { self.groups.get(at).map(|group| &**group) }
    }
}

impl Sqlite {
    /// The share of a row in the sum, if the row exists.
    fn share(&mut self, table: &Table, key: &Cell<'_>, hash: u64) -> Result<Option<u64>, StoreError> {
        match self.later.find(&table.name, key, hash) {
            Some(known) => Ok(known.share()),
            None if self.keys.may_hold(hash) => share(&self.shared.to_read()?.connection, &mut self.sealer, table, key),
            None => Ok(None),
        }
    }

    /// Takes a change of a row, with the row's new share in the sum. Returns false if the row was to be removed and did not exist.
    pub(super) fn change(&mut self, table: &Table, change: &Change<'_>, new: Option<u64>) -> Result<bool, StoreError> {
        let key = match change {
            Change::Put(place, _) => &place.key,
            Change::Remove(_, key) => key,
        };
        let hash = hash(&table.name, key);
        let old = self.share(table, key, hash)?;
        if old.is_none() && new.is_none() {
            return Ok(false);
        }
        old.into_iter().for_each(|share| self.whole.take(share));
        if let Some(share) = new {
            self.whole.add(share);
            self.keys.add(hash);
        }
        self.later.take(change, hash, new);
        Ok(true)
    }

    /// Takes a change of the open group.
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
                ahead.redo.note(self.later.open.last());
                if self.later.open.size() <= MAY_WAIT_WITHIN { Ok(()) } else { self.catch_up_with_later() }
            }
            // A store in memory commits what SQLite has.
            None => self.catch_up_with_later(),
        }
    }

    /// Gives SQLite the changes that it does not have yet, those of the group under way too.
    pub(super) fn catch_up_with_later(&mut self) -> Result<(), StoreError> {
        self.shared.drain()?;
        if !self.later.open.is_empty() {
            self.touched = true;
            let mut base = self.shared.base();
            base.begin()?;
            for change in self.later.open.changes() {
                make(&base.connection, &self.tables, &change)?;
            }
        }
        self.later.clear();
        Ok(())
    }
}

/// The share of an existing row in the sum.
fn share(
    connection: &Connection,
    sealer: &mut Sealer,
    table: &Table,
    key: &dyn ToSql,
) -> Result<Option<u64>, StoreError> {
    let mut statement = connection.prepare_cached(&table.get)?;
    let mut rows = statement.query([key])?;
    rows.next()?.map(|row| table.open(sealer, row).map(|(_, share)| share)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(key: &'static str) -> Place<'static> {
        Place { table: "t", key: Cell::Text(key.into()), merchant: "m", index: [None, None, None] }
    }

    fn put(later: &mut Later, key: &'static str, sealed: &[u8], share: u64) {
        // Every key has the same hash.
        later.take(&Change::Put(place(key), sealed), 1, Some(share));
    }

    fn shares(later: &Later) -> [Option<Option<u64>>; 2] {
        ["k", "l"].map(|key| later.find("t", &Cell::Text(key.into()), 1).map(|known| known.share()))
    }

    #[test]
    fn the_latest_change_is_found_among_keys_of_one_hash_until_it_is_undone() {
        let mut later = Later::default();
        put(&mut later, "k", b"one", 1);
        put(&mut later, "l", b"two", 2);
        assert!(later.commit().is_some());
        put(&mut later, "k", b"three", 3);
        later.take(&Change::Remove("t", Cell::Text("l".into())), 1, None);
        assert_eq!(shares(&later), [Some(Some(3)), Some(None)]);
        assert!(later.find("u", &Cell::Text("k".into()), 1).is_none());
        later.undo();
        assert_eq!(shares(&later), [Some(Some(1)), Some(Some(2))]);
        later.clear();
        assert_eq!(shares(&later), [None, None]);
    }

    #[test]
    fn groups_that_sqlite_has_are_not_found_here() {
        let mut later = Later::default();
        assert!(later.commit().is_none());
        for (key, share) in [("k", 1), ("l", 2), ("k", 3)] {
            put(&mut later, key, b"sealed", share);
            assert!(later.commit().is_some());
        }
        put(&mut later, "l", b"sealed", 4);
        assert_eq!((later.half(), shares(&later)), (2, [Some(Some(3)), Some(Some(4))]));
        later.forget(2);
        assert_eq!(shares(&later), [Some(Some(3)), Some(Some(4))]);
        later.undo();
        // The change before it is in SQLite.
        assert_eq!(shares(&later), [Some(Some(3)), None]);
        later.forget(3);
        assert_eq!((later.size(), shares(&later)), (0, [None, None]));
        assert!(later.latest.is_empty());
        put(&mut later, "k", b"sealed", 5);
        assert_eq!(shares(&later), [Some(Some(5)), None]);
    }
}
