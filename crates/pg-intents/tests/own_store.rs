//! A store of intents of one's own: a file to which every change is appended. `docs/guide/own-store.md` explains what a store must
//! guarantee, with this one as the example.
//!
//! It is for the processes of one machine: each call locks the file, reads what other processes have appended, decides, appends one
//! record, syncs it and unlocks the file. All intents are in memory, and the file is never shortened, so it suits a shop with some
//! thousand payments. Each call blocks its thread for a sync.

mod kills;
mod mistakes;
mod rows;

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions},
    io::{Error, Read as _, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use pg_intents::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStore, NewIntent, ShareWish, StoreError,
};
use serde::{Deserialize, Serialize};

use rows::{Share, Stored, later, take_shares};

/// A store in a file.
pub(crate) struct FileStore {
    log: Mutex<Log>,
    /// The clock of the machine, in milliseconds since 1970: the same for every process.
    now: fn() -> i64,
}

/// Returns when what was written to a file is on the disk.
type SyncFile = Box<dyn Fn(&File) -> Result<(), Error> + Send>;

struct Log {
    file: File,
    sync: SyncFile,
    /// How many bytes of the file are in `data`.
    read: u64,
    data: Data,
    /// Set after an error of the disk: what the file contains is not known any more.
    failed: bool,
}

/// What the file says, in memory.
#[derive(Default)]
struct Data {
    workers: u64,
    intents: BTreeMap<IntentKey, Stored>,
    shares: BTreeMap<String, Vec<Share>>,
    stops: BTreeMap<String, String>,
}

/// A part of a record: the new value of one thing, never a difference.
#[derive(Serialize, Deserialize)]
enum Change {
    Worker(u64),
    Intent(Box<Stored>),
    Shares(String, Vec<Share>),
    Stop(String, Option<String>),
}

impl FileStore {
    /// Opens the file, or creates it.
    pub(crate) fn open(path: &Path, now: fn() -> i64) -> Result<Self, StoreError> {
        Self::open_with(path, now, Box::new(File::sync_data))
    }

    fn open_with(path: &Path, now: fn() -> i64, sync: SyncFile) -> Result<Self, StoreError> {
        let open = || {
            let mut options = OpenOptions::new();
            // It contains card keys.
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
            // The name of a new file must be on the disk too. Windows opens no folder.
            #[cfg(unix)]
            sync(&File::open(folder_of(path))?)?;
            Ok(file)
        };
        let log = Log { file: open().map_err(unavailable)?, sync, read: 0, data: Data::default(), failed: false };
        let store = Self { log: Mutex::new(log), now };
        store.read(|_, _| ())?;
        Ok(store)
    }

    /// Makes one change: under the lock of the file, decides from all that was stored before, and stores what was decided in one record,
    /// which is on the disk when this returns.
    fn change<R>(
        &self,
        decide: impl FnOnce(&Data, i64) -> Result<(Vec<Change>, R), StoreError>,
    ) -> Result<R, StoreError> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.file.lock().map_err(unavailable)?;
        // The clock is read under the lock: a call that waited must not decide by an earlier time.
        let changed = log.catch_up().and_then(|()| {
            let (changes, result) = decide(&log.data, (self.now)())?;
            log.append(changes)?;
            Ok(result)
        });
        log.file.unlock().map_err(unavailable)?;
        changed
    }

    fn read<R>(&self, read: impl FnOnce(&Data, i64) -> R) -> Result<R, StoreError> {
        self.change(|data, now| Ok((Vec::new(), read(data, now))))
    }

    /// Changes an intent, if there is one.
    fn change_one<R>(
        &self,
        key: &IntentKey,
        change: impl FnOnce(&mut Stored, i64) -> Result<R, StoreError>,
    ) -> Result<Option<R>, StoreError> {
        self.change(|data, now| {
            let Some(stored) = data.intents.get(key) else { return Ok((Vec::new(), None)) };
            let mut changed = stored.clone();
            let result = change(&mut changed, now)?;
            let changes = if changed == *stored { Vec::new() } else { vec![Change::Intent(Box::new(changed))] };
            Ok((changes, Some(result)))
        })
    }

    /// Changes an intent on behalf of the owner of its lease.
    fn change_held(&self, hold: &IntentLease, change: impl FnOnce(&mut Stored, i64)) -> Result<(), StoreError> {
        let changed = self.change_one(&hold.key, |stored, now| {
            if stored.row.hold().as_ref() != Some(hold) {
                return Err(StoreError::Lost);
            }
            change(stored, now);
            stored.row.changed = now;
            Ok(())
        });
        changed?.ok_or(StoreError::Lost)
    }
}

impl Log {
    /// Applies what other processes have appended. A last record that is not whole was never acknowledged: its process has died. A whole one
    /// may be acknowledged. If this program cannot read it, a later one has written it, and it stays.
    fn catch_up(&mut self) -> Result<(), StoreError> {
        if self.failed {
            return Err(StoreError::Unavailable("the file could not be written: open the store again".to_owned()));
        }
        let mut bytes = Vec::new();
        self.file.seek(SeekFrom::Start(self.read)).map_err(unavailable)?;
        self.file.read_to_end(&mut bytes).map_err(unavailable)?;
        if bytes.is_empty() {
            return Ok(());
        }
        let mut whole = 0;
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let json = whole_record(line);
            if json.is_none() && whole + line.len() == bytes.len() {
                break;
            }
            let changes = json
                .and_then(|json| serde_json::from_str::<Vec<Change>>(json).ok())
                .ok_or_else(|| StoreError::Unreadable(format!("the record at byte {}", self.read + whole as u64)))?;
            changes.into_iter().for_each(|change| self.data.apply(change));
            whole += line.len();
        }
        self.read += whole as u64;
        // A process that died may have written a record and not synced it. Nothing may be decided from it before it is on the disk.
        self.file.set_len(self.read).and_then(|()| (self.sync)(&self.file)).map_err(|error| self.fail(&error))
    }

    fn append(&mut self, changes: Vec<Change>) -> Result<(), StoreError> {
        if changes.is_empty() {
            return Ok(());
        }
        let record = encode(&changes);
        self.file.write_all(&record).and_then(|()| (self.sync)(&self.file)).map_err(|error| self.fail(&error))?;
        self.read += record.len() as u64;
        changes.into_iter().for_each(|change| self.data.apply(change));
        Ok(())
    }

    /// After a failed write or sync this process believes nothing any more: a second sync may succeed without having written anything.
    /// The record is removed, if that is possible, so that no other process takes it for stored.
    fn fail(&mut self, error: &Error) -> StoreError {
        self.failed = true;
        let _ = self.file.set_len(self.read);
        StoreError::Unavailable(error.to_string())
    }
}

impl Data {
    fn apply(&mut self, change: Change) {
        match change {
            Change::Worker(number) => self.workers = number,
            Change::Intent(stored) => drop(self.intents.insert(stored.row.key.clone(), *stored)),
            Change::Shares(account, shares) => drop(self.shares.insert(account, shares)),
            Change::Stop(account, Some(reason)) => drop(self.stops.insert(account, reason)),
            Change::Stop(account, None) => drop(self.stops.remove(&account)),
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns a line: a checksum of the changes, and the changes.
fn encode(changes: &[Change]) -> Vec<u8> {
    let json = serde_json::to_string(changes).expect("numbers, texts and lists of them always serialize");
    format!("{:016x} {json}\n", checksum(json.as_bytes())).into_bytes()
}

/// Returns the changes in a line, if it was written completely.
fn whole_record(line: &[u8]) -> Option<&str> {
    let (sum, json) = std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')?;
    Some(json).filter(|json| u64::from_str_radix(sum, 16) == Ok(checksum(json.as_bytes())))
}

/// FNV-1a: finds a record that was not written completely, and no attacker.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn unavailable(error: Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

impl IntentStore for FileStore {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        self.change(|data, _| {
            let number = data.workers + 1;
            Ok((vec![Change::Worker(number)], format!("{name}#{number}")))
        })
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        self.change(|data, now| {
            if let Some(stored) = data.intents.get(&new.key) {
                return Ok((Vec::new(), Begun::Existing(Box::new(stored.at(now)))));
            }
            Ok((vec![Change::Intent(Box::new(Stored::begun(new, now)))], Begun::New))
        })
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        self.change_held(hold, |stored, now| {
            state.clone_into(&mut stored.row.state);
            stored.row.due = later(now, lease);
        })
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.change_held(hold, |stored, now| stored.row.due = later(now, lease))
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.change_held(hold, |stored, now| stored.release(wake, now))
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        self.change_held(hold, |stored, now| stored.end(end, now))
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.change_held(hold, |stored, now| stored.rest(rest, now))
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        Ok(self.change_one(key, |stored, now| Ok(stored.deliver(event, now)))?.unwrap_or(false))
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        self.read(|data, _| {
            let events = data.intents.get(key).map(|stored| stored.events.iter()).unwrap_or_default();
            events.filter(|(number, _)| *number > after).cloned().collect()
        })
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        self.change(|data, now| {
            let mut due: Vec<&Stored> =
                data.intents.values().filter(|stored| stored.is_due(account, kinds, now)).collect();
            due.sort_by_key(|stored| stored.row.due);
            let claimed: Vec<Stored> =
                due.into_iter().take(most as usize).map(|stored| stored.claimed(owner, lease, kinds, now)).collect();
            let rows = claimed.iter().map(|stored| stored.at(now)).collect();
            Ok((claimed.into_iter().map(|stored| Change::Intent(Box::new(stored))).collect(), rows))
        })
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        self.change_one(key, |stored, now| {
            if !stored.is_free_for(owner, kinds, now) {
                return Ok(Claimed::Not(Box::new(stored.at(now))));
            }
            *stored = stored.claimed(owner, lease, kinds, now);
            Ok(Claimed::Taken(Box::new(stored.at(now))))
        })
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        self.read(|data, now| data.intents.get(key).map(|stored| stored.at(now)))
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        self.read(|data, now| {
            let mut rows: Vec<IntentRow> = data.intents.values().map(|stored| stored.at(now)).collect();
            rows.retain(|row| {
                filter.account.as_ref().is_none_or(|account| *account == row.key.account)
                    && filter.reference.as_ref().is_none_or(|reference| *reference == row.key.reference)
                    && filter.statuses.contains(&row.status)
                    && row.claims >= filter.claims
            });
            rows.sort_by_key(|row| std::cmp::Reverse(row.changed));
            rows.truncate(filter.most as usize);
            rows
        })
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        self.read(|data, _| {
            let mut accounts: Vec<String> = data.intents.keys().map(|key| key.account.clone()).collect();
            accounts.dedup();
            accounts.into_iter().filter(|account| **account >= *from).take(most as usize).collect()
        })
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        Ok(self.change_one(key, |stored, now| Ok(stored.direct(directive, now)))?.unwrap_or(false))
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        self.change(|data, now| {
            let untold = data.intents.values().filter(|stored| stored.is_untold(account, now)).take(most as usize);
            let told: Vec<Stored> = untold.map(|stored| stored.hidden(visibility, now)).collect();
            let rows = told.iter().map(|stored| stored.at(now)).collect();
            Ok((told.into_iter().map(|stored| Change::Intent(Box::new(stored))).collect(), rows))
        })
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        let told = |stored: &mut Stored, _| {
            if event <= stored.row.event {
                stored.row.told = stored.row.told.max(event);
            }
            Ok(())
        };
        self.change_one(key, told).map(|_| ())
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        self.change(|data, now| {
            let mut shares = data.shares.get(wish.account).cloned().unwrap_or_default();
            let usable = take_shares(&mut shares, &wish, now);
            Ok((vec![Change::Shares(wish.account.to_owned(), shares)], usable))
        })
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        self.change(|data, _| {
            // The first reason stays.
            let keeps = reason.is_some() && data.stops.contains_key(account);
            let change = Change::Stop(account.to_owned(), reason.map(str::to_owned));
            Ok((if keeps { Vec::new() } else { vec![change] }, ()))
        })
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        self.read(|data, _| data.stops.get(account).cloned())
    }
}
