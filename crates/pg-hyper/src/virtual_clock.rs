//! A clock for tests: a wait ends at once and advances the time.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use pg_proto::machine::Moment;

use crate::clock::{Clock, Pending};

/// A clock that stands still until a machine waits, and then advances to the end of the wait. Clones share it.
///
/// No wait takes real time, so a test of a lost reply ends in milliseconds. With [`shared`](Self::shared) the client
/// and an in-process sandbox have the same clock, so that expiries of the service and waits of a machine happen in the
/// right order:
///
/// ```ignore
/// let clock = VirtualClock::shared(sandbox.clone(), InProcess::unix_time, InProcess::advance);
/// let client = Client::with_transport(account, TowerTransport::new(sandbox.clone())).clock(clock).seed(1);
/// ```
///
/// Every wait ends at once, including a wait for a person: a `select!` between a customer's return and
/// [`Client::sleep_until`](crate::Client::sleep_until) times out. Report the customer's return to the machine instead.
#[derive(Clone)]
pub struct VirtualClock(Arc<Time>);

struct Time {
    now: Box<dyn Fn() -> Duration + Send + Sync>,
    advance: Box<dyn Fn(Duration) + Send + Sync>,
    /// Two concurrent waits must not both advance the clock.
    turn: Mutex<()>,
}

impl VirtualClock {
    /// Creates a clock that shows this moment.
    #[must_use]
    pub fn at(moment: Moment) -> Self {
        let shown = Mutex::new(Duration::from_millis(moment.millis()));
        let read = |shown: &Mutex<Duration>| *shown.lock().unwrap_or_else(PoisonError::into_inner);
        let advance = |shown: &Mutex<Duration>, by: Duration| {
            let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
            *shown = shown.saturating_add(by);
        };
        Self::shared(Arc::new(shown), move |shown| read(shown), move |shown, by| advance(shown, by))
    }

    /// Creates a clock that follows another clock, such as a sandbox's: `now` returns the time since
    /// 1970-01-01T00:00:00Z, and `advance` moves the clock forward. After `advance(d)`, `now` must be later by `d`, in
    /// whole milliseconds.
    pub fn shared<H: Clone + Send + Sync + 'static>(
        held: H,
        now: impl Fn(&H) -> Duration + Send + Sync + 'static,
        advance: impl Fn(&H, Duration) + Send + Sync + 'static,
    ) -> Self {
        let other = held.clone();
        Self(Arc::new(Time {
            now: Box::new(move || now(&held)),
            advance: Box::new(move |by| advance(&other, by)),
            turn: Mutex::new(()),
        }))
    }

    /// Moves the clock forward to this moment. An earlier moment changes nothing.
    pub fn leap(&self, moment: Moment) {
        let _turn = self.0.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let left = moment.since(self.now());
        if !left.is_zero() {
            (self.0.advance)(left);
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Moment {
        Moment::default().after((self.0.now)())
    }

    fn sleep_until(&self, moment: Moment) -> Pending<()> {
        let clock = self.clone();
        // Advances only when polled: a wait that is dropped before its first poll does not advance the clock.
        Box::pin(async move { clock.leap(moment) })
    }
}

impl fmt::Debug for VirtualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("VirtualClock").field(&self.now()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn after_a_wait_time_has_advanced() {
        let start = Moment::from_millis(1_777_888_800_000);
        let clock = VirtualClock::at(start);
        let clone = clock.clone();
        let later = start.after(Duration::from_secs(86_400));
        let waiting = clone.sleep_until(later);
        assert_eq!(clock.now(), start, "not polled yet");
        waiting.await;
        assert_eq!(clock.now(), later);
        clone.sleep_until(start).await;
        assert_eq!(clock.now(), later);
    }

    #[test]
    fn threads_waiting_for_a_moment_reach_it() {
        let start = Moment::from_millis(1_777_888_800_000);
        let clock = VirtualClock::at(start);
        let later = start.after(Duration::from_secs(60));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| clock.leap(later));
            }
        });
        assert_eq!(clock.now(), later);
    }
}
