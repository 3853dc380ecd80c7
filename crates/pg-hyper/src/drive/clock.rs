//! The time that drivers go by: the only clock of this crate that decides anything but deadlines.

use std::{
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use pg_proto::machine::Moment;
use tokio::time::Instant;

use super::Pending;

/// Tells the time, and waits.
///
/// A client has the [`SystemClock`] unless it is given [another](crate::ClientBuilder::clock): of a test, or of a runtime that is
/// not tokio.
pub trait Clock: Send + Sync {
    /// What time it is. Machines outlive processes, so this is the time of the wall clock.
    fn now(&self) -> Moment;

    /// Ends at that time or later, when [`now`](Self::now) says so too.
    fn sleep_until(&self, moment: Moment) -> Pending<()>;
}

/// The wall clock when it was asked first, and since then the time that passed for tokio.
///
/// So clocks that are set do not disturb machines at work, and in a test tokio's paused time passes for them too. Waiting
/// needs tokio's timers.
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
        // Rounded up: a timer that counts milliseconds must not be back before its time.
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
    async fn it_begins_at_the_wall_clock_and_goes_on_with_tokios_time() {
        let clock = SystemClock::default();
        let start = clock.now();
        assert!(start > Moment::from_millis(1_700_000_000_000), "{start:?}");
        let later = start.after(Duration::from_secs(86_400));
        clock.sleep_until(later).await;
        assert!(clock.now() >= later && clock.now().since(later) < Duration::from_secs(1));
        clock.sleep_until(start).await;
    }
}
