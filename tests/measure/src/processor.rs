//! The processor time of a thread, which does not depend on other load of the machine.

/// Seconds of processor time of this thread so far.
#[cfg(unix)]
#[must_use]
pub fn processor_seconds() -> f64 {
    let spent = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Seconds of elapsed time, because this system does not report processor time.
#[cfg(not(unix))]
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
pub fn processor_seconds() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
