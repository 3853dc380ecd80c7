//! Waits for late reports of a payment after the token was closed.
//!
//! The time is counted in parts, and each part counts at most its own length, whatever the clock says. So a clock that is set
//! forward, or another server whose clock is ahead, shortens the time by one part at most. A machine that is resumed
//! counts from its saved state, so a restart makes the time longer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Checkout, Phase, State, checking::BETWEEN_LOOKS};
use crate::machine::Moment;

/// The number of parts. A driver that stops during the wait, and saves the machine before, ends the wait in as many runs.
const PARTS: u32 = 20;
/// The usual life of a token (spec 3 §4.1), and an hour for a clock that is behind.
const TOKEN_LIFE: Duration = Duration::from_secs((7 * 24 + 1) * 60 * 60);
const SHORTEST_PART: Duration = Duration::from_secs(1);

/// The time for late reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LateReports {
    /// The time that was counted last, or the expiry of a token that may still be paid.
    counted: Moment,
    left: Duration,
}

impl LateReports {
    #[cfg(test)]
    pub(super) const fn left(self) -> Duration {
        self.left
    }
}

impl State {
    /// Whether the service said that the token can no longer be paid: it has cancelled the token, or after the expiry there was
    /// nothing left to cancel.
    pub(super) const fn is_ended(&self) -> bool {
        self.cancelled || self.expired
    }
}

impl Checkout {
    /// Starts the time for late reports. Another withdrawal that fails does not extend the time after the first. The time starts
    /// again when the service says that the token has ended: until then it may have been paid, if the clock is ahead.
    pub(super) fn await_late_reports(&mut self, now: Moment) {
        if self.state.is_ended() || self.state.late_reports.is_none() {
            self.state.late_reports = Some(self.whole_time(now));
        }
        self.is_time_for_reports_over(now);
    }

    /// Lets reports arrive before the first request, if the checkout may end after it: they may have waited for this process. Their
    /// transactions are then looked up before the search. A pause that the service asked for is long enough.
    pub(super) fn listen(&mut self, now: Moment) {
        let is_last = matches!(self.state.phase, Phase::Searching | Phase::Concluding);
        if (std::mem::take(&mut self.listens) || is_last) && self.state.attempts.held(now).is_none() {
            self.state.attempts.hold_back(BETWEEN_LOOKS, now);
            self.state.listened = true;
        }
    }

    /// Counts the time that has passed since the last event. Returns whether the plan's time is over.
    pub(super) fn is_time_for_reports_over(&mut self, now: Moment) -> bool {
        let LateReports { mut counted, left } = self.state.late_reports.unwrap_or_else(|| self.whole_time(now));
        let mut left = left.min(self.plan.linger);
        let is_closed = self.state.is_ended() || now >= counted;
        if is_closed {
            left = left.saturating_sub(now.since(counted).min(self.part()));
            counted = now;
        } else {
            // Setting the clock back does not extend the time until the expiry, nor does a clock that was ahead.
            let longest = now.after(self.plan.wait.max(TOKEN_LIFE));
            counted = counted.min(longest).min(self.state.expiry.unwrap_or(now).max(now));
        }
        self.state.late_reports = Some(LateReports { counted, left });
        self.state.linger = counted.after(left);
        is_closed && left.is_zero()
    }

    /// Returns when a wait for late reports ends, or is interrupted by another round.
    pub(super) fn lingers_until(&mut self, now: Moment) -> Moment {
        let is_open = self.state.phase == Phase::Lingering && !self.state.is_ended();
        let round = is_open.then(|| self.state.rounds.held(now).unwrap_or(now));
        round.map_or(self.end_of_part(), |round| round.min(self.end_of_part()))
    }

    /// Returns the end of the present part.
    fn end_of_part(&self) -> Moment {
        let wait = |late: LateReports| late.counted.after(late.left.min(self.part()));
        self.state.late_reports.map_or(self.state.linger, wait)
    }

    /// A token that the service has not cancelled may be paid until it expires.
    fn whole_time(&self, now: Moment) -> LateReports {
        let closed = if self.state.is_ended() { now } else { self.state.expiry.unwrap_or(now).max(now) };
        LateReports { counted: closed, left: self.plan.linger }
    }

    fn part(&self) -> Duration {
        (self.plan.linger / PARTS).max(SHORTEST_PART)
    }
}
