//! A database of intents with one planted bug, or none. It counts what it is asked.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use pg_intents::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStatus, IntentStore, NewIntent, ShareWish, SqliteStore, StoreError,
};
use pg_sandbox::InProcess;

use crate::world::{LEASE, World};

/// What may be wrong between a worker and its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bug {
    /// A save without the lease is acknowledged.
    NoFence,
    /// A worker whose clock is ahead takes leases that hold.
    LeaseByLocalClock,
    /// A claim returns a row that another worker holds, under the same fencing number.
    ClaimWithoutLock,
    /// An outcome is told and not stored.
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
    /// Every process has the whole limit.
    ThrottleByProcess,
    /// A used block is free at once.
    BlocksNeverRest,
}

pub(crate) struct Faulty {
    store: Arc<SqliteStore>,
    sandbox: InProcess,
    bug: Option<Bug>,
    /// The worker sleeps past its lease in each save, and another one claims meanwhile.
    sleeps: bool,
    /// So many of the next changes end with a lost connection, and are not made.
    pub(crate) lost: AtomicUsize,
    /// Who asked for a share of the limit and got none.
    pub(crate) refused: Mutex<Vec<String>>,
    /// Questions about the limit.
    pub(crate) shares: AtomicUsize,
}

impl Faulty {
    pub(crate) fn new(world: &World, bug: Option<Bug>) -> Self {
        Self {
            store: Arc::clone(&world.store),
            sandbox: world.sandbox.clone(),
            bug,
            sleeps: false,
            lost: AtomicUsize::new(0),
            refused: Mutex::default(),
            shares: AtomicUsize::new(0),
        }
    }

    /// A worker over it falls asleep in each save.
    pub(crate) fn asleep(self) -> Self {
        Self { sleeps: true, ..self }
    }

    fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    fn is_lost(&self) -> bool {
        let one_less = |left: usize| left.checked_sub(1);
        self.lost.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_ok()
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

impl IntentStore for Faulty {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        self.store.enlist(name).await
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        if self.is_lost() {
            return match self.has(Bug::DoubtTakenForSuccess) {
                true => Ok(Begun::New),
                false => Err(StoreError::Unavailable("connection lost".to_owned())),
            };
        }
        let begun = self.store.begin(new).await?;
        Ok(if self.has(Bug::BegunTwice) { Begun::New } else { begun })
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        if self.sleeps {
            self.sandbox.advance(LEASE * 2);
            let kinds = [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }];
            self.store.claim(&hold.key.account, "awake#1", 10, lease, &kinds).await?;
        }
        match self.store.save(hold, state, lease).await {
            Err(StoreError::Lost) if self.has(Bug::NoFence) => Ok(()),
            saved => saved,
        }
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.store.renew(hold, lease).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.store.release(hold, wake).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        match self.has(Bug::ToldBeforeStored) {
            true => Ok(()),
            false => self.store.end(hold, end).await,
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
        match self.bug {
            Some(Bug::ClaimWithoutLock) => return self.open(Some(account)).await,
            Some(Bug::LeaseByLocalClock) => {
                for held in self.open(Some(account)).await? {
                    self.store.direct(&held.key, Directive::Reconcile).await?;
                }
            }
            Some(Bug::OtherAccountClaimed) => {
                let mut taken = Vec::new();
                for row in self.open(None).await? {
                    taken.extend(self.store.claim(&row.key.account, owner, most, lease, kinds).await?);
                }
                return Ok(taken);
            }
            Some(Bug::LaterVersionClaimed) => {
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
        self.store.claim_one(key, owner, lease, kinds).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        self.store.rest(hold, rest).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        self.store.deliver(key, event).await
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        self.store.events(key, after).await
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        self.store.find(key).await
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        self.store.list(filter).await
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

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        if wish.account.ends_with(" probe") {
            return if self.has(Bug::ProbeByProcess) { Ok(1) } else { self.store.shares(wish).await };
        }
        self.shares.fetch_add(1, Ordering::SeqCst);
        let process = wish.owner.split(' ').next().unwrap_or_default();
        let own = format!("{} {process}", wish.account);
        let account = if self.has(Bug::ThrottleByProcess) { &*own } else { wish.account };
        let rests = wish.most == 0 && self.has(Bug::BlocksNeverRest);
        let lease = if rests { Duration::ZERO } else { wish.lease };
        let got = self.store.shares(ShareWish { account, lease, ..wish }).await?;
        if wish.most > 0 && got == 0 {
            self.refused.lock().unwrap().push(process.to_owned());
        }
        Ok(got)
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        match self.has(Bug::StopNotShared) {
            true => Ok(()),
            false => self.store.stop(account, reason).await,
        }
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        self.store.stopped(account).await
    }
}
