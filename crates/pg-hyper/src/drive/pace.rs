//! What all machines of a client share: the clock, and the throttle of its account.

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
    throttle::{Limits, Permit, Stop, Throttle, Ticket},
};
use tokio::sync::Notify;

use super::{Clock, SystemClock};
use crate::Error;

/// Which of an account's two sets of credentials a request bears. Each is throttled for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Version 3.
    Gateway,
    /// Version 5.
    Enterprise,
}

/// The clock and the throttles.
pub(crate) struct Pace {
    clock: Arc<dyn Clock>,
    limits: Limits,
    throttles: [Mutex<Throttle>; 2],
    /// Something happened that those who wait may want to know: a request came to its end, or nothing more may be sent.
    landed: Notify,
}

/// A request that may be sent. When it is dropped before it was [answered](Self::answered), the throttle hears of that.
pub(super) struct Admission {
    pace: Arc<Pace>,
    lane: Lane,
    ticket: Option<Ticket>,
    sent: bool,
}

impl Lane {
    /// Every path of version 3 has it as a segment (spec 1 §4.1), none of version 5 does (spec 3 §9).
    pub(super) fn of(request: &http::Request<Bytes>) -> Self {
        if request.uri().path().split('/').any(|segment| segment == "v3") { Self::Gateway } else { Self::Enterprise }
    }
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self::with(Arc::new(SystemClock::default()), Limits::default())
    }

    fn with(clock: Arc<dyn Clock>, limits: Limits) -> Self {
        let throttle = || Mutex::new(Throttle::new(limits));
        Self { clock, limits, throttles: [throttle(), throttle()], landed: Notify::new() }
    }

    /// The same limits by another clock, with nothing sent yet.
    pub(crate) fn clock(&self, clock: Arc<dyn Clock>) -> Self {
        Self::with(clock, self.limits)
    }

    /// Other limits by the same clock, with nothing sent yet.
    pub(crate) fn limits(&self, limits: Limits) -> Self {
        Self::with(Arc::clone(&self.clock), limits)
    }

    pub(super) fn now(&self) -> Moment {
        self.clock.now()
    }

    /// Ends at that time or later.
    pub(crate) fn until(&self, moment: Moment) -> impl Future<Output = ()> + Send + use<> {
        let clock = Arc::clone(&self.clock);
        async move {
            while clock.now() < moment {
                clock.until(moment).await;
            }
        }
    }

    /// Waits until a request may be sent.
    pub(super) async fn admit(self: &Arc<Self>, lane: Lane) -> Result<Admission, Stop> {
        loop {
            let mut landed = pin!(self.landed.notified());
            // From here on nothing that lands is missed.
            landed.as_mut().enable();
            let permit = self.throttle(lane).ask(self.now());
            match permit {
                Permit::Go(ticket) => {
                    return Ok(Admission { pace: Arc::clone(self), lane, ticket: Some(ticket), sent: false });
                }
                Permit::Stopped(stop) => return Err(stop),
                Permit::WaitUntil(moment) => {
                    let mut until = pin!(self.until(moment));
                    poll_fn(|context| match landed.as_mut().poll(context) {
                        Poll::Ready(()) => Poll::Ready(()),
                        Poll::Pending => until.as_mut().poll(context),
                    })
                    .await;
                }
            }
        }
    }

    /// A call that took no ticket has failed.
    pub(crate) fn overhear(&self, service: &ServiceInfo, error: &Error) {
        if let Error::Refused(refused) = error {
            let lane = if service.version == 5 { Lane::Enterprise } else { Lane::Gateway };
            self.throttle(lane).overheard(refused, self.now());
            self.landed.notify_waiters();
        }
    }

    /// Why nothing is sent at present.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        [Lane::Gateway, Lane::Enterprise].into_iter().find_map(|lane| self.throttle(lane).stopped().cloned())
    }

    /// Somebody has looked at the credentials.
    pub(crate) fn resume_sending(&self) {
        for lane in [Lane::Gateway, Lane::Enterprise] {
            self.throttle(lane).resume_sending(self.now());
        }
        self.landed.notify_waiters();
    }

    fn throttle(&self, lane: Lane) -> MutexGuard<'_, Throttle> {
        // Nothing that holds the lock runs code of others.
        self.throttles[lane as usize].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Admission {
    /// Last look before it is sent. From here on it counts as sent.
    pub(super) fn depart(&mut self) -> Result<(), Stop> {
        match self.pace.throttle(self.lane).stopped().cloned() {
            Some(stop) => Err(stop),
            None => {
                self.sent = true;
                Ok(())
            }
        }
    }

    pub(super) fn answered(mut self, response: &Response<Bytes>) {
        if let Some(ticket) = self.ticket.take() {
            self.pace.throttle(self.lane).answered(ticket, response, self.pace.now());
        }
    }

    /// It turned out that it never left.
    pub(super) fn unsent(mut self) {
        self.sent = false;
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut throttle = self.pace.throttle(self.lane);
        match self.ticket.take() {
            Some(ticket) if self.sent => throttle.lost(ticket, self.pace.now()),
            Some(ticket) => throttle.unsent(ticket),
            None => {}
        }
        drop(throttle);
        self.pace.landed.notify_waiters();
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pace").field("limits", &self.limits).finish_non_exhaustive()
    }
}
