//! The store in SQLite: a file with a write-ahead log, or memory.
//!
//! A commit appends to a [redo log](redo); SQLite itself commits rarely ([`ahead`]). SQLite's tables get a change
//! [later](later), when a query needs it or the thread is idle.
//!
//! Bodies are sealed, and so is the sum of all rows, which the same transaction writes ([`super::seal`]). Opening a
//! store reads all of it, and fails if anything has changed since it was closed. It cannot detect that the whole store,
//! with all of its files, was replaced by an earlier valid state.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rusqlite::{Connection, OpenFlags, config::DbConfig, params_from_iter};

use self::{
    ahead::Ahead,
    known_keys::{KnownKeys, hash},
    later::{Known, Later, MAY_WAIT},
    table::Table,
};
use super::{
    Kind, Query, Row, Store, StoreError, Syncer, schema,
    seal::{Change, Needs, Sealer, Since, Whole},
};

mod ahead;
mod check;
mod file;
mod known_keys;
mod later;
mod memory;
mod redo;
mod table;
mod upgrade;

/// The number of cached statements: kinds times operations, and the shapes of queries.
const CACHED_STATEMENTS: usize = 256;
/// The page cache, in KiB; it grows with the store up to this size. Other pages are nearly always in the operating
/// system's cache; this one needs only the pages that one group of requests changes, and the upper levels of the trees.
/// Pages that do not fit are written before their commit, and again after the next change: five thousand payments
/// change about 18 MiB.
const CACHE_KIB: i64 = 20 * 1024;
/// The number of 4 KiB pages in the log before it is copied into the file. With fewer, the same page is written more often.
const CHECKPOINT_PAGES: i64 = 16_000;

/// A SQLite store that this process alone has open.
pub struct Sqlite {
    connection: Connection,
    tables: Arc<[Table]>,
    sealer: Sealer,
    /// The keys that may be in the tables or in pending changes.
    keys: KnownKeys,
    later: Later,
    /// The last sealed body, reused so that no row allocates one.
    sealed: Vec<u8>,
    /// The sum of all rows in the open transaction, and after the last commit.
    whole: Whole,
    committed: Whole,
    /// Whether a transaction of [`Store`] is open, and whether SQLite has a change of it.
    open: bool,
    touched: bool,
    /// `None` for a store in memory.
    ahead: Option<Ahead>,
}

/// A store file, or the path for a new one, that was checked and not yet opened.
pub struct Unopened {
    path: PathBuf,
    /// The locked redo log; `None` if there is none.
    redo: Option<File>,
    /// `None` if there is no file or it is empty.
    connection: Option<Connection>,
    format: i64,
}

impl Unopened {
    /// Checks a store file and locks it for this process. It changes and creates nothing.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::Foreign`], [`StoreError::Newer`], [`StoreError::Link`], [`StoreError::NoFile`],
    /// [`StoreError::Damaged`], and other errors if the engine fails.
    pub fn at(path: &Path) -> Result<Self, StoreError> {
        let path = path.to_owned();
        let exists = file::look(&path)?;
        let redo = file::lock_redo(&path)?;
        if !exists {
            return Ok(Self { path, redo, connection: None, format: 0 });
        }
        let connection = connect(&path)?;
        let format = schema::format(&connection)?;
        Ok(Self { path, redo, connection: Some(connection), format })
    }

    /// Whether the store is new.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.format == 0
    }

    /// Whether its rows are sealed, as in all but the earliest formats.
    #[must_use]
    pub const fn is_sealed(&self) -> bool {
        schema::is_sealed(self.format)
    }

    /// Whether it has a format with unencrypted rows, and no row with this key in a table.
    pub(crate) fn lacks(&self, kind: &Kind, key: &str) -> Result<bool, StoreError> {
        match &self.connection {
            Some(connection) if !self.is_sealed() => {
                let text = format!("SELECT 1 FROM {} WHERE key = ?1", kind.table);
                Ok(!connection.prepare(&text)?.exists([key])?)
            }
            _ => Ok(false),
        }
    }

    /// Opens or creates the store with the key that seals its rows, and upgrades it to the newest format.
    ///
    /// # Errors
    /// [`StoreError::WrongKey`], [`StoreError::ForeignLog`] and [`StoreError::Damaged`] leave the file unchanged; other errors if the
    /// engine fails.
    pub fn open(self, key: &[u8; 32]) -> Result<Sqlite, StoreError> {
        let Self { path, redo, connection, format } = self;
        let connection = match connection {
            Some(connection) => connection,
            None => {
                redo::check_unused(&path, redo.as_ref())?;
                file::create(&path)?;
                connect(&path)?
            }
        };
        let mut sealer = Sealer::new(key);
        if schema::is_sealed(format) {
            let mut tables = Table::all(&connection)?;
            let check::Checked { whole, since, mut keys } = check::check(&connection, &mut sealer, &tables)?;
            write_ahead(&connection, &path)?;
            if format < schema::NEWEST {
                upgrade::add(&connection, format)?;
                tables = Table::all(&connection)?;
                keys = self::keys(&connection, &tables)?;
            }
            return Sqlite::ready(connection, tables, sealer, whole, keys)?.ahead(&path, redo, key, since);
        }
        if format > 0 {
            check::structure(&connection)?;
        }
        write_ahead(&connection, &path)?;
        let whole = upgrade::upgrade(&connection, &mut sealer)?;
        let tables = Table::all(&connection)?;
        let keys = keys(&connection, &tables)?;
        Sqlite::ready(connection, tables, sealer, whole, keys)?.ahead(&path, redo, key, Since::default())
    }
}

impl Sqlite {
    /// Opens or creates a store file, locks it for this process, and upgrades it to the newest format. Its rows are
    /// encrypted with the key.
    ///
    /// # Errors
    /// Those of [`Unopened::at`] and [`Unopened::open`].
    pub fn open(path: &Path, key: &[u8; 32]) -> Result<Self, StoreError> {
        Unopened::at(path)?.open(key)
    }

    /// Creates a store in memory, with the same tables.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn in_memory() -> Result<Self, StoreError> {
        let memory::EmptyStore { connection, tables, sealer, whole } = memory::empty()?;
        Self::ready(connection, tables, sealer, whole, KnownKeys::default())
    }

    fn ready(
        connection: Connection,
        tables: impl Into<Arc<[Table]>>,
        sealer: Sealer,
        whole: Whole,
        keys: KnownKeys,
    ) -> Result<Self, StoreError> {
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        // A plan does not depend on the values of parameters. Otherwise each query with a limit is prepared anew each time.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        Ok(Self {
            connection,
            tables: tables.into(),
            sealer,
            keys,
            later: Later::default(),
            sealed: Vec::new(),
            whole,
            committed: whole,
            open: false,
            touched: false,
            ahead: None,
        })
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute([]).map(drop)?)
    }

    /// Returns an error while SQLite lacks changes that were committed: what it has may be out of date.
    fn check_complete(&self) -> Result<(), StoreError> {
        if self.ahead.as_ref().is_some_and(|ahead| ahead.behind) { Err(StoreError::Lost) } else { Ok(()) }
    }

    /// Writes the sum of all rows into its row.
    fn seal_whole(&mut self, since: Since) -> Result<(), StoreError> {
        let sealed = self.sealer.seal_whole(self.whole, since);
        self.connection.prepare_cached("UPDATE whole SET body = ?1 WHERE id = 0")?.execute([sealed])?;
        Ok(())
    }
}

/// Returns the table with this name.
fn table<'a>(tables: &'a [Table], name: &str) -> Result<&'a Table, StoreError> {
    let found = tables.iter().find(|table| table.name == name);
    found.ok_or_else(|| StoreError::Engine(format!("there is no table {name}")))
}

/// Returns the keys of all rows, and their digests.
fn keys(connection: &Connection, tables: &[Table]) -> Result<KnownKeys, StoreError> {
    let mut keys = KnownKeys::default();
    for table in tables {
        let mut statement = connection.prepare(&table.all)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            table.note(&mut keys, row)?;
        }
    }
    Ok(keys)
}

impl Store for Sqlite {
    fn begin(&mut self) -> Result<(), StoreError> {
        match &self.ahead {
            // If SQLite has rolled its transaction back, the changes are in the log alone.
            Some(ahead) if ahead.behind || self.connection.is_autocommit() => self.catch_up()?,
            Some(ahead) if ahead.redo.is_nearly_full() => {
                if let Err(error) = self.fold(Needs::Generation) {
                    self.rollback();
                    return Err(error);
                }
            }
            Some(_) if self.later.size() > MAY_WAIT => self.catch_up_between_groups(&mut || false)?,
            _ => {}
        }
        self.whole = self.committed;
        if self.connection.is_autocommit() {
            self.run("BEGIN IMMEDIATE")?;
        }
        (self.open, self.touched) = (true, false);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let result = if self.ahead.is_some() { self.append() } else { self.run("COMMIT") };
        if result.is_ok() {
            self.committed = self.whole;
            self.later.commit();
            self.open = false;
        } else {
            self.touched = true;
            self.rollback();
        }
        result
    }

    fn syncer(&self) -> Option<Syncer> {
        self.ahead.as_ref().map(|ahead| ahead.syncer.clone())
    }

    fn rollback(&mut self) {
        self.whole = self.committed;
        self.open = false;
        if let Some(ahead) = &mut self.ahead {
            ahead.redo.forget();
            // SQLite may have rolled its transaction back by itself.
            if self.touched || self.connection.is_autocommit() {
                // If that fails, it is retried before anything else.
                let _ = self.catch_up();
            } else {
                self.later.undo();
            }
        } else {
            self.later.clear();
            if !self.connection.is_autocommit() {
                // It fails only if no transaction is open, which is the goal.
                let _ = self.run("ROLLBACK");
            }
        }
    }

    fn close(&mut self) -> Result<(), StoreError> {
        self.complete()
    }

    fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) {
        if self.open || self.ahead.as_ref().is_none_or(|ahead| ahead.behind) {
            return;
        }
        // This runs while the group is synced, rather than before the next group.
        let must_end = self.later.size() > MAY_WAIT;
        let settled = self.catch_up_between_groups(&mut || !must_end && interrupted()).and_then(|()| {
            let is_nearly_full = self.ahead.as_ref().is_some_and(|ahead| ahead.redo.is_nearly_full());
            if is_nearly_full && self.later.is_empty() && !self.connection.is_autocommit() {
                self.fold(Needs::Generation)
            } else {
                Ok(())
            }
        });
        if settled.is_err() {
            // It is retried before the next group, which gets the error if it fails again.
            self.rollback();
        }
    }

    fn in_transaction(&self) -> bool {
        self.open && !self.connection.is_autocommit()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        self.check_complete()?;
        let Self { connection, tables, sealer, keys, later, .. } = self;
        let table = table(tables, kind.table)?;
        let key = table.key(sealer, key);
        let hash = hash(&table.name, &key);
        match later.find(&table.name, &key, hash) {
            Some(Known::Row(place, sealed, _)) => table.unseal(sealer, &place, sealed).map(|(body, _)| Some(body)),
            Some(Known::Removed) => Ok(None),
            None => table.find(connection, keys, (&key, hash), |row| table.open(sealer, row).map(|(body, _)| body)),
        }
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        self.check_complete()?;
        let Self { connection, tables, sealer, keys, later, .. } = self;
        let table = table(tables, kind.table)?;
        let key = table.key(sealer, key);
        let hash = hash(&table.name, &key);
        match later.find(&table.name, &key, hash) {
            Some(known) => Ok(known.stored().is_some()),
            None => Ok(table.find(connection, keys, (&key, hash), |_| Ok(()))?.is_some()),
        }
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        let tables = Arc::clone(&self.tables);
        let table = table(&tables, kind.table)?;
        let place = table.place(&self.sealer, row);
        let mut sealed = std::mem::take(&mut self.sealed);
        let share = self.sealer.seal(&place, row.body.as_bytes(), &mut sealed);
        let changed = self.change_in_group(table, &Change::Put(place, &sealed), Some(share));
        self.sealed = sealed;
        changed
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        let tables = Arc::clone(&self.tables);
        let table = table(&tables, kind.table)?;
        let key = table.key(&self.sealer, key);
        self.change_in_group(table, &Change::Remove(&table.name, key), None)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        self.check_complete()?;
        self.catch_up_with_later(&mut || false)?;
        let Self { connection, tables, sealer, keys, .. } = self;
        let table = table(tables, kind.table)?;
        let selection = table.selection(sealer, query)?;
        let mut statement = connection.prepare_cached(&selection.text)?;
        let parts = selection.values(keys);
        let is_parted = parts.len() > 1;
        let mut found = Vec::new();
        for values in parts {
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                let key = if is_parted { row.get(0)? } else { String::new() };
                found.push((key, table.open(sealer, row)?.0));
            }
        }
        if is_parted {
            found.sort_unstable_by(
                |(one, _), (other, _)| {
                    if query.oldest_first { one.cmp(other) } else { other.cmp(one) }
                },
            );
            found.truncate(usize::try_from(query.limit).unwrap_or(usize::MAX));
        }
        Ok(found.into_iter().map(|(_, body)| body).collect())
    }
}

/// Connects to an existing file, locks it for this process, and trusts nothing in it.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    // Without URI handling, a file name cannot contain options.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::ZERO)?;
    for (setting, on) in [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
        (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        // A refused store is left unchanged, with its log.
        (DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true),
    ] {
        connection.set_db_config(setting, on)?;
    }
    connection.pragma_update(None, "cell_size_check", true)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Must come before the first read: the log then needs no shared memory, and no second process can open the file
    // while this one runs.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    Ok(connection)
}

/// Opens the store's own log, which gets the permissions of the store.
fn write_ahead(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    file::make_private(path)?;
    let journal: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if !journal.eq_ignore_ascii_case("wal") {
        return Err(StoreError::Engine(format!("no write-ahead log, but {journal}")));
    }
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?)
}

#[cfg(test)]
mod tests;
