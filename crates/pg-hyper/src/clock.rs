//! The clock of the drivers. It is the only clock of this crate except for deadlines.

use std::{
    pin::Pin,
    sync::OnceLock,
    time::{Duration, Instant, SystemTime},
};

use pg_proto::machine::Moment;
use tokio::time;

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Returns the time, and waits.
///
/// A client uses the [`SystemClock`] unless [another clock](crate::ClientBuilder::clock) is set, for a test or for a
/// runtime other than tokio.
pub trait Clock: Send + Sync {
    /// Returns the wall-clock time: machines outlive processes.
    fn now(&self) -> Moment;

    /// Ends at that time or later, when [`now`](Self::now) has reached the time. If the clock is set back meanwhile, it
    /// may end after the time that was left at the beginning.
    fn sleep_until(&self, moment: Moment) -> Pending<()>;
}

/// The wall clock. It also advances while the computer is suspended, which timers do not see: a charge that was
/// interrupted for hours does not pay after its deadline. A wait never becomes longer because the clock is set back.
///
/// tokio's paused time in tests applies to it. Waiting needs tokio's timers.
#[derive(Debug, Default)]
pub struct SystemClock {
    start: OnceLock<Reading>,
}

/// How far the wall clock may be from the time that has passed before it counts as set. The clocks are not read at the
/// same instant, and the time between two moments should be the time that has passed.
const NOISE: Duration = Duration::from_secs(1);

/// How soon a wait notices that the wall clock was set, or that the computer was suspended.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

impl SystemClock {
    fn start(&self) -> Reading {
        *self.start.get_or_init(Reading::take)
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let start = self.start();
        Reading::take().moment(start)
    }

    fn sleep_until(&self, moment: Moment) -> Pending<()> {
        let start = self.start();
        Box::pin(sleep_until(moment, move || Reading::take().moment(start)))
    }
}

/// What the clocks show at one time.
#[derive(Clone, Copy, Debug)]
struct Reading {
    wall: SystemTime,
    /// Stands still while the computer is suspended.
    system: Instant,
    /// Differs from `system` if a test has paused tokio's time.
    tokio: time::Instant,
}

impl Reading {
    #[expect(clippy::disallowed_methods, reason = "the driver is where time comes in")]
    fn take() -> Self {
        Self { wall: SystemTime::now(), system: Instant::now(), tokio: time::Instant::now() }
    }

    /// Returns the wall-clock time at `start` plus tokio's time since then, corrected if the wall clock was set or the
    /// computer was suspended.
    fn moment(self, start: Self) -> Moment {
        let by_tokio = Moment::from(start.wall).after(self.tokio.saturating_duration_since(start.tokio));
        let expected = start.wall.checked_add(self.system.saturating_duration_since(start.system));
        match expected.map(|expected| self.wall.duration_since(expected)) {
            Some(Ok(ahead)) if ahead > NOISE => by_tokio.after(ahead),
            Some(Err(behind)) if behind.duration() > NOISE => {
                Moment::default().after(by_tokio.since(Moment::default()).saturating_sub(behind.duration()))
            }
            _ => by_tokio,
        }
    }
}

/// Waits in short parts, since the wall clock may be set meanwhile, and altogether no longer than the time that is left
/// now.
async fn sleep_until(moment: Moment, now: impl Fn() -> Moment) {
    let mut left = moment.since(now());
    loop {
        let part = left.min(LONGEST_SLEEP);
        // Rounded up: a timer that counts milliseconds must not fire early. And a loop that waits for a moment that has
        // come must let other tasks run.
        sleep(part + Duration::from_millis(1)).await;
        left = (left - part).min(moment.since(now()));
        if left.is_zero() {
            return;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the driver waits, so that machines need not")]
async fn sleep(pause: Duration) {
    time::sleep(pause).await;
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

    #[tokio::test(start_paused = true)]
    async fn a_wait_for_a_moment_that_has_come_lets_other_tasks_run() {
        let clock = SystemClock::default();
        let other = tokio::spawn(async {});
        while !other.is_finished() {
            clock.sleep_until(clock.now()).await;
        }
    }

    const HOURS: Duration = Duration::from_secs(8 * 3600);
    const SECOND: Duration = Duration::from_secs(1);

    /// What the clocks show later, if the wall clock was set meanwhile, or the computer was suspended.
    fn later(start: Reading, wall: impl Fn(SystemTime) -> SystemTime, passed: Duration) -> Reading {
        Reading { wall: wall(start.wall + passed), system: start.system + passed, tokio: start.tokio + passed }
    }

    #[test]
    fn the_clock_follows_a_wall_clock_that_was_set_or_ran_while_the_computer_was_suspended() {
        let start = Reading::take();
        let began = start.moment(start);
        let suspended = later(start, |wall| wall + HOURS, SECOND);
        assert_eq!(suspended.moment(start), began.after(SECOND + HOURS));
        let set_back = later(start, |wall| wall - HOURS, SECOND);
        assert_eq!(began.since(set_back.moment(start)), HOURS - SECOND);
        // The clocks are read one after the other.
        for wall in [start.wall + SECOND / 2, start.wall + SECOND * 3 / 2] {
            assert_eq!(later(start, |_| wall, SECOND).moment(start), began.after(SECOND));
        }
        let before_1970 = later(start, |_| SystemTime::UNIX_EPOCH - HOURS, SECOND);
        assert_eq!(before_1970.moment(start), Moment::default());
    }

    #[test]
    fn the_paused_time_of_a_test_is_not_taken_for_a_wall_clock_that_was_set() {
        let start = Reading::take();
        let paused = Reading { tokio: start.tokio + HOURS, ..start };
        assert_eq!(paused.moment(start), start.moment(start).after(HOURS));
    }

    /// Waits for eight hours on a clock that `jump` moves once the first part of the wait is over.
    async fn waited(jump: impl Fn(Moment) -> Moment) -> Duration {
        let start = Reading::take();
        let moment = start.moment(start).after(HOURS);
        let jumped = || {
            let now = Reading { wall: start.wall, system: start.system, ..Reading::take() }.moment(start);
            if now.since(start.moment(start)) >= LONGEST_SLEEP { jump(now) } else { now }
        };
        sleep_until(moment, jumped).await;
        Reading::take().tokio - start.tokio
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_soon_after_the_computer_was_suspended_and_is_not_prolonged_by_a_clock_that_was_set_back() {
        let margin = SECOND;
        assert!((LONGEST_SLEEP..=LONGEST_SLEEP + margin).contains(&waited(|now| now.after(HOURS)).await));
        for back in [HOURS, Duration::ZERO] {
            let set_back = waited(|now| Moment::default().after(now.since(Moment::default()) - back)).await;
            assert!((HOURS..=HOURS + margin).contains(&set_back), "{set_back:?}");
        }
    }
}
