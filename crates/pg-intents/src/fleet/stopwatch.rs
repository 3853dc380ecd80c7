//! Lengths of time in this process.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use pg_hyper::{Clock, proto::machine::Moment};

use crate::telemetry;

/// Measures the time that has passed on two clocks, and returns the larger one: the wall clock may have been set back meanwhile, and
/// the other one may have stood still while the computer was suspended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stopwatch {
    wall: Moment,
    steady: Instant,
}

impl Stopwatch {
    pub(super) fn start(clock: &dyn Clock) -> Self {
        Self { wall: clock.now(), steady: telemetry::now() }
    }

    /// Returns the time since the start, by the clock with which it was started.
    pub(super) fn passed(&self, clock: &dyn Clock) -> Duration {
        clock.now().since(self.wall).max(telemetry::now().duration_since(self.steady))
    }
}

/// How long a caller waits.
#[derive(Clone)]
pub(super) struct Patience {
    clock: Arc<dyn Clock>,
    began: Stopwatch,
    length: Duration,
}

impl Patience {
    pub(super) fn begin(clock: &Arc<dyn Clock>, length: Duration) -> Self {
        Self { clock: Arc::clone(clock), began: Stopwatch::start(&**clock), length }
    }

    pub(super) fn is_over(&self) -> bool {
        self.left().is_zero()
    }

    /// Ends when it is over.
    pub(super) async fn over(&self) {
        loop {
            let left = self.left();
            if left.is_zero() {
                return;
            }
            self.clock.sleep_until(self.clock.now().after(left)).await;
            // The clock may have been set back, or let no time pass.
            tokio::task::yield_now().await;
        }
    }

    fn left(&self) -> Duration {
        self.length.saturating_sub(self.began.passed(&*self.clock))
    }
}

#[cfg(test)]
mod tests {
    use pg_hyper::VirtualClock;

    use super::*;

    #[test]
    fn time_passes_by_the_clock_that_shows_more_of_it() {
        let (clock, hour) = (VirtualClock::at(Moment::from_millis(1_777_888_800_000)), Duration::from_secs(3_600));
        let before = Stopwatch::start(&clock);
        clock.leap(clock.now().after(hour));
        assert!(before.passed(&clock) >= hour);
        // The wall clock was set back.
        let after = Stopwatch { wall: clock.now().after(hour), ..before };
        assert!(after.passed(&clock) < hour);
        let Some(steady) = before.steady.checked_sub(Duration::from_secs(8)) else { return };
        assert!(Stopwatch { steady, ..after }.passed(&clock) >= Duration::from_secs(8));
    }
}
