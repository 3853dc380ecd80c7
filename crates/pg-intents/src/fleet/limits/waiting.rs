//! The requests of this process that wait for a place, and the places that its other requests hand over to them.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pg_hyper::Clock;

use super::{super::stopwatch::Stopwatch, places::Place};
use crate::telemetry;

/// Why a request waits for the limits that all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitWait {
    /// The requests of the last minute are used up.
    Minute,
    /// The maximum number of requests is in flight, or the service has not accepted the credentials yet and another process tries them.
    InFlight,
}

impl LimitWait {
    /// Returns one word, for telemetry.
    const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::InFlight => "in_flight",
        }
    }
}

/// The wait of one request for the limits.
pub(super) struct Wait {
    clock: Arc<dyn Clock>,
    began: Stopwatch,
    /// How long a wait may be before a log line reports it.
    patience: Duration,
    why: Option<LimitWait>,
    is_logged: bool,
}

impl Wait {
    pub(super) fn begin(clock: &Arc<dyn Clock>, patience: Duration) -> Self {
        let (began, clock) = (Stopwatch::start(&**clock), Arc::clone(clock));
        Self { clock, began, patience, why: None, is_logged: false }
    }

    /// Records why the request waits now. Returns whether that is another reason than before.
    pub(super) fn is_news(&mut self, why: LimitWait) -> bool {
        let passed = self.began.passed(&*self.clock);
        if !self.is_logged && passed >= self.patience {
            self.is_logged = true;
            tracing::warn!(target: "pg.fleet", limit = why.name(), seconds = passed.as_secs(), "a request still waits for a limit that all processes share");
        }
        self.why.replace(why) != Some(why)
    }

    /// Reports how long the request has waited.
    pub(super) fn end(&self) {
        if let Some(why) = self.why {
            telemetry::waited(why.name(), self.began.passed(&*self.clock));
        }
    }
}

#[derive(Default)]
pub(super) struct Waiting(Mutex<State>);

#[derive(Default)]
struct State {
    requests: u32,
    places: Vec<Place>,
}

impl Waiting {
    /// Counts one more waiting request.
    pub(super) fn begin(&self) {
        self.lock().requests += 1;
    }

    /// Removes one waiting request from the count, and returns places that no request needs any more.
    #[must_use]
    pub(super) fn end(&self) -> Vec<Place> {
        let mut state = self.lock();
        state.requests = state.requests.saturating_sub(1);
        if state.requests == 0 { std::mem::take(&mut state.places) } else { Vec::new() }
    }

    /// Leaves a place for a waiting request; returns the place if no request waits.
    pub(super) fn hand_over(&self, place: Place) -> Result<(), Place> {
        let mut state = self.lock();
        if state.requests == 0 {
            return Err(place);
        }
        state.places.push(place.hand_over());
        Ok(())
    }

    /// Takes a place that was handed over.
    pub(super) fn take(&self, is_proven: bool) -> Option<Place> {
        let mut state = self.lock();
        let at = state.places.iter().position(|place| place.suits(is_proven))?;
        Some(state.places.swap_remove(at))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
