//! Attempts of a step, and the time until which nothing is sent. Both are saved with their machine: a crash grants no
//! new attempts, and does not shorten a pause that the service asked for.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Backoff, Moment};

/// The attempts of one step. Fields that an earlier version did not save start at zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempts {
    #[serde(default)]
    tries: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hold: Option<Hold>,
}

/// A time during which nothing is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Hold {
    until: Moment,
    /// Its length, so that setting the clock back does not make it longer.
    length: Duration,
}

impl Attempts {
    pub(super) const fn made(&self) -> u32 {
        self.tries
    }

    /// Records a failed attempt and starts a pause: as long as the service asks for, plus a small random time, or else
    /// longer each time. Returns the number of failed attempts.
    pub(super) fn failed(&mut self, told: Option<Duration>, pauses: Backoff, now: Moment, random: u64) -> u32 {
        self.hold_back(pauses.pause(told, self.tries, random), now);
        self.tries = self.tries.saturating_add(1);
        self.tries
    }

    /// Sends nothing for this long.
    pub(super) fn hold_back(&mut self, length: Duration, now: Moment) {
        self.hold = Some(Hold { until: now.after(length), length });
    }

    /// Returns the time until which nothing is sent.
    pub(super) fn held(&mut self, now: Moment) -> Option<Moment> {
        self.hold = self.hold.filter(|hold| hold.until > now).map(|hold| Hold { until: hold.ends(now), ..hold });
        self.hold.map(|hold| hold.until)
    }

    /// Continues an earlier step, after this many attempts.
    pub(super) const fn continue_after(&mut self, tries: u32) {
        self.tries = tries;
    }

    /// Starts another step, or the same step again. A pause that the service asked for applies to every step.
    pub(super) fn begin_anew(&mut self) {
        self.tries = 0;
    }
}

impl Hold {
    fn ends(&self, now: Moment) -> Moment {
        self.until.min(now.after(self.length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment::from_millis(1_700_000_000_000);

    #[test]
    fn pauses_grow_and_what_the_service_wants_is_waited_for_in_full() {
        let mut attempts = Attempts::default();
        let mut failed = |told| {
            let made = attempts.failed(told, Backoff::default(), NOW, 0);
            (made, attempts.held(NOW).unwrap().since(NOW).as_millis())
        };
        assert_eq!([failed(None), failed(None), failed(None)], [(1, 500), (2, 1_000), (3, 2_000)]);
        assert_eq!(failed(Some(Duration::from_secs(60))), (4, 60_500));
        attempts.begin_anew();
        assert_eq!((attempts.made(), attempts.held(NOW)), (0, Some(NOW.after(Duration::from_millis(60_500)))));
        assert_eq!(attempts.held(NOW.after(Duration::from_millis(60_500))), None);
        assert_eq!(attempts, Attempts::default());
    }

    #[test]
    fn a_clock_that_is_set_back_makes_no_pause_longer() {
        let mut attempts = Attempts::default();
        attempts.hold_back(Duration::from_secs(300), NOW);
        let earlier = Moment::from_millis(NOW.millis() - 86_400_000);
        assert_eq!(attempts.held(earlier), Some(earlier.after(Duration::from_secs(300))));
        assert_eq!(attempts.held(NOW), None);
    }

    #[test]
    fn attempts_survive_a_crash_and_missing_ones_count_as_none() {
        let mut attempts = Attempts::default();
        attempts.failed(Some(Duration::from_secs(60)), Backoff::default(), NOW, 7);
        let stored = serde_json::to_string(&attempts).unwrap();
        assert_eq!(serde_json::from_str::<Attempts>(&stored).unwrap(), attempts);
        assert_eq!(serde_json::from_str::<Attempts>("{}").unwrap(), Attempts::default());
        assert_eq!(serde_json::from_str::<Attempts>(r#"{"tries":3}"#).unwrap().made(), 3);
    }
}
