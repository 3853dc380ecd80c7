//! The deadline of the request on a connection.
//!
//! Creating and removing a timer for each request takes two locks of the runtime's timers. So each connection has one
//! timer. A later deadline leaves the timer unchanged until it fires; then the timer is set again.

use std::{
    pin::{Pin, pin},
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    task::unconstrained,
    time::{Instant, Sleep, sleep_until},
};

/// The deadline of a request without a time limit. No program runs that long.
const NEVER: Duration = Duration::from_secs(30 * 365 * 24 * 3600);

/// Returns the moment this long after `start`.
pub(crate) fn after(start: Instant, time: Duration) -> Instant {
    start.checked_add(time).unwrap_or_else(|| start + NEVER)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the transport is where time comes in: idle connections expire, and requests have a deadline"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// A timer that the requests of a connection share.
pub(crate) struct Alarm {
    timer: Pin<Box<Sleep>>,
    deadline: Instant,
}

impl Alarm {
    #[expect(clippy::disallowed_methods, reason = "the transport waits, so that requests have a deadline")]
    pub(crate) fn at(deadline: Instant) -> Self {
        Self { timer: Box::pin(sleep_until(deadline)), deadline }
    }

    pub(crate) fn set(&mut self, deadline: Instant) {
        self.deadline = deadline;
        if self.timer.deadline() > deadline {
            self.timer.as_mut().reset(deadline);
        }
    }

    /// Whether the deadline has passed. Reads the clock, which moves on although the task does not wait.
    pub(crate) fn has_passed(&self) -> bool {
        now() >= self.deadline
    }

    /// Ready once the deadline has passed. A peer that sends without pause uses the task's budget up, without which a timer
    /// never fires, so this one needs none.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            ready!(pin!(unconstrained(self.timer.as_mut())).poll(context));
            if self.timer.deadline() >= self.deadline {
                return Poll::Ready(());
            }
            self.timer.as_mut().reset(self.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_alarm_rings_at_the_deadline_that_was_set_last() {
        let start = now();
        let second = |seconds| start + Duration::from_secs(seconds);
        let mut alarm = Alarm::at(second(10));
        for deadline in [10, 25, 12, 40] {
            // If it has already passed, the timer fires at once.
            let rings = second(deadline).max(now());
            alarm.set(second(deadline));
            poll_fn(|context| alarm.poll(context)).await;
            assert_eq!(now().duration_since(start).as_secs(), rings.duration_since(start).as_secs());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_alarm_rings_although_the_budget_of_the_task_is_used_up() {
        let mut alarm = Alarm::at(now());
        tokio::time::advance(Duration::from_secs(1)).await;
        let rings = poll_fn(|context| {
            while pin!(tokio::task::consume_budget()).poll(context).is_ready() {}
            Poll::Ready(alarm.poll(context).is_ready())
        });
        assert!(rings.await);
    }

    #[test]
    fn an_unreachable_deadline_means_no_deadline() {
        let start = now();
        assert_eq!(after(start, Duration::MAX), start + NEVER);
        assert_eq!(after(start, Duration::from_secs(1)), start + Duration::from_secs(1));
    }
}
