//! Waits for late reports of a payment after the token was closed.
//!
//! The time is counted in parts, and each part counts at most its own length, whatever the clock says. So a clock that is set
//! forward, or another server whose clock is ahead, shortens the time by one part at most. A machine that is resumed
//! counts from its saved state, so a restart makes the time longer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Checkout;
use crate::machine::Moment;

/// The number of parts. A driver that stops during the wait, and saves the machine before, ends the wait in as many runs.
const PARTS: u32 = 20;
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

impl Checkout {
    /// Starts the time for late reports. Another withdrawal that fails does not extend the time after the first.
    pub(super) fn await_late_reports(&mut self, now: Moment) {
        if self.state.cancelled || self.state.late_reports.is_none() {
            self.state.late_reports = Some(self.whole_time(now));
        }
        self.is_time_for_reports_over(now);
    }

    /// Counts the time that has passed since the last event. Returns whether the plan's time is over.
    pub(super) fn is_time_for_reports_over(&mut self, now: Moment) -> bool {
        let LateReports { mut counted, left } = self.state.late_reports.unwrap_or_else(|| self.whole_time(now));
        let mut left = left.min(self.plan.linger);
        let is_closed = self.state.cancelled || now >= counted;
        if is_closed {
            left = left.saturating_sub(now.since(counted).min(self.part()));
            counted = now;
        } else {
            // Setting the clock back does not extend the time until the expiry, nor does a clock that was ahead.
            counted = counted.min(now.after(self.plan.wait)).min(self.state.expiry.unwrap_or(now).max(now));
        }
        self.state.late_reports = Some(LateReports { counted, left });
        self.state.linger = counted.after(left);
        is_closed && left.is_zero()
    }

    /// Returns the end of the present part.
    pub(super) fn end_of_part(&self) -> Moment {
        let wait = |late: LateReports| late.counted.after(late.left.min(self.part()));
        self.state.late_reports.map_or(self.state.linger, wait)
    }

    /// A token that was not cancelled may be paid until it expires.
    fn whole_time(&self, now: Moment) -> LateReports {
        let closed = if self.state.cancelled { now } else { self.state.expiry.unwrap_or(now).max(now) };
        LateReports { counted: closed, left: self.plan.linger }
    }

    fn part(&self) -> Duration {
        (self.plan.linger / PARTS).max(SHORTEST_PART)
    }
}
