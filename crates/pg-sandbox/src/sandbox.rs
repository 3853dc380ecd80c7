//! The sans-IO core: requests in, responses out, with the time as an argument.

use std::{
    net::{IpAddr, Ipv4Addr},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::Arc,
};

use bytes::Bytes;
use http::{Method, Request, Response, header};
use pg_crypto::KeyError;
use pg_model::Encoding;
use zeroize::Zeroizing;

use crate::codes::SandboxErrorCode;
use crate::{
    clock::Clock,
    faults::Faults,
    inbound::Inbound,
    journal::Journal,
    key::{Keys, RandomSource as _, SeededRandom},
    records::{Meta, Silence},
    schedule::Schedule,
    service::{self, Basis, Context, Refusal, Route, Throttle, WARNING_HEADER, Warnings},
    settings::Settings,
    store::{Change, Sqlite, Store, StoreError, StoredRecord as _, Syncer, Transaction, Unopened},
    timestamp::Timestamp,
    vault::{self, Cv2Memory, KeyFile, KeyFileError, Sealed, Stage, Vault},
};

mod callbacks;
#[cfg(feature = "postgres")]
mod database;
mod faulty;
mod journaling;
mod shared;

/// The address that a request came from, as an extension of the request; without it, this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    fn of<B>(request: &Request<B>) -> IpAddr {
        request.extensions().get::<Self>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0)
    }
}

/// A whole card payment service: its records, its clock and its secrets, behind one function.
///
/// Nothing in it reads a clock or rolls dice: the time comes with each call, the randomness from a
/// seed that is given once. It sends nothing either: [`Sandbox::due`] says which callbacks to send now,
/// [`Sandbox::delivered`] is told what came of them.
pub struct Sandbox {
    store: Box<dyn Store>,
    settings: Arc<Settings>,
    vault: Vault,
    keys: Keys,
    cv2: Cv2Memory,
    clock: Clock,
    throttle: Throttle,
    faults: Faults,
    journal: Journal,
    schedule: Schedule,
    /// The real time before which a store that has failed is not asked what is due.
    not_before: Timestamp,
    last_sweep: Timestamp,
    /// The real time at which a shared store was last asked what other processes have left to be done.
    last_look: Timestamp,
    /// What the disk reported when it failed; nothing is answered since.
    broken: Option<String>,
}

/// Sandbox time between two looks for CV2s whose session has ended.
const SWEEP_MILLIS: i64 = 60_000;

/// What the key check holds when it is opened.
const KEY_CHECK_TEXT: &str = "this key file belongs to this store";

impl Sandbox {
    /// A sandbox in memory with the built-in accounts. It replays: the same requests at the same
    /// times get the same answers, keys included.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::in_memory_with(Settings::default(), [0; 32]).expect("an empty store in memory opens")
    }

    /// A sandbox in memory; the seed decides every key and every random digit.
    ///
    /// # Errors
    /// When SQLite cannot make a store in memory.
    pub fn in_memory_with(settings: Settings, seed: [u8; 32]) -> Result<Self, OpenError> {
        let mut dice = SeededRandom::new(seed);
        let mut key = [0; 32];
        dice.fill(&mut key);
        Self::assemble(Box::new(Sqlite::in_memory()?), settings, &key, dice)
    }

    /// A sandbox over a store file, which is made when it is not there, as is the key file beside it.
    /// The seed has to be unpredictable: it decides the keys, and the content of a new key file.
    ///
    /// # Errors
    /// [`OpenError`] says what is wrong with which file.
    pub fn open(path: &Path, settings: Settings, seed: [u8; 32]) -> Result<Self, OpenError> {
        let mut dice = SeededRandom::new(seed);
        let unopened = Unopened::at(path)?;
        let key_path = vault::key_path(path);
        let KeyFile { key, stage } = match vault::load_key(&key_path)? {
            Some(file) if unopened.is_empty() && file.stage != Stage::New => {
                return Err(OpenError::StoreMissing(key_path));
            }
            Some(file) if !unopened.is_sealed() && file.stage == Stage::Sealed => return Err(OpenError::EarlierStore),
            Some(file) => file,
            None if unopened.is_empty() || unopened.lacks(Meta::KIND, Meta::KEY_CHECK)? => {
                let mut key = Zeroizing::new([0; 32]);
                dice.fill(&mut *key);
                vault::create_key(&key_path, &key)?;
                KeyFile { key, stage: Stage::New }
            }
            None => return Err(OpenError::WrongKeyFile),
        };
        let store = unopened.open(&key).map_err(|error| match error {
            StoreError::WrongKey => OpenError::WrongKeyFile,
            error => error.into(),
        })?;
        if stage != Stage::Sealed {
            // Not before the store is on the disk.
            store.syncer().map_or(Ok(()), |syncer| syncer.sync())?;
            vault::mark_sealed(&key_path, &key)?;
        }
        Self::assemble(Box::new(store), settings, &key, dice)
    }

    /// A sandbox over a [`Store`] of your own, which may hold records of an earlier run. The key seals card numbers: give the
    /// same one each time. The seed decides the keys of new records: give another one each time.
    ///
    /// # Errors
    /// When the store fails, or was begun with another key.
    pub fn over(store: Box<dyn Store>, settings: Settings, key: &[u8; 32], seed: [u8; 32]) -> Result<Self, OpenError> {
        Self::assemble(store, settings, key, SeededRandom::new(seed))
    }

    fn assemble(
        store: Box<dyn Store>,
        settings: Settings,
        key: &[u8; 32],
        dice: SeededRandom,
    ) -> Result<Self, OpenError> {
        settings.check_keys()?;
        let mut sandbox = Self {
            store,
            settings: Arc::new(settings),
            vault: Vault::new(key),
            keys: Keys::new(Box::new(dice)),
            cv2: Cv2Memory::default(),
            clock: Clock::default(),
            throttle: Throttle::default(),
            faults: Faults::default(),
            journal: Journal::default(),
            schedule: Schedule::default(),
            not_before: Timestamp::MIN,
            last_sweep: Timestamp::MIN,
            last_look: Timestamp::MIN,
            broken: None,
        };
        sandbox.check_key()?;
        sandbox.clock = sandbox.stored_clock()?;
        sandbox.faults = sandbox.stored_faults()?;
        Ok(sandbox)
    }

    /// What the sandbox was told when it was made.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The same, for those who look at requests before these get here.
    pub(crate) fn shared_settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }

    /// Answers one request. What it changed is durable when this returns.
    ///
    /// The address that the request came from is its [`Peer`] extension, by default this machine.
    pub fn handle(&mut self, real_now: Timestamp, request: Request<Bytes>) -> Response<Bytes> {
        let mut responses = self.handle_group(real_now, vec![request]);
        responses.pop().unwrap_or_default()
    }

    /// Answers requests that came together, in order, with one durable write for all of them.
    ///
    /// Each one succeeds or fails by itself. If the write fails, every answer becomes the error 999 in
    /// the shape of its service, and nothing has happened.
    pub fn handle_group(&mut self, real_now: Timestamp, requests: Vec<Request<Bytes>>) -> Vec<Response<Bytes>> {
        let settings = &self.settings;
        let mut requests: Vec<_> = requests.into_iter().map(|request| Inbound::new(settings, request)).collect();
        let responses = self.handle_ahead(real_now, &mut requests, &mut |_| {});
        match self.sync() {
            Ok(()) => responses,
            Err(error) => requests.iter().map(|request| self.failure(real_now, request, &error)).collect(),
        }
    }

    /// As [`handle_group`](Self::handle_group), but does not wait for the disk: **no answer may go out** before the
    /// [`Syncer`] has returned after it.
    ///
    /// Before the write `more` may add requests that have come meanwhile; it is asked until it adds none.
    pub(crate) fn handle_ahead(
        &mut self,
        real_now: Timestamp,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Vec<Response<Bytes>> {
        self.sweep(real_now);
        let journaled = self.journal.last();
        match self.try_group(real_now, requests, more) {
            Ok(responses) => {
                self.cv2.settle();
                responses
            }
            Err(error) => {
                let again = self.store.may_try_again();
                self.forget_group(journaled);
                if again {
                    return self.one_by_one(real_now, requests);
                }
                requests.iter().map(|request| self.failure(real_now, request, &error)).collect()
            }
        }
    }

    /// Undoes what a group has changed, in the store and in memory.
    fn forget_group(&mut self, journaled: u64) {
        self.store.rollback();
        self.cv2.restore();
        self.schedule.look_again();
        // A clock that was turned in this group was turned in vain, and faults were not met.
        if let Ok(clock) = self.stored_clock() {
            self.clock = clock;
        }
        if let Ok(faults) = self.stored_faults() {
            self.faults = faults;
        }
        self.journal.forget_after(journaled);
    }

    fn try_group(
        &mut self,
        real_now: Timestamp,
        requests: &mut Vec<Inbound>,
        more: &mut dyn FnMut(&mut Vec<Inbound>),
    ) -> Result<Vec<Response<Bytes>>, StoreError> {
        self.begin()?;
        let mut responses = Vec::with_capacity(requests.len());
        while let Some(next) = requests.get_mut(responses.len()) {
            responses.push(self.handle_one(real_now, next)?);
            if responses.len() == requests.len() {
                more(requests);
            }
        }
        self.store.commit()?;
        Ok(responses)
    }

    fn begin(&mut self) -> Result<(), StoreError> {
        match &self.broken {
            Some(why) => Err(StoreError::Unsynced(why.clone())),
            None => {
                self.store.begin()?;
                if self.store.change() == Change::ByOthers { self.learn_from_others() } else { Ok(()) }
            }
        }
    }

    /// What makes answers durable that were given ahead of the disk.
    pub(crate) fn syncer(&self) -> Option<Syncer> {
        self.store.syncer()
    }

    /// Waits for the disk.
    fn sync(&mut self) -> Result<(), StoreError> {
        let synced = self.store.syncer().map_or(Ok(()), |syncer| syncer.sync());
        if let Err(error) = &synced {
            self.give_up(error);
        }
        synced
    }

    /// The disk has failed: what the store holds may be gone after the next start, so nothing is built upon it any more.
    pub(crate) fn give_up(&mut self, error: &StoreError) {
        self.broken = Some(match error {
            StoreError::Unsynced(why) => why.clone(),
            other => other.to_string(),
        });
    }

    /// Fails only when the store has lost the transaction, and with it every request of the group.
    fn carry_out(
        &mut self,
        real_now: Timestamp,
        inbound: &mut Inbound,
        silence: Option<Silence>,
    ) -> Result<Response<Bytes>, StoreError> {
        let Inbound { request, call, .. } = inbound;
        // HEAD is GET without the body, and without what the visit of a page would change.
        let is_head = request.method() == Method::HEAD;
        if is_head {
            *request.method_mut() = Method::GET;
        }
        let route = Route::of(request.uri().path());
        let response_format = route.response_format();
        let peer = Peer::of(request);
        let host = request.headers().get(header::HOST);
        let mut context = Context { host, silence, ..self.context(real_now, peer) };
        // A defect in one method must not take the others down.
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let answer = service::answer(&mut context, route, request, call.take());
            let settled = if answer.is_ok() && !is_head { context.records.keep() } else { context.records.undo() };
            settled.map(|()| answer)
        }));
        let answer = match answer {
            Ok(settled) => settled.map(Some),
            Err(_) => context.records.undo().map(|()| None),
        };
        let (trace_code, basis) = (context.trace_code(), std::mem::take(&mut context.basis));
        let warnings = std::mem::take(&mut context.warnings).header();
        if is_head {
            *request.method_mut() = Method::HEAD;
        }
        if !self.store.in_transaction() {
            return Err(StoreError::Lost);
        }
        let reply = match answer? {
            Some(Ok(reply)) => reply,
            Some(Err(refusal)) => refusal.joining(&basis).reply(response_format, trace_code, &self.settings.spoken()),
            None => Refusal::from(SandboxErrorCode::SANDBOX_FAILURE).reply(
                response_format,
                trace_code,
                &self.settings.spoken(),
            ),
        };
        let mut response = reply.into_response();
        if let Some(warnings) = warnings {
            response.headers_mut().insert(WARNING_HEADER, warnings);
        }
        Ok(if is_head { without_body(response) } else { response })
    }

    fn context(&mut self, real_now: Timestamp, peer: IpAddr) -> Context<'_> {
        Context {
            now: self.clock.at(real_now),
            real_now,
            peer,
            host: None,
            is_shared: self.store.is_shared(),
            records: Transaction::new(&mut *self.store),
            settings: &self.settings,
            vault: &self.vault,
            keys: &mut self.keys,
            cv2: &mut self.cv2,
            clock: &mut self.clock,
            throttle: &mut self.throttle,
            faults: &mut self.faults,
            journal: &self.journal,
            schedule: &mut self.schedule,
            unique_reference: None,
            stray_currency: None,
            silence: None,
            unheard: false,
            encoding: Encoding::default(),
            basis: Basis::default(),
            warnings: Warnings::default(),
        }
    }

    fn failure(&mut self, real_now: Timestamp, inbound: &Inbound, error: &StoreError) -> Response<Bytes> {
        if matches!(error, StoreError::Unknown) {
            // An error would say that nothing has happened.
            return faulty::closed();
        }
        let route = Route::of(inbound.request.uri().path());
        let refusal = Refusal::from(SandboxErrorCode::SANDBOX_FAILURE).about(&error.to_string());
        let (trace_code, dialect) = (self.keys.digits(9), self.settings.spoken());
        let response = refusal.reply(route.response_format(), trace_code, &dialect).into_response();
        self.note(real_now, inbound, None, Some(&response));
        response
    }

    fn sweep(&mut self, real_now: Timestamp) {
        let now = self.clock.at(real_now);
        if (now.millis() - self.last_sweep.millis()).abs() >= SWEEP_MILLIS {
            self.cv2.forget_ended(now);
            self.last_sweep = now;
        }
    }

    fn stored_clock(&mut self) -> Result<Clock, StoreError> {
        let stored = Transaction::new(&mut *self.store).get::<Meta>(Meta::CLOCK)?;
        Ok(stored.and_then(|meta| serde_json::from_value(meta.value).ok()).unwrap_or_default())
    }

    fn stored_faults(&mut self) -> Result<Faults, StoreError> {
        Faults::stored(&mut Transaction::new(&mut *self.store))
    }

    /// A store opened with another key file would seal cards that the right one cannot open.
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

/// The response to HEAD: the headers of GET, with the length of the body that is left out.
fn without_body(mut response: Response<Bytes>) -> Response<Bytes> {
    let length = std::mem::take(response.body_mut()).len();
    response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    response
}

fn key_check(store: &mut dyn Store) -> Result<Option<Sealed>, OpenError> {
    let meta = Transaction::new(store).get::<Meta>(Meta::KEY_CHECK)?;
    meta.map(|meta| serde_json::from_value(meta.value).map_err(|_| OpenError::WrongKeyFile)).transpose()
}

/// Why a sandbox cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Something is wrong with the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Something is wrong with the key file beside it.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// The key file is missing, or belongs to another store.
    #[error("the key file that the store's cards were sealed with is not beside it; restore that file")]
    WrongKeyFile,
    /// There is a key file, and the store that it belongs to is empty or not there.
    #[error(
        "the store is empty or missing, and its key file {path} is there; put a copy of the store back, or remove the key file \
         to begin a new store",
        path = .0.display()
    )]
    StoreMissing(PathBuf),
    /// The store is of an earlier format than the one that the key file belongs to.
    #[error(
        "the store is of an earlier format than the one that its key file belongs to, whose records cannot be altered \
         unnoticed; put a copy of the latest store back"
    )]
    EarlierStore,
    /// The dialect derives the key of redirects in a way that an account's API key does not allow.
    #[error(
        "the dialect's [session_data] key does not fit the account {account}: {problem}; leave it out or take \"verbatim\" or \
         \"sha256\""
    )]
    UnfitKey {
        /// The account's name.
        account: String,
        /// What is wrong.
        #[source]
        problem: KeyError,
    },
}

#[cfg(test)]
mod tests;
