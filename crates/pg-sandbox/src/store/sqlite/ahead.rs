//! Commits ahead of SQLite's own.
//!
//! A commit appends the changes of a group to the [redo log](super::redo), and is durable once the [`Syncer`] has synced that,
//! which may wait for the disk on another thread. The [folder](super::folder) makes the changes in SQLite's own transaction, which it
//! commits when a generation of the redo log ends, and when the store is closed. It syncs SQLite's own log after each commit. A
//! generation of the redo log begins when that is done for the one before the last, which it overwrites; SQLite itself syncs its log
//! before it folds it into the file.
//!
//! When SQLite has changes of a group that has to be undone, or lacks one that was committed, it undoes its transaction, and what
//! the redo log holds is done again.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use rusqlite::config::DbConfig;

use super::{
    super::{
        StoreError, Syncer,
        seal::{Change, Whole},
    },
    Sqlite, file,
    folder::Folder,
    redo::{Left, Redo},
    table,
};
use crate::{private_file, store::Store as _};

/// The bytes of changes that may wait for SQLite: two thousand payments. It falls behind while it copies its log into the file.
const MAY_WAIT: usize = if cfg!(test) { 20 << 10 } else { 3 << 20 };

/// The parts of a file store besides SQLite.
pub(super) struct Ahead {
    path: PathBuf,
    pub(super) redo: Redo,
    pub(super) syncer: Syncer,
    /// Makes SQLite's commits durable.
    log: Syncer,
    /// The sum of all rows when the generation of the redo log began.
    base: Whole,
    /// SQLite lacks some changes of the redo log.
    pub(super) behind: bool,
    _folder: Folder,
}

impl Sqlite {
    /// The same with the redo log of its file, after what was done there since a generation was done again.
    pub(super) fn ahead(mut self, path: &Path, key: &[u8; 32], since: u64) -> Result<Self, StoreError> {
        {
            let base = self.shared.base();
            // From here on it may be written.
            base.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
            // There is a log from the first time on that the file is read.
            base.connection.pragma_query_value(None, "user_version", |_| Ok(()))?;
        }
        let log = File::options().write(true).open(file::log(path));
        let log = Syncer::new(log.map_err(|error| StoreError::Engine(format!("the log: {error}")))?);
        let (redo, left) = Redo::open(path, key, since)?;
        if !left.is_empty() {
            left.iter().try_for_each(|left| self.redo(left))?;
            let sum = self.sealer.seal_whole(self.whole, redo.generation());
            // The redo log is about to be overwritten.
            self.shared.commit_now(&sum, redo.generation(), &log)?;
        }
        self.shared.starts_at(redo.generation());
        let syncer = Syncer::new(redo.file()?);
        let folder = Folder::start(Arc::clone(&self.shared), log.clone())?;
        let (path, base) = (path.to_owned(), self.committed);
        self.ahead = Some(Ahead { path, redo, syncer, log, base, behind: false, _folder: folder });
        Ok(self)
    }

    /// Replays a generation of the redo log.
    fn redo(&mut self, left: &Left) -> Result<(), StoreError> {
        let damaged = || StoreError::Damaged("the redo log does not match the store".to_owned());
        if left.base != self.committed {
            return Err(damaged());
        }
        let tables = Arc::clone(&self.tables);
        for (mut changes, after) in left.groups() {
            while !changes.is_empty() {
                let change = Change::read(&mut changes).ok_or_else(damaged)?;
                let (name, share) = match &change {
                    Change::Put(place, sealed) => {
                        let (_, share) = self.sealer.open(place, sealed).map_err(|_| damaged())?;
                        (place.table, Some(share))
                    }
                    Change::Remove(name, _) => (*name, None),
                };
                self.change(table(&tables, name)?, &change, share)?;
            }
            self.catch_up_with_later()?;
            if self.whole != after {
                return Err(damaged());
            }
            self.committed = after;
        }
        Ok(())
    }

    /// Makes the redo log ready for the next group.
    pub(super) fn make_room(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = &self.ahead else { return Ok(()) };
        let (generation, is_nearly_full) = (ahead.redo.generation(), ahead.redo.is_nearly_full());
        // What the next generation overwrites has led to SQLite's commit before this.
        let is_behind = ahead.behind || self.shared.has_failed();
        if is_behind || is_nearly_full && !self.shared.is_on_disk(generation)? {
            self.catch_up()?;
        }
        if is_nearly_full {
            self.turn()?;
        }
        self.later.forget(self.shared.done());
        while self.later.size() > MAY_WAIT {
            let half = self.later.half();
            self.shared.wait_for(half);
            if self.shared.done() < half {
                // The folder has failed.
                return self.catch_up();
            }
            self.later.forget(self.shared.done());
        }
        Ok(())
    }

    /// Begins the next generation of the redo log. SQLite's commit of what was in this one comes later.
    fn turn(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        // An entry of the next generation is never on the disk without those before it.
        ahead.syncer.sync()?;
        let next = ahead.redo.generation() + 1;
        self.shared.commit_later(self.sealer.seal_whole(self.committed, next), next);
        ahead.redo.turn();
        ahead.base = self.committed;
        Ok(())
    }

    /// Commits the changes of the redo log in SQLite, with those of the group under way, so that the log can restart.
    pub(super) fn fold(&mut self) -> Result<(), StoreError> {
        self.catch_up_with_later()?;
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        // What the next generation overwrites has led to SQLite's last commit.
        self.shared.is_on_disk(ahead.redo.generation())?;
        let next = ahead.redo.generation() + 1;
        self.touched = true;
        let sum = self.sealer.seal_whole(self.whole, next);
        let committed = self.shared.commit_now(&sum, next, &ahead.log);
        if self.shared.is_committed(next) {
            self.committed = self.whole;
            ahead.redo.turn();
            ahead.base = self.whole;
        }
        committed
    }

    /// Gives SQLite's transaction up and does again what was committed in it.
    pub(super) fn catch_up(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        ahead.behind = true;
        let since = self.shared.stop();
        self.later.clear();
        let (left, current, base) = (ahead.redo.so_far(since)?, ahead.redo.generation(), ahead.base);
        let log = ahead.log.clone();
        self.shared.base().rollback()?;
        if let Some(first) = left.first() {
            (self.whole, self.committed) = (first.base, first.base);
        }
        for left in left {
            self.redo(&left)?;
            if left.is_before(current) {
                if self.committed != base {
                    return Err(StoreError::Damaged("the redo log is damaged".to_owned()));
                }
                // The folder was to do it.
                let sum = self.sealer.seal_whole(self.whole, current);
                self.shared.commit_now(&sum, current, &log)?;
            }
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.behind = false;
        }
        Ok(())
    }

    /// Appends what the transaction has changed to the redo log.
    pub(super) fn append(&mut self) -> Result<(), StoreError> {
        let (before, after) = (self.committed, self.whole);
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        if !ahead.redo.has_changes() {
            return Ok(());
        }
        if ahead.redo.append(before, after)? {
            if let Some(group) = self.later.commit() {
                self.shared.make_later(group);
            }
            return Ok(());
        }
        // It is too much for the log.
        ahead.redo.forget();
        self.fold()
    }

    /// Everything in the one file, which can be copied then.
    fn close(&mut self) -> Result<(), StoreError> {
        if self.open {
            self.rollback();
        }
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        if ahead.behind {
            return Ok(());
        }
        let path = file::redo(&ahead.path);
        let remove = || {
            let removed = fs::remove_file(&path).and_then(|()| private_file::sync_folder(&path));
            removed.map_err(|error| StoreError::Engine(format!("the redo log: {error}")))
        };
        if ahead.redo.is_new() {
            return remove();
        }
        self.fold()?;
        remove()?;
        // SQLite syncs it when it folds its own log into the file.
        self.shared.base().commit_with(&self.sealer.seal_whole(self.whole, 0))
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // What could not be done is done when it is opened again.
        let _ = self.close();
    }
}
