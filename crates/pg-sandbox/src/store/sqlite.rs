//! The store in SQLite: a file with a write-ahead log, or memory.
//!
//! SQLite itself syncs the log only before it folds it into the file. Commits in between are durable once the
//! [`Syncer`] has returned, which may wait for the disk on another thread.

use std::{
    collections::HashMap,
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{CachedStatement, Connection, OpenFlags, OptionalExtension as _, ToSql};

use super::{Kind, Query, Row, Store, StoreError, Syncer, record::Match, schema};

/// Kinds times operations, with room for the shapes of queries.
const CACHED_STATEMENTS: usize = 256;
/// The page cache, in KiB; it grows to this only when it is used.
const CACHE_KIB: i64 = 64 * 1024;
/// Pages of 4 KiB in the log before it is folded into the file. The fewer, the more often is the same page written.
const CHECKPOINT_PAGES: i64 = 16_000;

/// A SQLite store that this process alone has open.
pub struct Sqlite {
    connection: Connection,
    syncer: Option<Syncer>,
    /// The text of each statement by table and operation; it doubles as the key of SQLite's cache.
    texts: HashMap<(&'static str, Operation), String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Operation {
    Get,
    Holds,
    Put,
    Remove,
}

impl Sqlite {
    /// Opens or makes a store file, takes it for this process alone, and brings it to the newest
    /// format.
    ///
    /// # Errors
    /// [`StoreError::InUse`], [`StoreError::Foreign`] and [`StoreError::Newer`] leave the file as it
    /// is; others when the engine fails.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        // Without URI handling a name cannot carry options.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::ZERO)?;
        // Must come before the first read: the log then needs no shared memory, and a second
        // process is refused for as long as this one lives.
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        schema::check(&connection)?;
        let journal: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
        if !journal.eq_ignore_ascii_case("wal") {
            return Err(StoreError::Engine(format!("no write-ahead log, but {journal}")));
        }
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        let mut store = Self::ready(connection)?;
        let log = File::options().write(true).open(log(path));
        store.syncer = Some(Syncer::new(log.map_err(|error| StoreError::Engine(format!("the log: {error}")))?));
        Ok(store)
    }

    /// A store in memory, with the same tables.
    ///
    /// # Errors
    /// When the engine fails.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::ready(Connection::open_in_memory()?)
    }

    fn ready(mut connection: Connection) -> Result<Self, StoreError> {
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "temp_store", "MEMORY")?;
        connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
        schema::migrate(&mut connection)?;
        Ok(Self { connection, syncer: None, texts: HashMap::new() })
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute([]).map(drop)?)
    }

    fn statement(&mut self, kind: &'static Kind, operation: Operation) -> Result<CachedStatement<'_>, StoreError> {
        let text = self.texts.entry((kind.table, operation)).or_insert_with(|| text(kind, operation));
        Ok(self.connection.prepare_cached(text)?)
    }
}

impl Store for Sqlite {
    fn begin(&mut self) -> Result<(), StoreError> {
        self.run("BEGIN IMMEDIATE")
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let result = self.run("COMMIT");
        if result.is_err() {
            self.rollback();
        }
        result
    }

    fn syncer(&self) -> Option<Syncer> {
        self.syncer.clone()
    }

    fn rollback(&mut self) {
        if self.in_transaction() {
            // It fails only when there is no transaction any more, which is what was asked for.
            let _ = self.run("ROLLBACK");
        }
    }

    fn in_transaction(&self) -> bool {
        !self.connection.is_autocommit()
    }

    fn get(&mut self, kind: &'static Kind, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.statement(kind, Operation::Get)?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }

    fn holds(&mut self, kind: &'static Kind, key: &str) -> Result<bool, StoreError> {
        Ok(self.statement(kind, Operation::Holds)?.exists([key])?)
    }

    fn put(&mut self, kind: &'static Kind, row: &Row<'_>) -> Result<(), StoreError> {
        let mut statement = self.statement(kind, Operation::Put)?;
        let mut values: Vec<&dyn ToSql> = vec![&row.key, &row.merchant, &row.body];
        values.extend(row.index[..kind.columns.len()].iter().map(|value| value as &dyn ToSql));
        Ok(statement.execute(&*values).map(drop)?)
    }

    fn remove(&mut self, kind: &'static Kind, key: &str) -> Result<(), StoreError> {
        Ok(self.statement(kind, Operation::Remove)?.execute([key]).map(drop)?)
    }

    fn select(&mut self, kind: &'static Kind, query: &Query<'_>) -> Result<Vec<String>, StoreError> {
        let (text, values) = selection(kind, query);
        let mut statement = self.connection.prepare_cached(&text)?;
        let rows = statement.query_map(&*values, |row| row.get(0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The log's name is the file's with an ending.
fn log(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    name.into()
}

fn text(kind: &Kind, operation: Operation) -> String {
    let table = kind.table;
    let mut columns = String::from("key, merchant, body");
    let mut values = String::from("?1, ?2, ?3");
    let mut changes = String::from("merchant = excluded.merchant, body = excluded.body");
    for (at, column) in kind.columns.iter().enumerate() {
        columns.push_str(&format!(", {column}"));
        values.push_str(&format!(", ?{}", at + 4));
        changes.push_str(&format!(", {column} = excluded.{column}"));
    }
    match operation {
        Operation::Get => format!("SELECT body FROM {table} WHERE key = ?1"),
        Operation::Holds => format!("SELECT 1 FROM {table} WHERE key = ?1"),
        Operation::Put => {
            format!("INSERT INTO {table} ({columns}) VALUES ({values}) ON CONFLICT (key) DO UPDATE SET {changes}")
        }
        Operation::Remove => format!("DELETE FROM {table} WHERE key = ?1"),
    }
}

/// The statement of a query and the values of its parameters. The text depends on the query's
/// shape only, so that SQLite's cache of statements serves every value.
fn selection<'a>(kind: &Kind, query: &'a Query<'_>) -> (String, Vec<&'a dyn ToSql>) {
    let mut conditions = Vec::new();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    let mut order = String::new();
    let direction = if query.oldest_first { "ASC" } else { "DESC" };
    if let Some(merchant) = &query.merchant {
        conditions.push("merchant = ?");
        values.push(merchant);
    }
    let condition;
    if let Some((column, wanted)) = &query.column {
        let (sign, value) = match wanted {
            Match::Equal(value) => ("=", value),
            Match::AtMost(value) => {
                order = format!("{column} {direction}, ");
                ("<=", value)
            }
        };
        condition = format!("{column} {sign} ?");
        conditions.push(&condition);
        values.push(value);
    }
    if let Some(before) = &query.before {
        conditions.push("key < ?");
        values.push(before);
    }
    let mut text = format!("SELECT body FROM {}", kind.table);
    for (at, condition) in conditions.iter().enumerate() {
        text.push_str(if at == 0 { " WHERE " } else { " AND " });
        text.push_str(condition);
    }
    text.push_str(&format!(" ORDER BY {order}key {direction} LIMIT ?"));
    values.push(&query.limit);
    (text, values)
}

#[cfg(test)]
mod tests;
