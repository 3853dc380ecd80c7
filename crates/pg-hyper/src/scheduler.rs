//! Shared by all machines and calls of a client: the clock, the random numbers, and the throttle of its account.

mod keeper;

use std::{
    fmt,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use http::Response;
use pg_model::method::ServiceInfo;
use pg_proto::{
    ReplyError,
    machine::{
        Moment,
        throttle::{AccountThrottle, CredentialCheck, Permit, StopReason, Throttle, ThrottleLimits, Ticket},
    },
};
use tokio::sync::Notify;

use self::keeper::Keeper;
use crate::{
    Clock, DriveError, Error,
    random::Dice,
    shared_limit::{RequestEnd, SharedLimit, SharedPass, or_else_at},
    store::Store,
};

/// How long a request or its reply waits for the throttle to be saved.
const LONGEST_SAVE: Duration = Duration::from_secs(5);

/// When to try again a call that the shared limit has delayed for too long.
const SOON: Duration = Duration::from_secs(1);

/// The set of an account's credentials that a request uses. Each has its own throttle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialSet {
    /// Version 3.
    Gateway,
    /// Version 5.
    Enterprise,
}

/// The clock, the random numbers and the throttles.
pub(crate) struct RequestScheduler {
    clock: Arc<dyn Clock>,
    dice: Arc<Dice>,
    limits: ThrottleLimits,
    /// How long a call waits for the throttle.
    longest_wait: Duration,
    throttle: Mutex<AccountThrottle>,
    keeper: Option<Keeper>,
    /// Wakes waiting requests when another request has ended, or sending was stopped or resumed.
    landed: Notify,
}

/// The permission to send one request. If it is dropped before the request was [answered](Self::answered), the throttle
/// counts the request as lost, or as unsent if it has not [departed](Self::depart).
pub(crate) struct Admission {
    scheduler: Arc<RequestScheduler>,
    credential_set: CredentialSet,
    ticket: Option<Ticket>,
    sent: bool,
}

/// Why a request may not be sent now.
enum NotAdmitted {
    Stopped(StopReason),
    /// Wait until this moment.
    Later(Moment),
}

impl CredentialSet {
    /// Returns the credentials of a service, by its version.
    pub(crate) const fn of(service: &ServiceInfo) -> Self {
        if service.version == 5 { Self::Enterprise } else { Self::Gateway }
    }
}

impl RequestScheduler {
    pub(crate) fn of(
        clock: Arc<dyn Clock>,
        dice: Dice,
        limits: ThrottleLimits,
        longest_wait: Duration,
        throttle: AccountThrottle,
        store: Option<Store>,
    ) -> Self {
        Self {
            clock,
            dice: Arc::new(dice),
            limits,
            longest_wait,
            throttle: Mutex::new(throttle),
            keeper: store.map(Keeper::new),
            landed: Notify::new(),
        }
    }

    pub(crate) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(crate) fn random(&self) -> u64 {
        self.dice.number()
    }

    /// Ends at this time or later, or earlier if the clock was set back: machines and throttle look at the time again.
    pub(crate) fn sleep_until(&self, moment: Moment) -> impl Future<Output = ()> + Send + use<> {
        let clock = Arc::clone(&self.clock);
        async move {
            if clock.now() < moment {
                clock.sleep_until(moment).await;
            }
        }
    }

    /// Waits without a limit until a machine may send a request.
    pub(crate) async fn admit(self: &Arc<Self>, credential_set: CredentialSet) -> Result<Admission, StopReason> {
        let ever = Moment::from_millis(u64::MAX);
        loop {
            match self.admit_by(credential_set, ever).await {
                Ok(admission) => return Ok(admission),
                Err(NotAdmitted::Stopped(stop)) => return Err(stop),
                Err(NotAdmitted::Later(_)) => {}
            }
        }
    }

    /// The same with a limit that other processes share. The client's own throttle is asked first, and again without
    /// waiting when the shared limit has permitted the request: an admission that is held during that wait could time
    /// out and count as a lost request.
    pub(crate) async fn admit_shared(
        self: &Arc<Self>,
        limit: &dyn SharedLimit,
        service: &ServiceInfo,
    ) -> Result<(Admission, SharedPass), DriveError> {
        let credential_set = CredentialSet::of(service);
        loop {
            self.admit(credential_set).await.map_err(DriveError::Stopped)?.unsent();
            let pass = SharedPass::of(limit.permit(service).await.map_err(DriveError::Limit)?);
            let admitted = self.ask(credential_set, self.now());
            if let Some(both) = self.kept_or_landed(admitted, pass).await.map_err(DriveError::Stopped)? {
                return Ok(both);
            }
        }
    }

    /// The same for a call, within the limit for calls.
    pub(crate) async fn admit_shared_call(
        self: &Arc<Self>,
        limit: &dyn SharedLimit,
        service: &ServiceInfo,
    ) -> Result<(Admission, SharedPass), Error> {
        let latest = self.now().after(self.longest_wait);
        loop {
            self.admit_call_by(service, latest).await?.unsent();
            let permitted = or_else_at(limit.permit(service), self.sleep_until(latest)).await;
            let permitted = permitted.ok_or(Error::Throttled { wait: SOON })?;
            let pass = SharedPass::of(permitted.map_err(Error::Limit)?);
            let admitted = self.ask(CredentialSet::of(service), self.now()).and_then(|mut admission| {
                admission.depart().map_err(NotAdmitted::Stopped)?;
                Ok(admission)
            });
            if let Some(both) = self.kept_or_landed(admitted, pass).await.map_err(Error::Stopped)? {
                return Ok(both);
            }
        }
    }

    /// Keeps an admission together with the permission of the shared limit. Without an admission, returns the
    /// permission to the shared limit; `None` if both may be requested again.
    async fn kept_or_landed(
        &self,
        admitted: Result<Admission, NotAdmitted>,
        pass: SharedPass,
    ) -> Result<Option<(Admission, SharedPass)>, StopReason> {
        match admitted {
            Ok(admission) => {
                self.keep().await;
                Ok(Some((admission, pass)))
            }
            Err(why) => {
                pass.landed(RequestEnd::NotSent).await;
                match why {
                    NotAdmitted::Stopped(stop) => Err(stop),
                    NotAdmitted::Later(_) => Ok(None),
                }
            }
        }
    }

    /// Waits until a call may be sent, within the limit for calls. A call that does not have to wait creates no future.
    pub(crate) async fn admit_call(self: &Arc<Self>, service: &ServiceInfo) -> Result<Admission, Error> {
        let mut admission = self.admit_call_by(service, self.now().after(self.longest_wait)).await?;
        admission.depart().map_err(Error::Stopped)?;
        Ok(admission)
    }

    async fn admit_call_by(self: &Arc<Self>, service: &ServiceInfo, latest: Moment) -> Result<Admission, Error> {
        let credential_set = CredentialSet::of(service);
        let admitted = match self.ask(credential_set, self.now()) {
            Ok(admission) if self.keeper.is_none() => Ok(admission),
            Ok(admission) => {
                Box::pin(self.keep()).await;
                Ok(admission)
            }
            Err(NotAdmitted::Later(_)) => Box::pin(self.admit_by(credential_set, latest)).await,
            stopped => stopped,
        };
        admitted.map_err(|why| match why {
            NotAdmitted::Stopped(stop) => Error::Stopped(stop),
            NotAdmitted::Later(moment) => Error::Throttled { wait: moment.since(self.now()) },
        })
    }

    fn ask(self: &Arc<Self>, credential_set: CredentialSet, now: Moment) -> Result<Admission, NotAdmitted> {
        match self.throttle(credential_set, |throttle| throttle.ask(now)) {
            Permit::Go(ticket) => {
                Ok(Admission { scheduler: Arc::clone(self), credential_set, ticket: Some(ticket), sent: false })
            }
            Permit::Stopped(stop) => Err(NotAdmitted::Stopped(stop)),
            Permit::WaitUntil(moment) => Err(NotAdmitted::Later(moment)),
        }
    }

    async fn admit_by(
        self: &Arc<Self>,
        credential_set: CredentialSet,
        latest: Moment,
    ) -> Result<Admission, NotAdmitted> {
        loop {
            let mut landed = pin!(self.landed.notified());
            // From here on, the end of every request is noticed.
            landed.as_mut().enable();
            match self.ask(credential_set, self.now()) {
                Ok(admission) => {
                    self.keep().await;
                    return Ok(admission);
                }
                Err(NotAdmitted::Later(moment)) if moment <= latest => {
                    self.keep().await;
                    let mut until = pin!(self.sleep_until(moment));
                    poll_fn(|context| match landed.as_mut().poll(context) {
                        Poll::Ready(()) => Poll::Ready(()),
                        Poll::Pending => until.as_mut().poll(context),
                    })
                    .await;
                }
                Err(why) => return Err(why),
            }
        }
    }

    /// Whether the throttle is saved.
    pub(crate) const fn stores(&self) -> bool {
        self.keeper.is_some()
    }

    /// Saves the throttle, if there is a store: before each request and after each reply, so that the state is exact.
    /// Also before each wait: if the clock was corrected, the next process must not start the same wait again.
    ///
    /// A save that takes too long stays pending, and the next one continues it.
    pub(crate) async fn keep(&self) {
        let Some(keeper) = &self.keeper else { return };
        let latest = self.now().after(LONGEST_SAVE);
        if or_else_at(keeper.keep(|| self.lock().save()), self.sleep_until(latest)).await.is_none() {
            tracing::warn!(target: "pg.drive", "the throttle was not saved within {} s", LONGEST_SAVE.as_secs());
        }
    }

    /// Returns why nothing is sent at present.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        let now = self.now();
        [CredentialSet::Gateway, CredentialSet::Enterprise]
            .into_iter()
            .find_map(|credential_set| self.throttle(credential_set, |throttle| throttle.stopped_at(now)))
    }

    /// Permits requests with refused credentials again.
    pub(crate) fn resume_sending(&self) {
        let now = self.now();
        for credential_set in [CredentialSet::Gateway, CredentialSet::Enterprise] {
            self.throttle(credential_set, |throttle| throttle.resume_sending(now));
        }
        self.landed.notify_waiters();
    }

    fn throttle<R>(&self, credential_set: CredentialSet, with: impl FnOnce(&mut Throttle) -> R) -> R {
        let mut throttle = self.lock();
        with(match credential_set {
            CredentialSet::Gateway => throttle.gateway(),
            CredentialSet::Enterprise => throttle.enterprise(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, AccountThrottle> {
        // No code of the caller runs under the lock.
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// Checks again that sending was not stopped. From here on, the request counts as sent.
    pub(crate) fn depart(&mut self) -> Result<(), StopReason> {
        match self.scheduler.throttle(self.credential_set, |throttle| throttle.stopped().cloned()) {
            Some(stop) => Err(stop),
            None => {
                self.sent = true;
                Ok(())
            }
        }
    }

    /// Returns what the reply says about the credentials.
    pub(crate) fn answered(mut self, response: &Response<Bytes>) -> CredentialCheck {
        let Some(ticket) = self.ticket.take() else { return CredentialCheck::Unknown };
        let now = self.scheduler.now();
        self.scheduler.throttle(self.credential_set, |throttle| throttle.answered(ticket, response, now))
    }

    /// Reports the reply to the request. Returns what it says about the credentials.
    pub(crate) fn answered_with<R>(mut self, body: &[u8], reply: &Result<R, ReplyError>) -> CredentialCheck {
        let Some(ticket) = self.ticket.take() else { return CredentialCheck::Unknown };
        let now = self.scheduler.now();
        self.scheduler.throttle(self.credential_set, |throttle| throttle.answered_with(ticket, body, reply, now))
    }

    /// Reports that the request was not sent.
    pub(crate) fn unsent(mut self) {
        self.sent = false;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let now = self.scheduler.now();
        if let Some(ticket) = self.ticket.take() {
            self.scheduler.throttle(self.credential_set, |throttle| match self.sent {
                true => throttle.lost(ticket, now),
                false => throttle.unsent(ticket),
            });
        }
        self.scheduler.landed.notify_waiters();
    }
}

impl fmt::Debug for RequestScheduler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestScheduler").field("limits", &self.limits).finish_non_exhaustive()
    }
}
