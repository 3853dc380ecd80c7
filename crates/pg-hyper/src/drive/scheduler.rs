//! What all machines of a client share: the clock, the dice, and the throttle of its account.

use std::{
    fmt,
    future::poll_fn,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
};

use bytes::Bytes;
use http::Response;
use pg_model::method::ServiceInfo;
use pg_proto::machine::{
    Moment,
    throttle::{AccountThrottle, Permit, StopReason, Throttle, ThrottleLimits, Ticket},
};
use tokio::sync::Notify;

use super::{Clock, keeper::Keeper, random::Dice, store::Store};
use crate::Error;

/// Which of an account's two sets of credentials a request bears. Each is throttled for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CredentialSet {
    /// Version 3.
    Gateway,
    /// Version 5.
    Enterprise,
}

/// The clock, the dice and the throttles.
pub(crate) struct RequestScheduler {
    clock: Arc<dyn Clock>,
    dice: Arc<Dice>,
    limits: ThrottleLimits,
    throttle: Mutex<AccountThrottle>,
    keeper: Option<Keeper>,
    /// Something happened that those who wait may want to know: a request came to its end, or nothing more may be sent.
    landed: Notify,
}

/// A request that may be sent. When it is dropped before it was [answered](Self::answered), the throttle hears of that.
pub(super) struct Admission {
    scheduler: Arc<RequestScheduler>,
    credential_set: CredentialSet,
    ticket: Option<Ticket>,
    sent: bool,
}

impl CredentialSet {
    /// Those of a service, by its version.
    pub(super) const fn of(service: &ServiceInfo) -> Self {
        if service.version == 5 { Self::Enterprise } else { Self::Gateway }
    }
}

impl RequestScheduler {
    pub(crate) fn of(
        clock: Arc<dyn Clock>,
        dice: Dice,
        limits: ThrottleLimits,
        throttle: AccountThrottle,
        store: Option<Store>,
    ) -> Self {
        Self {
            clock,
            dice: Arc::new(dice),
            limits,
            throttle: Mutex::new(throttle),
            keeper: store.map(Keeper::new),
            landed: Notify::new(),
        }
    }

    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    pub(super) fn random(&self) -> u64 {
        self.dice.number()
    }

    /// Ends at that time or later.
    pub(crate) fn sleep_until(&self, moment: Moment) -> impl Future<Output = ()> + Send + use<> {
        let clock = Arc::clone(&self.clock);
        async move {
            while clock.now() < moment {
                clock.sleep_until(moment).await;
            }
        }
    }

    /// Waits until a request may be sent.
    pub(super) async fn admit(self: &Arc<Self>, credential_set: CredentialSet) -> Result<Admission, StopReason> {
        loop {
            let mut landed = pin!(self.landed.notified());
            // From here on nothing that lands is missed.
            landed.as_mut().enable();
            let now = self.now();
            let permit = self.throttle(credential_set, |throttle| throttle.ask(now));
            match permit {
                Permit::Go(ticket) => {
                    let admission =
                        Admission { scheduler: Arc::clone(self), credential_set, ticket: Some(ticket), sent: false };
                    self.keep().await;
                    return Ok(admission);
                }
                Permit::Stopped(stop) => return Err(stop),
                Permit::WaitUntil(moment) => {
                    self.keep().await;
                    let mut until = pin!(self.sleep_until(moment));
                    poll_fn(|context| match landed.as_mut().poll(context) {
                        Poll::Ready(()) => Poll::Ready(()),
                        Poll::Pending => until.as_mut().poll(context),
                    })
                    .await;
                }
            }
        }
    }

    /// Whether a call that takes no ticket may be sent: not after the service has refused the credentials.
    pub(crate) fn permit_call(&self, service: &ServiceInfo) -> Result<(), StopReason> {
        self.throttle(CredentialSet::of(service), |throttle| throttle.stopped().cloned().map_or(Ok(()), Err))
    }

    /// A call that took no ticket has failed.
    pub(crate) async fn overhear(&self, service: &ServiceInfo, error: &Error) {
        if let Error::Refused(refused) = error {
            let now = self.now();
            self.throttle(CredentialSet::of(service), |throttle| throttle.observe_refusal(refused, now));
            self.landed.notify_waiters();
            self.keep().await;
        }
    }

    /// Stores the throttle, if somebody wants that. Before each request and after each reply, it is exact; before each wait,
    /// since a clock that was put right ends a closure that the next process would otherwise begin again.
    pub(super) async fn keep(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.keep(|| self.lock().save()).await;
        }
    }

    /// Why nothing is sent at present.
    pub(crate) fn stopped(&self) -> Option<StopReason> {
        [CredentialSet::Gateway, CredentialSet::Enterprise]
            .into_iter()
            .find_map(|credential_set| self.throttle(credential_set, |throttle| throttle.stopped().cloned()))
    }

    /// Somebody has looked at the credentials.
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
        // Nothing that holds the lock runs code of others.
        self.throttle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// Last look before it is sent. From here on it counts as sent.
    pub(super) fn depart(&mut self) -> Result<(), StopReason> {
        match self.scheduler.throttle(self.credential_set, |throttle| throttle.stopped().cloned()) {
            Some(stop) => Err(stop),
            None => {
                self.sent = true;
                Ok(())
            }
        }
    }

    pub(super) fn answered(mut self, response: &Response<Bytes>) {
        if let Some(ticket) = self.ticket.take() {
            let now = self.scheduler.now();
            self.scheduler.throttle(self.credential_set, |throttle| throttle.answered(ticket, response, now));
        }
    }

    /// It turned out that it never left.
    pub(super) fn unsent(mut self) {
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
