//! How long a group of requests waits for an unreachable database.

use std::time::Duration;

use tokio::time::Instant;

/// How long a group of requests connects again.
const CONNECTS: Duration = Duration::from_secs(15);
/// How long it begins transactions over a connection that works: longer than it waits for its turn, so that it can be
/// repeated after that.
const BEGINS: Duration = Duration::from_secs(25);
/// How long a task without a request connects again: it is repeated later anyway, and requests wait behind it.
const TASK: Duration = Duration::from_secs(1);

/// Until when attempts may begin. All attempts of a group share it: without that, each repetition would wait as long
/// again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    connects: Instant,
    begins: Instant,
}

impl Patience {
    /// For requests. Must be called in the runtime whose timers are used.
    pub(super) fn of_requests() -> Self {
        let now = now();
        Self { connects: now + CONNECTS, begins: now + BEGINS }
    }

    /// For a task without a request. Must be called in the runtime whose timers are used.
    pub(super) fn of_task() -> Self {
        let until = now() + TASK;
        Self { connects: until, begins: until }
    }

    /// Whether it may connect. Must be called in the runtime whose timers are used.
    pub(super) fn may_connect(&self) -> bool {
        now() < self.connects
    }

    /// Whether a transaction may begin. Must be called in the runtime whose timers are used.
    pub(super) fn may_begin(&self) -> bool {
        now() < self.begins
    }
}

#[expect(clippy::disallowed_methods, reason = "the connection to the database is an edge of the system")]
pub(super) fn now() -> Instant {
    Instant::now()
}
