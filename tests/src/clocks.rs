//! Clocks for machines in tests: whoever waits, it is later at once.

use std::{
    future::ready,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use pg_hyper::Clock;
use pg_proto::machine::Moment;
use pg_sandbox::{InProcess, Timestamp};

/// A clock that stands still until somebody waits. Clones share it.
#[derive(Clone, Debug)]
pub struct Leaping(Arc<AtomicU64>);

impl Leaping {
    /// It stands at this moment.
    #[must_use]
    pub fn at(moment: Moment) -> Self {
        Self(Arc::new(AtomicU64::new(moment.millis())))
    }
}

impl Default for Leaping {
    /// The fourth of May 2026, ten in the morning.
    fn default() -> Self {
        Self::at(Moment::from_millis(1_777_888_800_000))
    }
}

impl Clock for Leaping {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn until(&self, moment: Moment) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.fetch_max(moment.millis(), Ordering::SeqCst);
        Box::pin(ready(()))
    }
}

/// The clock of a sandbox without a socket: when a machine waits, time passes there as well.
#[derive(Clone, Debug)]
pub struct SandboxClock(pub InProcess);

impl Clock for SandboxClock {
    fn now(&self) -> Moment {
        Moment::default().after(self.0.now().since(Timestamp::parse("1970-01-01T00:00:00Z").expect("a time")))
    }

    fn until(&self, moment: Moment) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.advance(moment.since(self.now()));
        Box::pin(ready(()))
    }
}
