//! Pauses of a charge. A pause never exceeds the remaining time, nor its own length if the clock jumps.

use std::time::Duration;

use pg_model::Remedy;

use super::{
    Transition,
    state::{Phase, Then},
};
use crate::machine::{Backoff, Moment};

/// The reason for a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The network, or the service, may need a moment.
    Backoff,
    /// The service stated how long to send nothing.
    AsTold(Duration),
}

impl Rest {
    pub(super) const fn of(remedy: Remedy) -> Self {
        match remedy {
            Remedy::WaitOneMinute => Self::AsTold(Duration::from_secs(60)),
            Remedy::WaitFiveMinutes => Self::AsTold(Duration::from_secs(300)),
            _ => Self::Backoff,
        }
    }

    /// The length of the pause. A wait that the service asks for is extended by a random part of the first pause, so
    /// that clients do not all return at once.
    pub(super) fn length(self, pauses: Backoff, earlier: u32, random: u64) -> Duration {
        let asked = if let Self::AsTold(least) = self { Some(least) } else { None };
        pauses.pause(asked, earlier, random)
    }
}

/// Handles a wake-up during a pause: nothing happens before its end.
pub(super) fn woken(now: Moment, until: Moment, length: Duration, then: Then) -> Transition {
    if now < until {
        // A clock that was set back must not make the pause longer.
        let until = until.min(now.after(length));
        return Transition::Wait(Phase::Resting { until, length, then }, until);
    }
    match then {
        Then::Pay => Transition::Pay,
        Then::Look => Transition::Look,
    }
}
