//! A store of intents with one planted bug, or none. It counts the questions that it is asked.
//!
//! The bugs lie between a worker and its database. The tests of `pg-intents` plant each of them in its own scenario, and the
//! simulation plants them in random worlds.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pg_intents::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStatus, IntentStore, NewIntent, ShareWish, StoreError,
};

/// What may be wrong between a worker and its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreBug {
    /// A save without the lease is acknowledged.
    NoFence,
    /// A worker whose clock is ahead takes leases that hold.
    LeaseByLocalClock,
    /// A claim returns a row that another worker holds, under the same fencing number.
    ClaimWithoutLock,
    /// An outcome is reported but not stored.
    ToldBeforeStored,
    /// A second begin under one reference is taken for the first.
    BegunTwice,
    /// A lost connection is taken for a commit.
    DoubtTakenForSuccess,
    /// A claim takes the intents of every account.
    OtherAccountClaimed,
    /// A claim takes states that this program is too old to read.
    LaterVersionClaimed,
    /// A stop stays in the process that was refused.
    StopNotShared,
    /// Every process believes that it has the probe share.
    ProbeByProcess,
    /// Every process has the account's places for requests in flight to itself.
    PlacesByProcess,
    /// A place is free again at once after its request failed.
    FailureForgotten,
    /// Every process has the whole limit.
    ThrottleByProcess,
    /// A used block is free at once.
    BlocksNeverRest,
}

/// Longer than any lease of a place in use.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// What happens before a statement. If it fails, the statement is not made.
pub type Before = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// A store over another one, which is right.
pub struct FaultyStore<S> {
    store: Arc<S>,
    bug: Option<StoreBug>,
    /// Called in each save: the worker sleeps for longer than its lease, and another one claims meanwhile.
    sleep: Option<Box<dyn Fn() + Send + Sync>>,
    /// Awaited before each statement of a worker, with the name of its method.
    before: Option<Box<dyn Fn(&'static str) -> Before + Send + Sync>>,
    /// So many of the next intents are not begun, since the connection is lost.
    pub lost: AtomicUsize,
    /// The next question to this method is answered, and the answer is lost.
    pub unanswered: Mutex<Option<&'static str>>,
    /// Processes that asked for a share of the limit and got none.
    pub refused: Mutex<Vec<String>>,
    /// Questions about the limit.
    pub shares: AtomicUsize,
    /// Questions about places for requests in flight.
    pub places: AtomicUsize,
}

impl<S: IntentStore> FaultyStore<S> {
    /// This store with this bug.
    #[must_use]
    pub fn new(store: Arc<S>, bug: Option<StoreBug>) -> Self {
        let (lost, unanswered, refused) = (AtomicUsize::new(0), Mutex::default(), Mutex::default());
        let (shares, places) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { store, bug, sleep: None, before: None, lost, unanswered, refused, shares, places }
    }

    /// A worker over it falls asleep in each save: `sleep` lets more time pass than its lease lasts.
    #[must_use]
    pub fn asleep(self, sleep: impl Fn() + Send + Sync + 'static) -> Self {
        Self { sleep: Some(Box::new(sleep)), ..self }
    }

    /// Before each statement of a worker this is awaited, with the name of its method. If it fails, the statement is not made.
    #[must_use]
    pub fn before(self, before: impl Fn(&'static str) -> Before + Send + Sync + 'static) -> Self {
        Self { before: Some(Box::new(before)), ..self }
    }

    async fn reach(&self, method: &'static str) -> Result<(), StoreError> {
        match &self.before {
            Some(before) => before(method).await,
            None => Ok(()),
        }
    }

    fn has(&self, bug: StoreBug) -> bool {
        self.bug == Some(bug)
    }

    fn is_lost(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.lost.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
    }

    /// The answer of a method, unless it is lost.
    fn answer<R>(&self, method: &'static str, made: Result<R, StoreError>) -> Result<R, StoreError> {
        let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
        match made {
            Ok(_) if *unanswered == Some(method) => {
                *unanswered = None;
                Err(StoreError::Unavailable("the connection was lost".to_owned()))
            }
            made => made,
        }
    }

    /// Takes a lost connection for a commit, if that is the bug.
    fn believed<T>(&self, result: Result<T, StoreError>, committed: T) -> Result<T, StoreError> {
        match result {
            Err(StoreError::Unavailable(_)) if self.has(StoreBug::DoubtTakenForSuccess) => Ok(committed),
            result => result,
        }
    }

    /// Rows that a worker holds, of this account or, with `None`, of all.
    async fn open(&self, account: Option<&str>) -> Result<Vec<IntentRow>, StoreError> {
        let filter = IntentFilter {
            account: account.map(str::to_owned),
            statuses: vec![IntentStatus::Open],
            ..IntentFilter::default()
        };
        self.store.list(filter).await
    }
}

impl<S: IntentStore> IntentStore for FaultyStore<S> {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        self.store.enlist(name).await
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        self.reach("begin").await?;
        let begun = match self.is_lost() {
            true => Err(StoreError::Unavailable("the connection was lost".to_owned())),
            false => self.answer("begin", self.store.begin(new).await),
        };
        let begun = self.believed(begun, Begun::New)?;
        Ok(if self.has(StoreBug::BegunTwice) { Begun::New } else { begun })
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        self.reach("save").await?;
        if let Some(sleep) = &self.sleep {
            sleep();
            let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
            self.store.claim(&hold.key.account, "awake#1", 10, lease, &kinds).await?;
        }
        let saved = self.answer("save", self.store.save(hold, state, lease).await);
        match self.believed(saved, ()) {
            Err(StoreError::Lost) if self.has(StoreBug::NoFence) => Ok(()),
            saved => saved,
        }
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.reach("renew").await?;
        self.store.renew(hold, lease).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.reach("release").await?;
        self.store.release(hold, wake).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        self.reach("end").await?;
        match self.has(StoreBug::ToldBeforeStored) {
            true => Ok(()),
            false => self.answer("end", self.store.end(hold, end).await),
        }
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        self.reach("claim").await?;
        match self.bug {
            Some(StoreBug::ClaimWithoutLock) => return self.open(Some(account)).await,
            Some(StoreBug::LeaseByLocalClock) => {
                for held in self.open(Some(account)).await? {
                    self.store.direct(&held.key, Directive::Reconcile).await?;
                }
            }
            Some(StoreBug::OtherAccountClaimed) => {
                let mut taken = Vec::new();
                for row in self.open(None).await? {
                    taken.extend(self.store.claim(&row.key.account, owner, most, lease, kinds).await?);
                }
                return Ok(taken);
            }
            Some(StoreBug::LaterVersionClaimed) => {
                let kinds: Vec<_> = kinds.iter().map(|kind| IntentKind { version: 99, ..kind.clone() }).collect();
                return self.store.claim(account, owner, most, lease, &kinds).await;
            }
            _ => {}
        }
        self.store.claim(account, owner, most, lease, kinds).await
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        self.reach("claim_one").await?;
        self.store.claim_one(key, owner, lease, kinds).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.reach("rest").await?;
        self.answer("rest", self.store.rest(hold, rest).await)
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        self.answer("deliver", self.store.deliver(key, event).await)
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        self.reach("events").await?;
        self.store.events(key, after).await
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        self.reach("find").await?;
        self.store.find(key).await
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        self.store.list(filter).await
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        self.store.accounts(from, most).await
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        self.store.direct(key, directive).await
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        self.store.untold(account, most, visibility).await
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        self.store.told(key, event).await
    }

    async fn changed(&self) {
        self.store.changed().await;
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        self.reach("shares").await?;
        if wish.account.ends_with(" probe") || wish.account.ends_with(" place") {
            self.places.fetch_add(1, Ordering::SeqCst);
        }
        if wish.account.ends_with(" probe") {
            return if self.has(StoreBug::ProbeByProcess) { Ok(1) } else { self.store.shares(wish).await };
        }
        if wish.account.ends_with(" number") {
            return self.store.shares(wish).await;
        }
        let process = wish.owner.split(' ').next().unwrap_or_default();
        let own = format!("{} {process}", wish.account);
        if wish.account.ends_with(" place") {
            let account = if self.has(StoreBug::PlacesByProcess) { &*own } else { wish.account };
            let forgets = self.has(StoreBug::FailureForgotten) && wish.lease > HOUR;
            let lease = if forgets { Duration::ZERO } else { wish.lease };
            return self.store.shares(ShareWish { account, lease, ..wish }).await;
        }
        self.shares.fetch_add(1, Ordering::SeqCst);
        let account = if self.has(StoreBug::ThrottleByProcess) { &*own } else { wish.account };
        let rests = wish.most == 0 && self.has(StoreBug::BlocksNeverRest);
        let lease = if rests { Duration::ZERO } else { wish.lease };
        let got = self.store.shares(ShareWish { account, lease, ..wish }).await?;
        if wish.most > 0 && got == 0 {
            self.refused.lock().unwrap_or_else(PoisonError::into_inner).push(process.to_owned());
        }
        Ok(got)
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        self.reach("stop").await?;
        match self.has(StoreBug::StopNotShared) {
            true => Ok(()),
            false => self.store.stop(account, reason).await,
        }
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        self.reach("stopped").await?;
        self.answer("stopped", self.store.stopped(account).await)
    }
}
