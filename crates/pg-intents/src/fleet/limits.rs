//! What all processes of an account may send together: requests per minute, requests in flight, and nothing after wrong credentials.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use pg_hyper::{
    Clock, LimitError, LimitFuture, RequestEnd, SharedLimit, SharedPermit,
    proto::{Account, machine::Moment, model::method::ServiceInfo},
};
use tokio::sync::Notify;

use self::{
    allowance::{Allowance, Slot},
    places::{Place, Places},
};
use super::FleetPlan;
use crate::{IntentStore, StoreError, telemetry};

mod allowance;
mod places;

/// The limits of one account that all processes over one store keep to together: fleets, and every other program with the account.
///
/// - At most [`FleetPlan::per_minute`] requests in any 60 seconds.
/// - At most [`FleetPlan::failures`] requests with invalid credentials: as many requests are in flight at most, and each one that the
///   service refuses for its credentials is one less for a day.
/// - None after the service has refused the credentials, until [`resume_sending`](Self::resume_sending).
///
/// A [`Fleet`](crate::Fleet) has them already. Give them to the client of another program:
///
/// ```no_run
/// use std::sync::Arc;
/// use pg_hyper::{Client, proto::Account};
/// use pg_intents::{FleetLimits, FleetPlan, SqliteStore};
///
/// # async fn share(account: Account) -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(SqliteStore::open("intents.sqlite")?);
/// let limits = FleetLimits::new(store, &account, &FleetPlan::new("reports")).await?;
/// let client = Client::new(account)?.with_shared_limit(Arc::new(limits));
/// # drop(client);
/// # Ok(())
/// # }
/// ```
pub struct FleetLimits<S>(Arc<Inner<S>>);

struct Inner<S> {
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    /// The account as rows name it.
    account: String,
    /// This process as the store names it.
    owner: String,
    poll: Duration,
    minute: Allowance<S>,
    places: Places<S>,
    /// Held by the request of this process that asks the store: those that wait are served in the order in which they came.
    turn: tokio::sync::Mutex<()>,
    /// A request of this process has ended, or sending was resumed.
    landed: Notify,
    requests: AtomicU64,
    /// Whether the service has accepted the credentials of this process: of version 3, and of version 5.
    proven: [AtomicBool; 2],
    stopped: Mutex<LastStop>,
    /// Places of requests whose future was dropped while they were in flight, and when. They expire by themselves.
    abandoned: Mutex<Vec<(Moment, Place)>>,
    lease: Duration,
    on_wait: Option<Box<dyn Fn(LimitWait) + Send + Sync>>,
}

/// What the store said last of a stop, and when.
#[derive(Default)]
struct LastStop {
    asked: Option<Moment>,
    reason: Option<String>,
    /// A stop that the store has not confirmed yet.
    unshared: Option<String>,
}

/// Why a request waits for the limits that all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitWait {
    /// The requests of the last minute are used up.
    Minute,
    /// As many requests are in flight as may fail; or the service has not accepted the credentials yet, and another process tries
    /// them.
    InFlight,
}

impl LimitWait {
    /// One word, for telemetry.
    const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::InFlight => "in_flight",
        }
    }
}

/// Why nothing may be sent.
#[derive(Debug)]
pub(super) enum NotPermitted {
    Stopped(String),
    Store(StoreError),
}

impl From<StoreError> for NotPermitted {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

/// One request may be sent.
struct Permit<S> {
    limits: FleetLimits<S>,
    slot: Option<Slot>,
    place: Option<Place>,
    /// Which credentials it has: an index of `proven`.
    credentials: usize,
}

impl<S: IntentStore> FleetLimits<S> {
    /// The limits of this account over this store, as one more process: with its name, poll, lease, clock and limits.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn new(store: Arc<S>, account: &Account, plan: &FleetPlan) -> Result<Self, StoreError> {
        let owner = store.enlist(&plan.name).await?;
        Ok(Self::of(store, account.bound_identity(), owner, plan))
    }

    pub(super) fn of(store: Arc<S>, account: String, owner: String, plan: &FleetPlan) -> Self {
        let clock = Arc::clone(&plan.clock);
        Self(Arc::new(Inner {
            minute: Allowance::new(Arc::clone(&store), Arc::clone(&clock), &account, &owner, plan.per_minute),
            places: Places::new(Arc::clone(&store), Arc::clone(&clock), &account, plan.failures, plan.lease),
            store,
            clock,
            account,
            owner,
            poll: plan.poll,
            turn: tokio::sync::Mutex::default(),
            landed: Notify::new(),
            requests: AtomicU64::new(0),
            proven: Default::default(),
            stopped: Mutex::default(),
            abandoned: Mutex::default(),
            lease: plan.lease,
            on_wait: None,
        }))
    }

    /// Calls this each time a request begins to wait. Before the limits are shared with a client.
    #[must_use]
    pub fn on_wait(mut self, told: impl Fn(LimitWait) + Send + Sync + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.on_wait = Some(Box::new(told));
        }
        self
    }

    /// The account as rows name it: identity and base address.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.0.account
    }

    /// Why nothing may be sent: asked of the store at most once a poll, whatever the number of requests.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn stopped(&self) -> Result<Option<String>, StoreError> {
        let now = self.0.clock.now();
        let unshared = {
            let last = self.lock();
            if last.asked.is_some_and(|asked| now.since(asked) < self.0.poll) {
                return Ok(last.reason.clone());
            }
            last.unshared.clone()
        };
        if let Some(reason) = unshared {
            self.stop(&reason).await;
        }
        self.stopped_now().await
    }

    /// Lets all processes send again, once the credentials are correct. They notice within a poll, and the first one tries the
    /// credentials alone. A client that was refused itself needs [`Client::resume_sending`](pg_hyper::Client::resume_sending) or a restart
    /// with the new credentials.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn resume_sending(&self) -> Result<(), StoreError> {
        self.0.store.stop(&self.0.account, None).await?;
        *self.lock() = LastStop { asked: Some(self.0.clock.now()), ..LastStop::default() };
        self.unproven();
        self.0.landed.notify_waiters();
        Ok(())
    }

    /// Gives back what this process has reserved of the limits: before it ends, so that others need not wait for it.
    pub async fn close(&self) {
        self.0.minute.close().await;
        self.release_abandoned().await;
    }

    /// Gives back the places of requests that this process waits for no more.
    pub(super) async fn release_abandoned(&self) {
        let abandoned = std::mem::take(&mut *self.0.abandoned.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, place) in abandoned {
            self.0.places.release(&place).await;
        }
    }

    /// Stops all processes.
    pub(super) async fn stop(&self, reason: &str) {
        let (asked, reason) = (Some(self.0.clock.now()), reason.to_owned());
        self.unproven();
        let shared = self.0.store.stop(&self.0.account, Some(&reason)).await;
        let unshared = shared.as_ref().err().map(|_| reason.clone());
        *self.lock() = LastStop { asked, reason: Some(reason), unshared };
        if let Err(error) = shared {
            tracing::warn!(target: "pg.fleet", %error, "a stop was not shared with the other processes; it is shared at the next poll");
        }
        self.0.landed.notify_waiters();
    }

    async fn stopped_now(&self) -> Result<Option<String>, StoreError> {
        let reason = self.0.store.stopped(&self.0.account).await?;
        let mut last = self.lock();
        last.asked = Some(self.0.clock.now());
        last.reason = reason.or_else(|| last.unshared.clone());
        let reason = last.reason.clone();
        drop(last);
        if reason.is_some() {
            self.unproven();
        }
        Ok(reason)
    }

    async fn check(&self) -> Result<(), NotPermitted> {
        self.stopped().await?.map_or(Ok(()), |reason| Err(NotPermitted::Stopped(reason)))
    }

    /// Waits until one request may be sent.
    pub(super) async fn permit_one(&self, service: &ServiceInfo) -> Result<Box<dyn SharedPermit>, NotPermitted> {
        let credentials = usize::from(service.version == 5);
        let name = format!("{} request {}", self.0.owner, self.0.requests.fetch_add(1, Ordering::Relaxed));
        let _turn = self.0.turn.lock().await;
        let mut waits = None;
        let began = self.0.clock.now();
        loop {
            self.check().await?;
            // A block first: a request that waits for one must not hold a place meanwhile.
            if !self.0.minute.is_ready().await? {
                self.wait(LimitWait::Minute, &mut waits).await;
                continue;
            }
            let is_proven = self.0.proven[credentials].load(Ordering::SeqCst);
            let Some(place) = self.0.places.take(&name, is_proven).await? else {
                self.wait(LimitWait::InFlight, &mut waits).await;
                continue;
            };
            // The request that had the place before may have been refused since the last poll.
            if let Some(place) = &place
                && let Some(reason) = self.stopped_now().await?
            {
                self.0.places.release(place).await;
                return Err(NotPermitted::Stopped(reason));
            }
            match self.0.minute.take() {
                Some(slot) => {
                    if let Some(why) = waits {
                        telemetry::waited(why.name(), self.0.clock.now().since(began));
                    }
                    return Ok(Box::new(Permit { limits: self.clone(), slot, place, credentials }));
                }
                // The block was used up, or too old, when the place was free.
                None => self.release(place.as_ref()).await,
            }
        }
    }

    async fn release(&self, place: Option<&Place>) {
        if let Some(place) = place {
            self.0.places.release(place).await;
        }
    }

    /// `told`: what the request waits for already.
    async fn wait(&self, why: LimitWait, told: &mut Option<LimitWait>) {
        if *told != Some(why)
            && let Some(on_wait) = &self.0.on_wait
        {
            on_wait(why);
        }
        *told = Some(why);
        let pause = self.0.poll.min(Duration::from_secs(1));
        tokio::select! {
            biased;
            () = self.0.landed.notified() => {}
            () = self.0.clock.sleep_until(self.0.clock.now().after(pause)) => {}
        }
    }

    fn unproven(&self) {
        for proven in &self.0.proven {
            proven.store(false, Ordering::SeqCst);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, LastStop> {
        self.0.stopped.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: IntentStore> SharedLimit for FleetLimits<S> {
    fn permit<'a>(&'a self, service: &'a ServiceInfo) -> LimitFuture<'a, Result<Box<dyn SharedPermit>, LimitError>> {
        Box::pin(async move {
            self.permit_one(service).await.map_err(|why| match why {
                NotPermitted::Stopped(reason) => LimitError::Stopped(reason),
                NotPermitted::Store(error) => LimitError::Unavailable(Box::new(error)),
            })
        })
    }
}

impl<S: IntentStore> SharedPermit for Permit<S> {
    fn keep(&self) -> LimitFuture<'_, ()> {
        match &self.place {
            Some(place) => Box::pin(self.limits.0.places.keep(place)),
            None => Box::pin(std::future::pending()),
        }
    }

    fn landed(mut self: Box<Self>, end: RequestEnd) -> LimitFuture<'static, ()> {
        Box::pin(async move {
            let (slot, place, credentials) = (self.slot.take(), self.place.take(), self.credentials);
            let limits = self.limits.clone();
            let inner = &limits.0;
            match &end {
                RequestEnd::Accepted => inner.proven[credentials].store(true, Ordering::SeqCst),
                // Each request that takes a place after this reads the stop.
                RequestEnd::Refused(reason) => {
                    telemetry::refused();
                    limits.stop(reason).await;
                }
                _ => {}
            }
            match (&place, &end) {
                (Some(place), RequestEnd::Refused(_)) => inner.places.burn(place).await,
                (place, _) => limits.release(place.as_ref()).await,
            }
            if let Some(slot) = slot {
                inner.minute.landed(slot, &end).await;
            }
            inner.landed.notify_waiters();
        })
    }
}

impl<S> Drop for Permit<S> {
    fn drop(&mut self) {
        let Some(place) = self.place.take() else { return };
        let inner = &self.limits.0;
        let now = inner.clock.now();
        let mut abandoned = inner.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        abandoned.retain(|(at, _)| now.since(*at) < inner.lease);
        abandoned.push((now, place));
    }
}

impl<S> Clone for FleetLimits<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> std::fmt::Debug for FleetLimits<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FleetLimits").field("account", &self.0.account).finish_non_exhaustive()
    }
}
