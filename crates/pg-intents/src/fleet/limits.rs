//! The limits that all processes of an account share: requests per minute, requests in flight, and none after wrong credentials.

use std::{
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use pg_hyper::{
    Clock, LimitError, LimitFuture, RequestEnd, SharedLimit, SharedPermit,
    proto::{Account, model::method::ServiceInfo},
};
use tokio::sync::{Notify, futures::Notified};

use self::{
    allowance::{Allowance, Slot},
    number::Number,
    places::{Place, Places},
    waiting::{Wait, Waiting},
};
use super::{FleetPlan, accounts, pauses::Pauses, stopwatch::Stopwatch};
use crate::{FleetStartError, IntentStore, StoreError, telemetry};

mod allowance;
mod number;
mod places;
mod waiting;

pub use waiting::LimitWait;

/// The longest delay between two queries for a place that another process has. Most requests end within a second.
const PLACE_PAUSE: Duration = Duration::from_millis(250);

/// The limits of one account, which all processes that use one store share: fleets, and every other program with the account.
///
/// - At most [`FleetPlan::per_minute`] requests in any 60 seconds.
/// - At most [`FleetPlan::failures`] requests with invalid credentials. At most this number of requests is in flight,
///   and each request that the service refuses for its credentials lowers the number by one for a day.
/// - No request after the service has refused the credentials, until [`resume_sending`](Self::resume_sending).
///
/// A [`Fleet`](crate::Fleet) already has them. Set them in the client of another program:
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
    /// The account's name in rows.
    account: String,
    /// This process's name in the store.
    owner: String,
    poll: Duration,
    number: Number<S>,
    minute: Allowance<S>,
    places: Places<S>,
    /// The requests of this process that do not have a place yet, and the places that are handed over to them.
    waiting: Waiting,
    /// The lock for the request of this process that queries the store. Waiting requests get it in the order of arrival.
    turn: tokio::sync::Mutex<()>,
    /// Notifies when a request of this process has ended, or sending was resumed.
    landed: Notify,
    requests: AtomicU64,
    /// Whether the service has accepted the credentials of this process: of version 3, and of version 5.
    proven: [AtomicBool; 2],
    stopped: Mutex<LastStop>,
    /// The places of requests whose futures were dropped, and when. These places expire by themselves.
    abandoned: Mutex<Vec<(Stopwatch, Place)>>,
    lease: Duration,
    patience: Duration,
    on_wait: Option<Box<dyn Fn(LimitWait) + Send + Sync>>,
}

/// The last known stop in the store, and when it was read.
#[derive(Default)]
struct LastStop {
    asked: Option<Stopwatch>,
    reason: Option<String>,
    /// A stop that the store has not confirmed yet.
    unshared: Option<String>,
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

/// A request that waits for its permit, until this value is dropped.
struct Waiter<'a, S> {
    limits: &'a FleetLimits<S>,
    waits: bool,
}

/// One request may be sent.
struct Permit<S> {
    limits: FleetLimits<S>,
    slot: Option<Slot>,
    place: Option<Place>,
    /// Its credentials: an index into `proven`.
    credentials: usize,
}

impl<S: IntentStore> FleetLimits<S> {
    /// Joins the limits of this account in this store as one more process. It uses the plan's name, poll interval,
    /// lease, clock, limits and [`FleetPlan::stored_as`]. The account needs the name that it has in the fleet.
    ///
    /// # Errors
    /// If the account has no name, the plan is that of another account, other processes have another [`FleetPlan::per_minute`], or the
    /// store does not answer.
    pub async fn new(store: Arc<S>, account: &Account, plan: &FleetPlan) -> Result<Self, FleetStartError> {
        let (account, owner) = (accounts::account_in_rows(account, plan)?, store.enlist(&plan.name).await?);
        let limits = Self::of(store, account, owner, plan);
        match limits.0.number.name().await? {
            true => Ok(limits),
            false => Err(FleetStartError::OtherLimit { per_minute: plan.per_minute }),
        }
    }

    pub(super) fn of(store: Arc<S>, account: String, owner: String, plan: &FleetPlan) -> Self {
        let clock = Arc::clone(&plan.clock);
        Self(Arc::new(Inner {
            number: Number::new(Arc::clone(&store), &account, plan),
            minute: Allowance::new(Arc::clone(&store), &account, &owner, plan),
            places: Places::new(Arc::clone(&store), Arc::clone(&clock), &account, plan.failures, plan.lease),
            store,
            clock,
            account,
            owner,
            poll: plan.poll,
            waiting: Waiting::default(),
            turn: tokio::sync::Mutex::default(),
            landed: Notify::new(),
            requests: AtomicU64::new(0),
            proven: Default::default(),
            stopped: Mutex::default(),
            abandoned: Mutex::default(),
            lease: plan.lease,
            patience: plan.patience,
            on_wait: None,
        }))
    }

    /// Sets a function that is called each time a request begins to wait. Set it before a client shares the limits.
    #[must_use]
    pub fn on_wait(mut self, told: impl Fn(LimitWait) + Send + Sync + 'static) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.on_wait = Some(Box::new(told));
        }
        self
    }

    /// Returns the account's name in rows: identity and base address.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.0.account
    }

    /// Returns why nothing may be sent. The store is queried at most once per poll interval, whatever the number of
    /// requests.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn stopped(&self) -> Result<Option<String>, StoreError> {
        let unshared = {
            let last = self.lock();
            if last.asked.is_some_and(|asked| asked.passed(&*self.0.clock) < self.0.poll) {
                return Ok(last.reason.clone());
            }
            last.unshared.clone()
        };
        if let Some(reason) = unshared {
            self.stop(&reason).await;
        }
        self.0.places.record().await;
        self.0.number.name_again().await?;
        self.stopped_now().await
    }

    /// Lets all processes send again. Call it when the credentials are correct. Other processes notice within a poll
    /// interval, and only the first of them tries the credentials. A client that was refused itself needs
    /// [`Client::resume_sending`](pg_hyper::Client::resume_sending) or a restart with the new credentials.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn resume_sending(&self) -> Result<(), StoreError> {
        self.0.places.record().await;
        self.0.store.stop(&self.0.account, None).await?;
        *self.lock() = LastStop { asked: Some(self.0.now()), ..LastStop::default() };
        self.unproven();
        self.0.landed.notify_waiters();
        Ok(())
    }

    /// Gives back this process's reserved share of the limits. Call it before the process ends, so that other processes
    /// need not wait for the share.
    pub async fn close(&self) {
        self.0.minute.close().await;
        self.0.places.record().await;
        self.release_abandoned().await;
    }

    /// Gives back the places of requests for which this process no longer waits.
    pub(super) async fn release_abandoned(&self) {
        let abandoned = std::mem::take(&mut *self.0.abandoned.lock().unwrap_or_else(PoisonError::into_inner));
        for (_, place) in abandoned {
            self.0.places.release(&place).await;
        }
    }

    /// Stops all processes.
    pub(super) async fn stop(&self, reason: &str) {
        let (asked, reason) = (Some(self.0.now()), Some(reason.to_owned()));
        self.unproven();
        // If the caller's future is dropped meanwhile, the stop is shared at the next poll.
        *self.lock() = LastStop { asked, reason: reason.clone(), unshared: reason.clone() };
        match self.0.store.stop(&self.0.account, reason.as_deref()).await {
            Ok(()) => self.lock().unshared = None,
            Err(error) => {
                tracing::warn!(target: "pg.fleet", %error, "a stop was not shared with the other processes; it is shared at the next poll");
            }
        }
        self.0.landed.notify_waiters();
    }

    async fn stopped_now(&self) -> Result<Option<String>, StoreError> {
        let reason = self.0.store.stopped(&self.0.account).await?;
        let mut last = self.lock();
        last.asked = Some(self.0.now());
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
        let waiter = Waiter::of(self);
        let permit = self.permit_in_turn(service).await;
        for place in waiter.end() {
            self.0.places.release(&place).await;
        }
        permit
    }

    async fn permit_in_turn(&self, service: &ServiceInfo) -> Result<Box<dyn SharedPermit>, NotPermitted> {
        let credentials = usize::from(service.version == 5);
        let name = format!("{} request {}", self.0.owner, self.0.requests.fetch_add(1, Ordering::Relaxed));
        let _turn = self.0.turn.lock().await;
        let mut waits = Wait::begin(&self.0.clock, self.0.patience);
        let mut pauses = Pauses::up_to(PLACE_PAUSE);
        loop {
            // From here on, the end of no request is missed.
            let mut landed = pin!(self.0.landed.notified());
            landed.as_mut().enable();
            self.check().await?;
            // The block comes first: a request that waits for a block must not hold a place meanwhile.
            if !self.0.minute.is_ready().await? {
                let pause = self.0.poll.min(Duration::from_secs(1));
                self.wait(LimitWait::Minute, &mut waits, landed, pause).await;
                continue;
            }
            let is_proven = self.0.proven[credentials].load(Ordering::SeqCst);
            let handed_over = self.handed_over(is_proven).await;
            let is_new = handed_over.is_none();
            let Some(place) = (match handed_over {
                Some(place) => Some(Some(place)),
                None => self.0.places.take(&name, is_proven).await?,
            }) else {
                self.wait(LimitWait::InFlight, &mut waits, landed, self.0.poll.min(pauses.next())).await;
                continue;
            };
            // The request that had the place before may have been refused since the last poll. If it were a request of
            // this process, the process would know.
            if is_new
                && let Some(place) = &place
                && let Some(reason) = self.stopped_now().await?
            {
                self.0.places.release(place).await;
                return Err(NotPermitted::Stopped(reason));
            }
            match self.0.minute.take() {
                Some(slot) => {
                    waits.end();
                    return Ok(Box::new(Permit { limits: self.clone(), slot, place, credentials }));
                }
                // By the time that the place became free, the block was used up or too old.
                None => self.release(place.as_ref()).await,
            }
        }
    }

    /// Gives a place to a waiting request of this process, or back to the store. Returns whether the place is now for
    /// other processes, because this process has handed it over for long enough.
    async fn pass_on(&self, place: Place) -> bool {
        let may_keep = self.0.places.may_be_handed_over(&place);
        let is_for_others = !may_keep && place.was_handed_over();
        let kept = if may_keep { self.0.waiting.hand_over(place) } else { Err(place) };
        match kept {
            Ok(()) => self.0.landed.notify_waiters(),
            Err(place) => self.0.places.release(&place).await,
        }
        is_for_others
    }

    /// Takes a place that an earlier request of this process has left.
    async fn handed_over(&self, is_proven: bool) -> Option<Place> {
        loop {
            let place = self.0.waiting.take(is_proven)?;
            if self.0.places.may_be_handed_over(&place) {
                return Some(place);
            }
            self.0.places.release(&place).await;
        }
    }

    async fn release(&self, place: Option<&Place>) {
        if let Some(place) = place {
            self.0.places.release(place).await;
        }
    }

    /// Waits until a request of this process ends, or for this duration.
    async fn wait(&self, why: LimitWait, waits: &mut Wait, landed: Pin<&mut Notified<'_>>, pause: Duration) {
        if waits.is_news(why)
            && let Some(on_wait) = &self.0.on_wait
        {
            on_wait(why);
        }
        tokio::select! {
            biased;
            () = landed => {}
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
                // Every request that takes a place after this reads the stop.
                RequestEnd::Refused(reason) => {
                    telemetry::refused();
                    place.iter().for_each(|place| inner.places.has_failed(place));
                    limits.stop(&format!("{reason}; the refused process is {}", inner.owner)).await;
                }
                _ => {}
            }
            let mut is_for_others = false;
            match (place, &end) {
                (Some(place), RequestEnd::Refused(_)) => inner.places.burn(place).await,
                (Some(place), RequestEnd::Accepted | RequestEnd::Answered | RequestEnd::NotSent) => {
                    is_for_others = limits.pass_on(place).await;
                }
                (place, _) => limits.release(place.as_ref()).await,
            }
            if let Some(slot) = slot {
                inner.minute.landed(slot, &end).await;
            }
            // Otherwise a request of this process would always get the place before other processes.
            if !is_for_others {
                inner.landed.notify_waiters();
            }
        })
    }
}

impl<S> Drop for Permit<S> {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            self.limits.abandon(place);
        }
    }
}

impl<'a, S> Waiter<'a, S> {
    fn of(limits: &'a FleetLimits<S>) -> Self {
        limits.0.waiting.begin();
        Self { limits, waits: true }
    }

    /// Ends the wait, and gives back places that no request of this process needs now.
    #[must_use]
    fn end(mut self) -> Vec<Place> {
        self.waits = false;
        self.limits.0.waiting.end()
    }
}

impl<S> Drop for Waiter<'_, S> {
    fn drop(&mut self) {
        if self.waits {
            for place in self.limits.0.waiting.end() {
                self.limits.abandon(place);
            }
        }
    }
}

impl<S> Inner<S> {
    fn now(&self) -> Stopwatch {
        Stopwatch::start(&*self.clock)
    }
}

impl<S> FleetLimits<S> {
    /// Keeps a place until its lease expires.
    fn abandon(&self, place: Place) {
        let inner = &self.0;
        let mut abandoned = inner.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        abandoned.retain(|(at, _)| at.passed(&*inner.clock) < inner.lease);
        abandoned.push((inner.now(), place));
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
