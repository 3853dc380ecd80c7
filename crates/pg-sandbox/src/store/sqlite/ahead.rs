//! Commits ahead of SQLite's own.
//!
//! A commit appends the changes of a group to the [redo log](super::redo), and leaves SQLite's own transaction open,
//! which is committed when the log is nearly full and when the store is closed. Commits are durable once the [`Syncer`]
//! has synced the redo log, which may wait for the disk on another thread; a new generation of the log begins once all
//! of the previous one is synced. A separate thread syncs SQLite's own log after each of its commits, before the redo
//! log overwrites the changes in it. SQLite itself syncs it before it copies it into the file.
//!
//! If a group is rolled back, SQLite rolls its transaction back, and the content of the redo log is replayed.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use rusqlite::config::DbConfig;

use super::{
    super::{
        StoreError, Syncer,
        seal::{Change, Needs, Since},
    },
    Sqlite, file,
    redo::{Left, Redo},
    table,
};
use crate::store::Store as _;

/// The parts of a file store besides SQLite.
pub(super) struct Ahead {
    path: PathBuf,
    pub(super) redo: Redo,
    pub(super) syncer: Syncer,
    /// The thread that makes SQLite's commits durable.
    pub(super) log: Syncer,
    syncing: Option<thread::JoinHandle<Result<(), StoreError>>>,
    /// Why a commit of SQLite may be lost: until the next start, the redo log must not overwrite its changes.
    failure: Option<StoreError>,
    /// Whether SQLite lacks some changes of the redo log.
    pub(super) behind: bool,
}

impl Ahead {
    /// Waits until SQLite's last commit is on the disk.
    fn settle(&mut self) -> Result<(), StoreError> {
        let ended = self.syncing.take().map_or(Ok(Ok(())), thread::JoinHandle::join);
        let ended = ended.unwrap_or_else(|_| Err(StoreError::Unsynced("a defect of the sandbox".to_owned())));
        self.failure = self.failure.take().or(ended.err());
        self.failure.clone().map_or(Ok(()), Err)
    }

    /// Syncs SQLite's commit on another thread.
    fn sync_log(&mut self) {
        let log = self.log.clone();
        match thread::Builder::new().name("sandbox-folder".to_owned()).spawn(move || log.sync()) {
            Ok(thread) => self.syncing = Some(thread),
            Err(_) => self.failure = self.failure.take().or(self.log.sync().err()),
        }
    }
}

impl Sqlite {
    /// Adds the redo log of the file, and replays what the file lacks.
    pub(super) fn ahead(
        mut self,
        path: &Path,
        redo: Option<File>,
        key: &[u8; 32],
        since: Since,
    ) -> Result<Self, StoreError> {
        // The log is created when the file is first read.
        self.connection.pragma_query_value(None, "user_version", |_| Ok(()))?;
        let log = File::options().write(true).open(file::log(path));
        let log = Syncer::new(log.map_err(|error| StoreError::Engine(format!("the log: {error}")))?);
        // No reply depends on this random number. It is even, so that the regions are used in turn.
        let step = self.connection.query_row("SELECT random() & 4294967294", [], |row| row.get(0))?;
        let (redo, left) = Redo::open(path, redo, key, (since, self.committed), step)?;
        // The transaction of an upgrade is still open.
        if self.connection.is_autocommit() {
            self.run("BEGIN IMMEDIATE")?;
        }
        left.iter().try_for_each(|left| self.redo(left))?;
        // The file may be written from here on.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        self.seal_whole(Since { generation: redo.generation() + 1, needs: Needs::Nothing })?;
        self.run("COMMIT")?;
        // What was replayed is on the disk, and the file needs no log, before the log is overwritten.
        self.copy_log()?;
        let syncer = redo.syncer().clone();
        let path = path.to_owned();
        self.ahead = Some(Ahead { path, redo, syncer, log, syncing: None, failure: None, behind: false });
        self.run("BEGIN IMMEDIATE")?;
        self.fold(Needs::Generation)?;
        // The file itself says that it needs the log from here on.
        self.copy_log()?;
        Ok(self)
    }

    /// Replays a generation of the redo log.
    fn redo(&mut self, left: &Left) -> Result<(), StoreError> {
        let damaged = || {
            let why = "the redo log belongs to another state of the store (if a backup was put back, move -redo and -wal away)";
            StoreError::Damaged(why.to_owned())
        };
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
            self.later.commit();
            self.catch_up_with_later(&mut || false)?;
            if self.whole != after {
                return Err(damaged());
            }
            self.committed = after;
        }
        Ok(())
    }

    /// Commits the changes of the redo log in SQLite, so that the log can restart, or end.
    pub(super) fn fold(&mut self, needs: Needs) -> Result<(), StoreError> {
        self.catch_up_with_later(&mut || false)?;
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        // SQLite's last commit contains the changes that the next generation overwrites.
        ahead.settle()?;
        // If a power cut left a generation shorter than its successor expects, the store would seem damaged.
        ahead.syncer.sync()?;
        let next = ahead.redo.prepare(self.whole)?;
        self.touched = true;
        self.seal_whole(Since { generation: next.generation, needs })?;
        self.run("COMMIT")?;
        self.committed = self.whole;
        if let Some(ahead) = &mut self.ahead {
            ahead.redo.turn(&next);
            ahead.sync_log();
        }
        Ok(())
    }

    /// Rolls SQLite's transaction back and replays the groups that were committed in it.
    pub(super) fn catch_up(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        ahead.behind = true;
        self.later.clear();
        let left = ahead.redo.so_far()?;
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK")?;
        }
        if let Some(left) = left {
            self.run("BEGIN IMMEDIATE")?;
            (self.whole, self.committed) = (left.base, left.base);
            self.redo(&left)?;
        }
        if let Some(ahead) = &mut self.ahead {
            ahead.behind = false;
        }
        // SQLite has the committed groups alone.
        self.touched = false;
        Ok(())
    }

    /// Appends the changes of the transaction to the redo log.
    pub(super) fn append(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = &mut self.ahead else { return Ok(()) };
        if !ahead.redo.has_changes() || ahead.redo.append(self.whole)? {
            return Ok(());
        }
        // The changes do not fit into the log.
        ahead.redo.forget();
        self.fold(Needs::Generation)?;
        self.ahead.as_mut().map_or(Ok(()), Ahead::settle)
    }

    /// Copies SQLite's own log into the file.
    fn copy_log(&self) -> Result<(), StoreError> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }

    /// Copies everything into the one file, which can then be backed up.
    pub(super) fn complete(&mut self) -> Result<(), StoreError> {
        if self.open {
            self.rollback();
        }
        let Some(ahead) = &self.ahead else { return Ok(()) };
        // If SQLite has rolled its transaction back, such as on a full disk, the changes are in the log alone.
        if ahead.behind || self.connection.is_autocommit() {
            self.catch_up()?;
        }
        self.catch_up_with_later(&mut || false)?;
        if self.connection.is_autocommit() {
            self.run("BEGIN IMMEDIATE")?;
        }
        self.fold(Needs::Nothing)?;
        self.ahead.as_mut().map_or(Ok(()), Ahead::settle)?;
        self.copy_log()?;
        self.ahead.take().map_or(Ok(()), |ahead| ahead.redo.remove(&ahead.path))
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        // The next start completes what failed here.
        let _ = self.complete();
    }
}
