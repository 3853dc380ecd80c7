//! The times of an account's requests, or of an address's failures, which several processes count together.
//!
//! The clocks of processes that share a store differ, and so do the moments at which the processes read them. So the
//! times of a record never go back: a request counts at its own time or at the newest time of the record, whichever is
//! later.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// How far the clocks of processes over one store may differ, in sandbox time. A time further in the future comes from
/// a clock that was wrong and has been corrected. It is forgotten, since otherwise it would count against requests
/// until it is reached.
pub(crate) const MOST_AHEAD: Duration = Duration::from_secs(5 * 60);

/// Forgets times that are not within the window, which ends with a request now. Returns the time that the request counts at.
pub(crate) fn count_at(times: &mut Vec<Timestamp>, now: Timestamp, window: Duration) -> Timestamp {
    times.retain(|time| time.since(now) <= MOST_AHEAD);
    let at = times.last().map_or(now, |&newest| newest.max(now));
    times.retain(|&time| at.since(time) < window);
    at
}

/// Forgets times later than now, after the sandbox's clock was set back.
pub(crate) fn turn_back(times: &mut Vec<Timestamp>, now: Timestamp) {
    times.retain(|&time| time <= now);
}
