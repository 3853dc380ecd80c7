//! Clocks for machines in tests: a pause ends at once, and advances the clock.

use pg_hyper::VirtualClock;
use pg_proto::machine::Moment;
use pg_sandbox::InProcess;

/// A clock at 10:00 on 4 May 2026, which only pauses of a machine advance.
#[must_use]
pub fn leaping() -> VirtualClock {
    VirtualClock::at(Moment::from_millis(1_777_888_800_000))
}

/// The clock of a sandbox without a socket: pauses of a machine advance it too.
#[must_use]
pub fn shared(sandbox: &InProcess) -> VirtualClock {
    VirtualClock::shared(sandbox.clone(), InProcess::unix_time, InProcess::advance)
}
