//! Processor time, which does not depend on other load of the machine.

/// Seconds of processor time of this thread so far.
#[must_use]
pub fn processor_seconds() -> f64 {
    #[cfg(unix)]
    return spent(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

/// Seconds of processor time of all threads of this process so far.
#[must_use]
pub fn process_seconds() -> f64 {
    #[cfg(unix)]
    return spent(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    elapsed()
}

#[cfg(unix)]
fn spent(clock: rustix::time::ClockId) -> f64 {
    let spent = rustix::time::clock_gettime(clock);
    spent.tv_sec as f64 + spent.tv_nsec as f64 / 1e9
}

/// Seconds of elapsed time, because this system does not report processor time.
#[cfg(not(unix))]
#[expect(clippy::disallowed_methods, reason = "a benchmark reads the clock; that is what it is for")]
fn elapsed() -> f64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_secs_f64()
}
