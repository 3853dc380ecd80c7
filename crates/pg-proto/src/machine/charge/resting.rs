//! A pause, and what it may not be: longer than what is left, or than it was meant to be.

use std::time::Duration;

use pg_model::Remedy;

use super::{
    Transition,
    state::{Phase, Then},
};
use crate::machine::{Backoff, Moment};

/// What a pause is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// The network, or the service, may need a moment.
    Backoff,
    /// The service said how long it wants no request.
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

    /// How long it is. What the service wants is spread by the first pause, so that not everybody is back at once.
    pub(super) fn length(self, pauses: Backoff, earlier: u32, random: u64) -> Duration {
        let asked = if let Self::AsTold(least) = self { Some(least) } else { None };
        pauses.pause(asked, earlier, random)
    }
}

/// What follows an early return during a rest: nothing before its time.
pub(super) fn woken(now: Moment, until: Moment, length: Duration, then: Then) -> Transition {
    if now < until {
        // A clock that was set back would make it rest for as long again and more.
        let until = until.min(now.after(length));
        return Transition::Wait(Phase::Resting { until, length, then }, until);
    }
    match then {
        Then::Pay => Transition::Pay,
        Then::Look => Transition::Look,
    }
}
