//! Runs changes and reads: one thread owns the connection, and commits queued changes together.

use std::{
    sync::{Arc, Mutex, PoisonError, mpsc},
    thread,
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    opening::{self, OpenFile},
    operations,
};
use crate::{StoreError, telemetry::DatabaseOperation};

/// Maximum number of changes in one commit.
const GROUP: usize = 64;

/// A change with the channel for its result.
type Job = Box<dyn FnOnce(&Connection, i64) -> rusqlite::Result<Told> + Send>;
type Told = Box<dyn FnOnce(Result<(), StoreError>) + Send>;
type Queued = (Job, oneshot::Sender<StoreError>, Access);

/// What a job does to the database.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Access {
    /// It takes no lock that a change needs, and waits for none, once the file is upgraded.
    Reads,
    Changes,
}

/// The clock of a store: `None` for that of SQLite, which is the machine's.
pub(super) type StoreClock = Option<Arc<dyn Fn() -> i64 + Send + Sync>>;

pub(super) enum Executor {
    /// A thread that owns the connection.
    Thread(mpsc::Sender<Queued>),
    /// On the caller's thread, for simulations.
    Here(Mutex<Connection>, StoreClock),
}

impl Executor {
    /// `is_behind`: the file lacks migrations.
    pub(super) fn thread(connection: Connection, file: OpenFile, is_behind: bool) -> std::io::Result<Self> {
        let (sender, jobs) = mpsc::channel();
        let work = move || {
            let (connection, mut is_behind) = (connection, is_behind);
            while let Ok(first) = jobs.recv() {
                let mut group: Vec<Queued> = vec![first];
                group.extend(jobs.try_iter().take(GROUP - 1));
                let (reads, changes): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|(.., access)| *access == Access::Reads);
                commit(&connection, &None, Some(&file), &mut is_behind, Access::Reads, reads);
                commit(&connection, &None, Some(&file), &mut is_behind, Access::Changes, changes);
            }
        };
        thread::Builder::new().name("pg-intents".to_owned()).spawn(work)?;
        Ok(Self::Thread(sender))
    }

    /// Makes a change in a transaction, and returns its result once it is durable.
    pub(super) async fn run<R: Send + 'static>(
        &self,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        self.measured(Access::Changes, change).await
    }

    /// Reads in a transaction that holds up no change of another process, and that none of them holds up. Within this process,
    /// reads and changes wait for each other.
    pub(super) async fn read<R: Send + 'static>(
        &self,
        read: impl FnOnce(&Connection, i64) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        self.measured(Access::Reads, read).await
    }

    async fn measured<R: Send + 'static>(
        &self,
        access: Access,
        job: impl FnOnce(&Connection, i64) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        let operation = DatabaseOperation::begin("sqlite", None);
        let result = self.make(access, job).await;
        operation.end(&result);
        result
    }

    async fn make<R: Send + 'static>(
        &self,
        access: Access,
        change: impl FnOnce(&Connection, i64) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, StoreError> {
        let (answer, mut answered) = oneshot::channel();
        let job: Job = Box::new(move |connection, now| {
            let result = change(connection, now)?;
            Ok(Box::new(move |committed: Result<(), StoreError>| {
                // The caller may have ended.
                let _ = answer.send(committed.map(|()| result));
            }))
        });
        let (failed, failure) = oneshot::channel();
        match self {
            Self::Thread(sender) => {
                if sender.send((job, failed, access)).is_err() {
                    return Err(StoreError::Unavailable("the thread of the store has ended".to_owned()));
                }
                if let Ok(result) = (&mut answered).await {
                    return result;
                }
            }
            Self::Here(connection, clock) => {
                let connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                commit(&connection, clock, None, &mut false, access, vec![(job, failed, access)]);
                if let Ok(result) = answered.try_recv() {
                    return result;
                }
            }
        }
        Err(failure.await.unwrap_or_else(|_| StoreError::Unavailable("the thread of the store has ended".to_owned())))
    }
}

/// Runs jobs in one transaction: all or none. If the file lacks migrations, changes run them first. So do reads, which need the new
/// tables, but they leave the file as it is.
fn commit(
    connection: &Connection,
    clock: &StoreClock,
    file: Option<&OpenFile>,
    is_behind: &mut bool,
    access: Access,
    group: Vec<Queued>,
) {
    if group.is_empty() {
        return;
    }
    let (mut told, mut failed) = (Vec::new(), Vec::new());
    let run = |sql| connection.execute_batch(sql).map_err(|error| operations::unavailable(&error));
    let mut begun = file
        .map_or(Ok(()), OpenFile::check)
        .and_then(|()| run(if access == Access::Changes || *is_behind { "BEGIN IMMEDIATE" } else { "BEGIN" }));
    let mut upgrades = false;
    if *is_behind {
        begun = begun.and_then(|()| {
            upgrades = opening::upgrade(connection).map_err(opening::Unready::into_error)?;
            Ok(())
        });
    }
    for (job, on_failure, _) in group {
        // For changes, the clock is read while the write lock is held, so that a change that waited for the lock is not earlier
        // than its predecessors.
        let outcome = begun.clone().and_then(|()| {
            let now = clock.as_ref().map_or_else(|| operations::now(connection), |clock| Ok(clock()));
            now.and_then(|now| job(connection, now)).map_err(|error| operations::unavailable(&error))
        });
        match outcome {
            Ok(tell) => told.push(tell),
            Err(error) => failed.push((on_failure, error)),
        }
    }
    let is_left = upgrades && access == Access::Reads;
    let committed = match failed.first() {
        Some((_, error)) => Err(error.clone()),
        None => begun.and_then(|()| run(if is_left { "ROLLBACK" } else { "COMMIT" })),
    }
    // It may have been replaced while the transaction waited for its turn: then the commit may be lost.
    .and_then(|()| file.map_or(Ok(()), OpenFile::check));
    if committed.is_ok() {
        *is_behind = is_left;
    } else if !connection.is_autocommit() {
        // If the rollback fails too, the next BEGIN reports it.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for tell in told {
        tell(committed.clone());
    }
    for (on_failure, error) in failed {
        let _ = on_failure.send(error);
    }
}
