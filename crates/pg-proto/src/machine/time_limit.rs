//! Time limits that outlive a process, and that several servers share.

use std::time::Duration;

use super::Moment;

/// How far behind the clock of a server may be without shortening a time limit for the other servers: this, or the time limit if that
/// is shorter.
const BEHIND: Duration = Duration::from_secs(60 * 60);

/// How much longer than its length the time that is left may seem after a restart.
const CORRECTION: Duration = Duration::from_secs(60);

/// Returns the end of the time limit `within`, which the first event starts. Setting the clock back does not extend it.
///
/// `earlier` is the time limit of the run that saved the state, if this is the first event of a run. If more than this time
/// seems to be left, the clock was ahead in that run, and it is unknown how long ago the time limit started: it is over.
pub(super) fn deadline(saved: Option<Moment>, within: Duration, earlier: Option<Duration>, now: Moment) -> Moment {
    let latest = now.after(within);
    match (saved, earlier) {
        (None, _) => latest,
        (Some(saved), Some(earlier)) if saved > now.after(earlier).after(CORRECTION) => Moment::default(),
        (Some(saved), _) => saved.min(latest),
    }
}

/// The end of a customer's time in this process. It is not saved.
///
/// Setting the clock back does not extend the time in a process. The saved time becomes shorter only if it is too long by more
/// than its length, or by more than an hour: otherwise the clock of this server may be behind, and the customer would have less time
/// on the others. So restarts extend the time by no more than that.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ShortenedLimit(Option<Moment>);

impl ShortenedLimit {
    /// Returns the end of a time of at most this length.
    pub(super) fn end(&mut self, saved: &mut Moment, length: Duration, now: Moment) -> Moment {
        let latest = now.after(length);
        *saved = latest.after(BEHIND.min(length)).min(*saved);
        let end = self.0.unwrap_or(*saved).min(*saved).min(latest);
        self.0 = Some(end);
        end
    }
}
