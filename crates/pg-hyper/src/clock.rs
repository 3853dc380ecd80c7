//! The clock of the drivers. It is the only clock of this crate except for deadlines.

use std::{
    pin::Pin,
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use pg_proto::machine::Moment;
use tokio::time::Instant;

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Returns the time, and waits.
///
/// A client uses the [`SystemClock`] unless [another clock](crate::ClientBuilder::clock) is set, for a test or for a
/// runtime other than tokio.
pub trait Clock: Send + Sync {
    /// Returns the wall-clock time: machines outlive processes.
    fn now(&self) -> Moment;

    /// Ends at that time or later, when [`now`](Self::now) has reached the time.
    fn sleep_until(&self, moment: Moment) -> Pending<()>;
}

/// The wall clock at the first call, plus the time that has passed for tokio since then.
///
/// So changes of the system clock do not disturb running machines, and tokio's paused time in tests applies to them.
/// Waiting needs tokio's timers.
#[derive(Debug, Default)]
pub struct SystemClock {
    start: OnceLock<(Moment, Instant)>,
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let (wall, start) = self.start.get_or_init(start);
        wall.after(passed(*start))
    }

    fn sleep_until(&self, moment: Moment) -> Pending<()> {
        let left = moment.since(self.now());
        // Rounded up: a timer that counts milliseconds must not fire early.
        Box::pin(sleep(left + Duration::from_millis(1)))
    }
}

#[expect(clippy::disallowed_methods, reason = "the driver is where time comes in")]
fn start() -> (Moment, Instant) {
    let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (Moment::default().after(since_1970), Instant::now())
}

#[expect(clippy::disallowed_methods, reason = "the driver is where time comes in")]
fn passed(since: Instant) -> Duration {
    Instant::now().saturating_duration_since(since)
}

#[expect(clippy::disallowed_methods, reason = "the driver waits, so that machines need not")]
async fn sleep(pause: Duration) {
    tokio::time::sleep(pause).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_clock_starts_at_the_wall_clock_and_follows_tokios_time() {
        let clock = SystemClock::default();
        let start = clock.now();
        assert!(start > Moment::from_millis(1_700_000_000_000), "{start:?}");
        let later = start.after(Duration::from_secs(86_400));
        clock.sleep_until(later).await;
        assert!(clock.now() >= later && clock.now().since(later) < Duration::from_secs(1));
        clock.sleep_until(start).await;
    }
}
