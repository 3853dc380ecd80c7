//! The real clock, since adapters are other processes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns milliseconds since the Unix epoch.
pub(crate) fn unix_millis() -> i64 {
    #[expect(clippy::disallowed_methods, reason = "adapters see the real time, so the service must use it too")]
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Measures the time since its creation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(std::time::Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        #[expect(clippy::disallowed_methods, reason = "timelines are measured")]
        let now = std::time::Instant::now();
        Self(now)
    }

    pub(crate) fn elapsed(self) -> Duration {
        #[expect(clippy::disallowed_methods, reason = "timelines are measured")]
        self.0.elapsed()
    }

    pub(crate) fn millis(self) -> u64 {
        u64::try_from(self.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Waits on the real clock, for delayed replies.
pub(crate) async fn pause(duration: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a slow service is slow on the real clock")]
    tokio::time::sleep(duration).await;
}
