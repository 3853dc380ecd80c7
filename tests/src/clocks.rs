//! Clocks for machines in tests: a pause is over at once, and it is later.

use pg_hyper::VirtualClock;
use pg_proto::machine::Moment;
use pg_sandbox::InProcess;

/// A clock that shows the fourth of May 2026, ten in the morning, until a machine waits.
#[must_use]
pub fn leaping() -> VirtualClock {
    VirtualClock::at(Moment::from_millis(1_777_888_800_000))
}

/// The clock of a sandbox without a socket: while a machine waits, time passes there as well.
#[must_use]
pub fn shared(sandbox: &InProcess) -> VirtualClock {
    VirtualClock::shared(sandbox.clone(), InProcess::unix_time, InProcess::advance)
}
