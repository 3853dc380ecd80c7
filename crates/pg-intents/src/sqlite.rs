//! The store for one machine: a SQLite file that any number of its processes share.

use std::{path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::Notify;

pub use self::opening::SQLITE_MIGRATIONS;
use self::{
    executor::{Executor, StoreClock},
    opening::{Migrations, OpenFile, Unready, create, ready},
    operations::Claimer,
};
use crate::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStore, NewIntent, RewritableStore, ShareWish, StoreError,
};

mod executor;
mod opening;
mod operations;
#[cfg(test)]
mod tests;

/// Intents in a SQLite file.
///
/// One thread owns the connection and commits queued changes together, so that many concurrent charges need few syncs.
/// A commit is on the disk before it is acknowledged (`synchronous = FULL`). The clock is that of the machine, since
/// SQLite has no other. The file must be on a local disk, never on a network drive.
pub struct SqliteStore {
    executor: Executor,
    /// Wakes the workers of this process. Workers of other processes poll.
    changed: Notify,
}

impl SqliteStore {
    /// Opens a file, and creates it if it is missing. The first change upgrades a file of an earlier version. Reads do not, so the start of
    /// a fleet that is refused for its account leaves the file to the older programs. Until then each read takes the lock of changes for a
    /// moment: a program that only reads uses [`connect`](Self::connect).
    ///
    /// # Errors
    /// [`StoreError::Foreign`] if the file is something else, [`StoreError::Newer`] if a later version created it,
    /// [`StoreError::Unavailable`] if it cannot be opened or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::created(path.as_ref(), Migrations::Later)
    }

    /// Opens a file as [`open`](Self::open) does, and runs the missing migrations at once.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn migrate(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::created(path.as_ref(), Migrations::Run)
    }

    /// Opens an existing file without running migrations: a program that only looks at the payments of others must not upgrade their
    /// store, since their older programs could not open it again.
    ///
    /// # Errors
    /// [`StoreError::Older`] if migrations were not run; otherwise as [`open`](Self::open).
    pub fn connect(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::at(path.as_ref(), Migrations::Required)
    }

    fn created(path: &Path, migrations: Migrations) -> Result<Self, StoreError> {
        create(path).map_err(|error| StoreError::Unavailable(format!("{}: {error}", path.display())))?;
        Self::at(path, migrations)
    }

    fn at(path: &Path, migrations: Migrations) -> Result<Self, StoreError> {
        let failed = |why: &dyn std::fmt::Display| StoreError::Unavailable(format!("{}: {why}", path.display()));
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = OpenFile::at(path).map_err(|error| failed(&error))?;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| failed(&error))?;
        let is_behind = ready(&connection, migrations).map_err(|error| match error {
            Unready::Engine(error) => failed(&error),
            Unready::Refused(StoreError::Foreign(why)) => StoreError::Foreign(format!("{}: {why}", path.display())),
            Unready::Refused(error) => error,
        })?;
        let executor = Executor::thread(connection, file, is_behind).map_err(|error| failed(&error))?;
        Ok(Self { executor, changed: Notify::new() })
    }

    /// Opens a store in memory whose clock is a function, for tests and simulations. It has no thread: the caller's thread does the
    /// work.
    ///
    /// # Errors
    /// If SQLite fails.
    pub fn in_memory(clock: impl Fn() -> i64 + Send + Sync + 'static) -> Result<Self, StoreError> {
        let connection = Connection::open_in_memory().map_err(|error| operations::unavailable(&error))?;
        ready(&connection, Migrations::Run).map_err(Unready::into_error)?;
        let clock: StoreClock = Some(Arc::new(clock));
        Ok(Self { executor: Executor::Here(connection.into(), clock), changed: Notify::new() })
    }

    async fn held(
        &self,
        hold: &IntentLease,
        change: impl FnOnce(&Connection, i64, &IntentLease) -> rusqlite::Result<Option<()>> + Send + 'static,
    ) -> Result<(), StoreError> {
        let hold = hold.clone();
        self.executor.run(move |connection, now| change(connection, now, &hold)).await?.ok_or(StoreError::Lost)
    }

    /// Wakes workers after a change that leaves work for another worker. Most changes concern only the worker that
    /// makes them.
    fn tell<R>(&self, made: Result<R, StoreError>) -> Result<R, StoreError> {
        if made.is_ok() {
            self.changed.notify_waiters();
        }
        made
    }
}

impl IntentStore for SqliteStore {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        let name = name.to_owned();
        self.executor.run(move |connection, _| operations::enlist(connection, &name)).await
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let is_due = new.owner.is_none();
        let begun = self.executor.run(move |connection, now| operations::begin(connection, now, &new)).await;
        if is_due { self.tell(begun) } else { begun }
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let state = state.to_owned();
        self.held(hold, move |connection, now, hold| operations::save(connection, now, hold, &state, lease)).await
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.held(hold, move |connection, now, hold| operations::renew(connection, now, hold, lease)).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.tell(self.held(hold, move |connection, now, hold| operations::release(connection, now, hold, wake)).await)
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        self.held(hold, move |connection, now, hold| operations::end(connection, now, hold, &end)).await
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let (account, claimer) = (account.to_owned(), Claimer::new(owner, lease, kinds));
        self.executor.run(move |connection, now| operations::claim(connection, now, &account, most, &claimer)).await
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        let (key, claimer) = (key.clone(), Claimer::new(owner, lease, kinds));
        self.executor.run(move |connection, now| operations::claim_one(connection, now, &key, &claimer)).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.tell(self.held(hold, move |connection, now, hold| operations::rest(connection, now, hold, &rest)).await)
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        let (key, event) = (key.clone(), event.to_owned());
        self.tell(self.executor.run(move |connection, now| operations::deliver(connection, now, &key, &event)).await)
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        let key = key.clone();
        self.executor.read(move |connection, _| operations::events(connection, &key, after)).await
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        let key = key.clone();
        self.executor.read(move |connection, now| operations::find(connection, now, &key)).await
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        self.executor.read(move |connection, now| operations::list(connection, now, &filter)).await
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        let from = from.to_owned();
        self.executor.read(move |connection, _| operations::accounts(connection, &from, most)).await
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let key = key.clone();
        self.tell(self.executor.run(move |connection, now| operations::direct(connection, now, &key, directive)).await)
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let account = account.to_owned();
        self.executor.run(move |connection, now| operations::untold(connection, now, &account, most, visibility)).await
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        let key = key.clone();
        self.executor.run(move |connection, _| operations::told(connection, &key, event)).await
    }

    async fn changed(&self) {
        self.changed.notified().await;
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        let (account, owner) = (wish.account.to_owned(), wish.owner.to_owned());
        let ShareWish { total, most, lease, longest, quarantine, .. } = wish;
        self.executor
            .run(move |connection, now| {
                let wish = ShareWish { account: &account, owner: &owner, total, most, lease, longest, quarantine };
                operations::shares(connection, now, &wish)
            })
            .await
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        let (account, reason) = (account.to_owned(), reason.map(str::to_owned));
        self.executor.run(move |connection, now| operations::stop(connection, now, &account, reason.as_deref())).await
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        let account = account.to_owned();
        self.executor.read(move |connection, _| operations::stopped(connection, &account)).await
    }
}

impl RewritableStore for SqliteStore {
    async fn scan(&self, after: Option<&IntentKey>, most: u32) -> Result<Vec<IntentRow>, StoreError> {
        let after = after.cloned();
        self.executor.read(move |connection, now| operations::scan(connection, now, after.as_ref(), most)).await
    }

    async fn rewrite(&self, old: &IntentRow, new: &IntentRow, events: &[(i32, String)]) -> Result<bool, StoreError> {
        let (old, new, events) = (old.clone(), new.clone(), events.to_vec());
        self.executor.run(move |connection, _| operations::rewrite(connection, &old, &new, &events)).await
    }
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SqliteStore")
    }
}
