//! SQLite's connection, and the thread that folds the redo log into SQLite's tables while the writer continues.
//!
//! The folder makes the changes of one group after the other within a transaction of SQLite, and commits it where a generation of
//! the redo log ends. The writer needs the connection seldom: for a query, and for a key that is neither among the changes that
//! wait nor unknown to the filter. Then the folder stops between two changes.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
    thread,
};

use rusqlite::Connection;

use super::{
    super::{StoreError, Syncer},
    group::{Group, make},
    table::Table,
};

/// The bytes of changes for which the folder is woken.
const ENOUGH: usize = if cfg!(test) { 512 } else { 32 << 10 };

/// SQLite, with its transaction.
pub(super) struct Base {
    pub(super) connection: Connection,
    /// Whether there should be a transaction.
    begun: bool,
}

impl Base {
    /// Begins a transaction, unless there is one.
    pub(super) fn begin(&mut self) -> Result<(), StoreError> {
        if self.is_lost() {
            return Err(StoreError::Lost);
        }
        if !self.begun {
            self.run("BEGIN IMMEDIATE")?;
            self.begun = true;
        }
        Ok(())
    }

    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        self.run("COMMIT")?;
        self.begun = false;
        Ok(())
    }

    /// Writes the sealed sum of all rows, and commits.
    pub(super) fn commit_with(&mut self, sum: &[u8]) -> Result<(), StoreError> {
        self.begin()?;
        self.connection.prepare_cached("UPDATE whole SET body = ?1 WHERE id = 0")?.execute([sum])?;
        self.commit()
    }

    pub(super) fn rollback(&mut self) -> Result<(), StoreError> {
        if !self.connection.is_autocommit() {
            self.run("ROLLBACK")?;
        }
        self.begun = false;
        Ok(())
    }

    /// Whether SQLite has given the transaction up by itself, with earlier changes.
    pub(super) fn is_lost(&self) -> bool {
        self.begun && self.connection.is_autocommit()
    }

    fn run(&self, sql: &str) -> Result<(), StoreError> {
        Ok(self.connection.prepare_cached(sql)?.execute([]).map(drop)?)
    }
}

/// What the writer and the folder share.
pub(super) struct Shared {
    base: Mutex<Base>,
    /// The writer waits for the connection.
    wanted: AtomicBool,
    tables: Arc<[Table]>,
    queue: Mutex<Queue>,
    /// The groups that SQLite has, of all that were queued.
    done: AtomicU64,
    /// For the folder, and for the writer.
    work: Condvar,
    progress: Condvar,
}

#[derive(Default)]
struct Queue {
    work: VecDeque<Work>,
    /// The bytes of changes that are queued.
    bytes: usize,
    /// Whether the folder is to work, works, and is waited for.
    awake: bool,
    busy: bool,
    watched: bool,
    /// The groups that were queued.
    groups: u64,
    /// The first generation of the redo log that SQLite's commits lack, and those of them that are on the disk.
    committed: u64,
    synced: u64,
    /// Why SQLite lacks a change: it has to be taken from the redo log.
    failure: Option<StoreError>,
    /// Why a commit of SQLite may be lost: the redo log must not overwrite what led to it, until the next start.
    unsynced: Option<StoreError>,
    ended: bool,
}

impl Queue {
    /// Takes what is to be done next.
    fn take(&mut self) -> Option<Work> {
        let work = self.work.pop_front()?;
        if let Work::Make(group) = &work {
            self.bytes -= group.size();
        }
        self.busy = true;
        Some(work)
    }
}

/// What the folder is to do.
enum Work {
    Make(Arc<Group>),
    /// Commits, with this sum, what comes before this generation of the redo log.
    Commit(Vec<u8>, u64),
}

impl Shared {
    pub(super) fn new(connection: Connection, tables: Arc<[Table]>) -> Self {
        Self {
            base: Mutex::new(Base { connection, begun: false }),
            wanted: AtomicBool::new(false),
            tables,
            queue: Mutex::default(),
            done: AtomicU64::new(0),
            work: Condvar::new(),
            progress: Condvar::new(),
        }
    }

    /// SQLite, for the writer.
    pub(super) fn base(&self) -> MutexGuard<'_, Base> {
        self.wanted.store(true, Relaxed);
        let base = locked(&self.base);
        self.wanted.store(false, Relaxed);
        base
    }

    /// SQLite, with everything that was done and not undone.
    pub(super) fn to_read(&self) -> Result<MutexGuard<'_, Base>, StoreError> {
        let base = self.base();
        if base.is_lost() { Err(StoreError::Lost) } else { Ok(base) }
    }

    /// The groups that SQLite has, of all that were queued.
    pub(super) fn done(&self) -> u64 {
        self.done.load(Acquire)
    }

    /// Queues the changes of a committed group.
    pub(super) fn make_later(&self, group: Arc<Group>) {
        let mut queue = locked(&self.queue);
        queue.groups += 1;
        queue.bytes += group.size();
        let is_enough = queue.bytes >= ENOUGH;
        self.add(&mut queue, Work::Make(group), is_enough);
    }

    /// Queues a commit of what was queued, which all comes before this generation of the redo log.
    pub(super) fn commit_later(&self, sum: Vec<u8>, generation: u64) {
        self.add(&mut locked(&self.queue), Work::Commit(sum, generation), true);
    }

    fn add(&self, queue: &mut Queue, work: Work, is_enough: bool) {
        queue.work.push_back(work);
        if is_enough && !queue.awake {
            queue.awake = true;
            self.work.notify_one();
        }
    }

    /// Commits now, and returns when that is on the disk. Nothing may be queued.
    pub(super) fn commit_now(&self, sum: &[u8], generation: u64, log: &Syncer) -> Result<(), StoreError> {
        self.base().commit_with(sum)?;
        self.sync(generation, log);
        locked(&self.queue).unsynced.clone().map_or(Ok(()), Err)
    }

    /// Whether SQLite has committed what comes before this generation.
    pub(super) fn is_committed(&self, generation: u64) -> bool {
        locked(&self.queue).committed >= generation
    }

    /// Notes that SQLite has committed what comes before a generation, and waits for the disk.
    fn sync(&self, generation: u64, log: &Syncer) {
        locked(&self.queue).committed = generation;
        let synced = log.sync();
        let mut queue = locked(&self.queue);
        match synced {
            Ok(()) => queue.synced = generation,
            Err(error) => queue.unsynced = queue.unsynced.take().or(Some(error)),
        }
    }

    /// Waits until all that was queued is done.
    ///
    /// # Errors
    /// If SQLite lacks a part of it.
    pub(super) fn drain(&self) -> Result<(), StoreError> {
        // A few changes take less time than to wake the folder.
        while let Some(group) = self.next_of_few() {
            self.ended_with(self.make(&group));
        }
        let queue = self.wait(|queue| queue.work.is_empty() && !queue.busy);
        queue.failure.clone().map_or(Ok(()), Err)
    }

    /// Waits until this many groups are done, or the folder has failed.
    pub(super) fn wait_for(&self, groups: u64) {
        drop(self.wait(|_| self.done() >= groups));
    }

    /// Waits until SQLite's commit of what comes before this generation is on the disk. Returns false if the folder has failed before.
    ///
    /// # Errors
    /// If it never will be.
    pub(super) fn is_on_disk(&self, generation: u64) -> Result<bool, StoreError> {
        let queue = self.wait(|queue| queue.unsynced.is_some() || queue.synced >= generation);
        queue.unsynced.clone().map_or(Ok(queue.synced >= generation), Err)
    }

    /// Whether SQLite lacks a change, so that the redo log is needed.
    pub(super) fn has_failed(&self) -> bool {
        locked(&self.queue).failure.is_some()
    }

    /// Forgets what is queued, and returns the first generation of the redo log that SQLite's commits lack.
    pub(super) fn stop(&self) -> u64 {
        locked(&self.queue).work.clear();
        let mut queue = self.wait(|queue| !queue.busy);
        if !queue.ended {
            queue.failure = None;
        }
        queue.bytes = 0;
        self.done.store(queue.groups, Release);
        queue.committed
    }

    /// The redo log begins with this generation.
    pub(super) fn starts_at(&self, generation: u64) {
        let mut queue = locked(&self.queue);
        (queue.committed, queue.synced) = (generation, generation);
    }

    /// Lets the folder end when it has done what it does.
    pub(super) fn end(&self) {
        locked(&self.queue).ended = true;
        self.work.notify_one();
    }

    /// Waits for the folder until this is so, or it has failed or ended.
    fn wait(&self, is_so: impl Fn(&Queue) -> bool) -> MutexGuard<'_, Queue> {
        let mut queue = locked(&self.queue);
        while !is_so(&queue) && (queue.busy || queue.failure.is_none()) {
            queue.watched = true;
            if !queue.awake {
                queue.awake = true;
                self.work.notify_one();
            }
            queue = self.progress.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        queue
    }

    /// What the folder does next; nothing when it is to end.
    fn next(&self) -> Option<Work> {
        let mut queue = locked(&self.queue);
        loop {
            if queue.ended {
                return None;
            }
            if queue.awake && queue.failure.is_none() {
                if let Some(work) = queue.take() {
                    return Some(work);
                }
                queue.awake = false;
            }
            queue = self.work.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What the writer does itself while the folder sleeps.
    fn next_of_few(&self) -> Option<Arc<Group>> {
        let mut queue = locked(&self.queue);
        if queue.awake || queue.busy || queue.failure.is_some() {
            return None;
        }
        let Some(Work::Make(group)) = queue.work.front() else { return None };
        let group = Arc::clone(group);
        drop(queue.take());
        Some(group)
    }

    fn carry_out(&self, work: &Work, log: &Syncer) -> Result<(), StoreError> {
        match work {
            Work::Make(group) => self.make(group),
            Work::Commit(sum, generation) => {
                locked(&self.base).commit_with(sum)?;
                self.sync(*generation, log);
                Ok(())
            }
        }
    }

    fn make(&self, group: &Group) -> Result<(), StoreError> {
        let mut base = locked(&self.base);
        base.begin()?;
        for change in group.changes() {
            make(&base.connection, &self.tables, &change)?;
            if self.wanted.load(Relaxed) {
                drop(base);
                while self.wanted.load(Relaxed) {
                    thread::yield_now();
                }
                base = locked(&self.base);
            }
        }
        drop(base);
        self.done.fetch_add(1, Release);
        Ok(())
    }

    fn ended_with(&self, result: Result<(), StoreError>) {
        let mut queue = locked(&self.queue);
        queue.busy = false;
        queue.failure = queue.failure.take().or(result.err());
        if queue.failure.is_some() {
            queue.awake = false;
        }
        if std::mem::take(&mut queue.watched) {
            self.progress.notify_one();
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread.
pub(super) struct Folder {
    shared: Arc<Shared>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Folder {
    /// Starts the thread, which syncs SQLite's commits with `log`.
    pub(super) fn start(shared: Arc<Shared>, log: Syncer) -> Result<Self, StoreError> {
        let folding = Arc::clone(&shared);
        let thread = thread::Builder::new().name("sandbox-folder".to_owned()).spawn(move || {
            let end = End(&folding);
            while let Some(work) = folding.next() {
                let result = folding.carry_out(&work, &log);
                drop(work);
                folding.ended_with(result);
            }
            drop(end);
        });
        let thread = thread.map_err(|error| StoreError::Engine(format!("cannot start a thread: {error}")))?;
        Ok(Self { shared, thread: Some(thread) })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.shared.end();
        if let Some(thread) = self.thread.take() {
            // It fails only after a panic, which has been reported.
            let _ = thread.join();
        }
    }
}

/// On drop, ends every wait for a thread that has ended.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let defect = StoreError::Unsynced("a defect of the sandbox".to_owned());
        let mut queue = locked(&self.0.queue);
        queue.ended = true;
        queue.unsynced = queue.unsynced.take().or_else(|| Some(defect.clone()));
        drop(queue);
        self.0.ended_with(Err(defect));
        self.0.progress.notify_one();
    }
}
