//! The sans-IO core: requests in, responses out, with the time as an argument.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use zeroize::Zeroizing;

use crate::{
    accounts::Accounts,
    clock::Clock,
    faults::Faults,
    inbound::Inbound,
    journal::Journal,
    key::{self, Keys, RandomSource as _, SeededRandom},
    metrics::Metrics,
    open_error::OpenError,
    records::{
        Authentication, Batch, Callback, CardToken, CheckoutToken, CheckoutVisit, Fault, Meta, Payment, Session,
        TextMessage,
    },
    schedule::Schedule,
    service::Throttle,
    settings::Settings,
    store::{Halt, Query, Reach, Sqlite, Store, StoreError, StoredRecord, Syncer, Transaction, Unopened},
    timestamp::Timestamp,
    vault::{self, Cv2Memory, KeyFile, Sealed, Stage, Vault},
};

mod accounts;
mod callbacks;
mod counters;
#[cfg(feature = "postgres")]
mod database;
mod events;
mod expected;
mod group;
mod request;

pub(crate) use counters::Counters;
#[cfg(feature = "postgres")]
pub use database::{SharedStore, StoreKey};

/// A whole card payment service: its records, its clock and its secrets, behind one function.
///
/// It reads no clock and generates no random numbers: each call passes the time, and a seed supplies the randomness. It
/// sends nothing: [`Sandbox::due`] returns the callbacks to send now, and [`Sandbox::delivered`] takes their results.
pub struct Sandbox {
    /// Dropped first: it writes what waits into the store, which other programs see as closed once its connection ends.
    journal: Journal,
    store: Box<dyn Store>,
    settings: Arc<Settings>,
    vault: Vault,
    keys: Keys,
    cv2: Cv2Memory,
    clock: Clock,
    throttle: Throttle,
    faults: Faults,
    metrics: Arc<Metrics>,
    schedule: Schedule,
    /// Accounts created at run time.
    accounts: Accounts,
    /// The real time before which a failed store is not asked for due tasks.
    not_before: Timestamp,
    /// Results of callbacks that could not be written, and the real time of the next attempt.
    left_results: Vec<callbacks::CallbackResult>,
    next_record: Timestamp,
    last_sweep: Timestamp,
    /// The real time at which a shared store was last asked for tasks that other processes left.
    last_look: Timestamp,
    /// The error of the disk, after which no request is answered.
    broken: Option<String>,
    /// Whether clock and faults could not be read after a rollback.
    is_stale: bool,
}

/// The content of the key check when it is opened.
const KEY_CHECK_TEXT: &str = "this key file belongs to this store";

impl Sandbox {
    /// Creates a sandbox in memory with the built-in accounts. Deterministic: the same requests at the same times get
    /// the same responses, including the keys.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::in_memory_with(Settings::default(), [0; 32]).expect("an empty store in memory opens")
    }

    /// Creates a sandbox in memory; the seed decides every key and every random digit.
    ///
    /// # Errors
    /// If SQLite cannot make a store in memory.
    pub fn in_memory_with(settings: Settings, seed: [u8; 32]) -> Result<Self, OpenError> {
        let mut dice = Box::new(SeededRandom::new(seed));
        let mut key = [0; 32];
        dice.fill(&mut key);
        Self::assemble(Box::new(Sqlite::in_memory()?), settings, &key, dice)
    }

    /// Opens a sandbox over a store file. Creates the file and its key file if they are missing. The seed must be
    /// unpredictable: it determines the keys and the content of a new key file.
    ///
    /// # Errors
    /// [`OpenError`] names the file and what is wrong with it.
    pub fn open(path: &Path, settings: Settings, mut seed: [u8; 32]) -> Result<Self, OpenError> {
        let (new_key, dice) = vault::split(&mut seed);
        let unopened = Unopened::at(path)?;
        let key_path = vault::key_path(path);
        let KeyFile { key, stage } = match vault::load_key(&key_path)? {
            Some(file) if unopened.is_empty() && file.stage != Stage::New => {
                return Err(OpenError::StoreMissing(key_path));
            }
            Some(file) if !unopened.is_sealed() && file.stage == Stage::Sealed => return Err(OpenError::EarlierStore),
            Some(file) => file,
            None if unopened.is_empty() || unopened.lacks(Meta::KIND, Meta::KEY_CHECK)? => {
                if !vault::create_key(&key_path, &new_key)? {
                    return Err(StoreError::InUse.into());
                }
                KeyFile { key: Zeroizing::new(**new_key), stage: Stage::New }
            }
            None => return Err(OpenError::KeyFileLost(key_path)),
        };
        let store = unopened.open(&key).map_err(|error| match error {
            StoreError::WrongKey => OpenError::WrongKeyFile,
            error => error.into(),
        })?;
        if stage != Stage::Sealed {
            // Only when the store is on disk.
            store.syncer().map_or(Ok(()), |syncer| syncer.sync())?;
            vault::mark_sealed(&key_path, &key)?;
        }
        Self::assemble(Box::new(store), settings, &key, dice)
    }

    /// Opens a sandbox over a [`Store`] of your own, which may contain records of an earlier run. The key seals card
    /// numbers: pass the same key each time. The seed determines the keys of new records: pass a different seed each
    /// time.
    ///
    /// ```
    /// use pg_sandbox::{Sandbox, Settings, conformance, store::Sqlite};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // In place of an engine of your own.
    /// let mut store = Sqlite::in_memory()?;
    /// conformance::check(&mut store)?;
    /// let sandbox = Sandbox::over(Box::new(store), Settings::default(), &[1; 32], [2; 32])?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the store fails, or was created with another key.
    pub fn over(store: Box<dyn Store>, settings: Settings, key: &[u8; 32], seed: [u8; 32]) -> Result<Self, OpenError> {
        Self::assemble(store, settings, key, Box::new(SeededRandom::new(seed)))
    }

    fn assemble(
        store: Box<dyn Store>,
        settings: Settings,
        key: &[u8; 32],
        dice: Box<SeededRandom>,
    ) -> Result<Self, OpenError> {
        settings.check_keys()?;
        let mut sandbox = Self {
            store,
            settings: Arc::new(settings),
            vault: Vault::new(key),
            keys: Keys::new(dice),
            cv2: Cv2Memory::default(),
            clock: Clock::default(),
            throttle: Throttle::default(),
            faults: Faults::default(),
            journal: Journal::default(),
            metrics: Arc::default(),
            schedule: Schedule::default(),
            accounts: Accounts::default(),
            not_before: Timestamp::MIN,
            left_results: Vec::new(),
            next_record: Timestamp::MIN,
            last_sweep: Timestamp::MIN,
            last_look: Timestamp::MIN,
            broken: None,
            is_stale: false,
        };
        sandbox.start(Self::check_key)?;
        sandbox.start(Self::reserve_names)?;
        sandbox.journal = Journal::new(sandbox.store.journal()?);
        sandbox.clock = sandbox.stored_clock()?;
        sandbox.faults = sandbox.stored_faults()?;
        sandbox.know_accounts()?;
        sandbox.know_last_keys()?;
        Ok(sandbox)
    }

    /// Returns the settings of the sandbox.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the settings for connections, which check requests before they queue them.
    pub(crate) fn shared_settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }

    /// Returns the counters, which can be read without the store.
    pub(crate) fn counters(&self) -> Counters {
        Counters { settings: Arc::clone(&self.settings), metrics: Arc::clone(&self.metrics) }
    }

    /// Answers one request. Its changes are durable when this function returns.
    ///
    /// The [`Peer`](crate::Peer) extension has the address from which the request came; by default it came from this
    /// machine.
    pub fn handle(&mut self, real_now: Timestamp, request: Request<Bytes>) -> Response<Bytes> {
        let mut responses = self.handle_group(real_now, vec![request]);
        responses.pop().unwrap_or_default()
    }

    /// Answers a group of requests, in order, with one durable write for all of them.
    ///
    /// Each request succeeds or fails independently. If the write fails, every response is error 999 in the format of
    /// its service, and nothing was changed. If it is unknown whether the write was done, every response has
    /// [`ResponseDelivery::Close`](crate::ResponseDelivery::Close), and its caller gets none.
    pub fn handle_group(&mut self, real_now: Timestamp, requests: Vec<Request<Bytes>>) -> Vec<Response<Bytes>> {
        let settings = &self.settings;
        let mut requests: Vec<_> = requests.into_iter().map(|request| Inbound::new(settings, request)).collect();
        let mut responses = Vec::with_capacity(requests.len());
        while !requests.is_empty() {
            let first = self.answer_group(&|| real_now, &mut requests, &mut |_| {});
            requests.drain(..first.len());
            responses.extend(first);
        }
        // Once the disk has failed, these are refusals.
        let synced = if self.broken.is_none() { self.sync() } else { Ok(()) };
        self.settle(&mut || false);
        match synced {
            Ok(()) => responses,
            Err(_) => responses.iter().map(|_| request::closed()).collect(),
        }
    }

    /// Completes the files of the store.
    pub(crate) fn close(mut self) -> Result<(), StoreError> {
        let closed = self.store.close();
        self.store_failure().map_or(closed, Err)
    }

    /// Returns the error of the disk after which no request is executed any more.
    pub(crate) fn store_failure(&self) -> Option<StoreError> {
        self.broken.clone().map(StoreError::Unsynced)
    }

    /// Lets the store do deferred work until a request waits.
    pub(crate) fn settle(&mut self, interrupted: &mut dyn FnMut() -> bool) {
        self.store.settle(interrupted);
    }

    /// Returns the syncer, for replies that are produced before their commit is on disk.
    pub(crate) fn syncer(&self) -> Option<Syncer> {
        self.store.syncer()
    }

    /// Returns a check of whether the store is reachable, if it can be unreachable.
    pub(crate) fn reach(&self) -> Option<Reach> {
        self.store.reach()
    }

    /// Returns a handle that ends all waits for the store when the process stops, if the store can be unreachable.
    pub(crate) fn halt(&self) -> Option<Halt> {
        self.store.halt()
    }

    /// Waits until all commits are on disk.
    fn sync(&mut self) -> Result<(), StoreError> {
        let synced = self.store.syncer().map_or(Ok(()), |syncer| syncer.sync());
        if let Err(error) = &synced {
            self.give_up(error);
        }
        synced
    }

    /// Handles a failure of the disk. After the next start the store may lack current records, so no further request is
    /// answered.
    pub(crate) fn give_up(&mut self, error: &StoreError) {
        self.broken = Some(match error {
            StoreError::Unsynced(why) => why.clone(),
            other => other.to_string(),
        });
    }

    /// Makes all keys greater than those of an earlier process, since records are listed in the order of their keys: even
    /// while the clock stands still, or if it was set back.
    fn know_last_keys(&mut self) -> Result<(), StoreError> {
        let records = &mut Transaction::new(&mut *self.store);
        let newest = [
            newest::<Authentication>(records)?,
            newest::<Batch>(records)?,
            newest::<Callback>(records)?,
            newest::<CardToken>(records)?,
            newest::<CheckoutToken>(records)?,
            newest::<CheckoutVisit>(records)?,
            newest::<Fault>(records)?,
            newest::<Payment>(records)?,
            newest::<Session>(records)?,
            newest::<TextMessage>(records)?,
        ];
        newest.iter().flatten().filter_map(|key| key::number(key)).for_each(|last| self.keys.go_on_after(last));
        Ok(())
    }

    fn stored_clock(&mut self) -> Result<Clock, StoreError> {
        self.meta(Meta::CLOCK)
    }

    fn stored_faults(&mut self) -> Result<Faults, StoreError> {
        Faults::stored(&mut Transaction::new(&mut *self.store))
    }

    /// Executes a part of the start, again if another process wrote at the same time.
    fn start(&mut self, part: fn(&mut Self) -> Result<(), OpenError>) -> Result<(), OpenError> {
        let mut left = group::ATTEMPTS;
        loop {
            left -= 1;
            match part(self) {
                Err(OpenError::Store(_)) if left > 0 && self.store.may_try_again() => self.store.rollback(),
                done => return done,
            }
        }
    }

    /// Refuses a store that is opened with another key file, which would seal cards that the right key file cannot
    /// open.
    fn check_key(&mut self) -> Result<(), OpenError> {
        if let Some(sealed) = key_check(&mut *self.store)? {
            let opened = self.vault.open(Meta::KEY_CHECK, &sealed);
            return opened.map(drop).map_err(|_| OpenError::WrongKeyFile);
        }
        let sealed = self.vault.seal(self.keys.dice(), Meta::KEY_CHECK, KEY_CHECK_TEXT);
        self.store.begin()?;
        let mut records = Transaction::new(&mut *self.store);
        records.put(&Meta::key_check(&sealed))?;
        records.keep()?;
        self.store.commit()?;
        Ok(self.sync()?)
    }
}

/// Returns the greatest key of the records of a kind.
fn newest<T: StoredRecord>(records: &mut Transaction<'_>) -> Result<Option<String>, StoreError> {
    Ok(records.find::<T>(&Query::newest(1))?.first().map(|record| record.key().to_owned()))
}

fn key_check(store: &mut dyn Store) -> Result<Option<Sealed>, OpenError> {
    let meta = Transaction::new(store).get::<Meta>(Meta::KEY_CHECK)?;
    meta.map(|meta| serde_json::from_value(meta.value).map_err(|_| OpenError::WrongKeyFile)).transpose()
}

#[cfg(test)]
mod tests;
