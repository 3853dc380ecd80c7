//! The sandbox's own clock: pure state that converts the real time, an argument, to sandbox time.
//!
//! Everything with a time (sessions, tokens, batches, lockouts, throttle, callbacks) uses this
//! one clock, so that advancing or freezing it affects all of them together.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{form::shown, timestamp::Timestamp};

/// The maximum speed: 100,000 sandbox seconds per real second.
pub(crate) const MAX_SPEED: u32 = 100_000;
/// The maximum step of one call: 100 years, in seconds.
pub(crate) const MAX_ADVANCE_SECONDS: u32 = 3_155_760_000;

/// Sandbox time as a straight line through one known point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// The real instant of the last change.
    real: Timestamp,
    /// The clock's time at that instant.
    shown: Timestamp,
    /// Thousandths of a sandbox second per real second; with 0 the clock is frozen.
    speed_thousandths: u32,
}

impl Default for Clock {
    /// Creates a clock with the real time.
    fn default() -> Self {
        Self { real: Timestamp::MIN, shown: Timestamp::MIN, speed_thousandths: 1000 }
    }
}

impl Clock {
    /// Returns the clock's time at a real instant. It steps back with the real clock, but not to before its last change.
    #[must_use]
    pub fn at(&self, real_now: Timestamp) -> Timestamp {
        let elapsed = real_now.since(self.real).as_millis();
        let moved = elapsed.saturating_mul(u128::from(self.speed_thousandths)) / 1000;
        self.shown.plus(Duration::from_millis(u64::try_from(moved).unwrap_or(u64::MAX)))
    }

    /// Returns the first real instant at which the clock reaches this time; `None` if it is frozen before it.
    #[must_use]
    pub fn real_at(&self, shown: Timestamp) -> Option<Timestamp> {
        let left = shown.since(self.shown).as_millis();
        let real = match (left, u128::from(self.speed_thousandths)) {
            (0, _) => 0,
            (_, 0) => return None,
            (left, speed) => (left * 1000).div_ceil(speed),
        };
        Some(self.real.plus(Duration::from_millis(u64::try_from(real).unwrap_or(u64::MAX))))
    }

    /// Returns the clock after a change at a real instant.
    ///
    /// # Errors
    /// [`ChangeError::TooFar`]
    pub fn changed(&self, change: Change, real_now: Timestamp) -> Result<Self, ChangeError> {
        let mut shown = self.at(real_now);
        match change.step {
            Some(Step::Advance(duration)) if duration > Timestamp::MAX.since(shown) => {
                return Err(ChangeError::TooFar);
            }
            Some(Step::Advance(duration)) => shown = shown.plus(duration),
            Some(Step::Set(instant)) => shown = instant,
            None => {}
        }
        let speed_thousandths = change.speed_thousandths.unwrap_or(self.speed_thousandths);
        Ok(Self { real: real_now, shown, speed_thousandths })
    }

    /// Returns the clock as `GET /_sandbox/clock` shows it.
    #[must_use]
    pub fn view(&self, real_now: Timestamp) -> Value {
        let now = self.at(real_now);
        json!({
            "now": now.to_string(),
            "unixSeconds": now.seconds(),
            "speed": speed_number(self.speed_thousandths),
            "frozen": self.speed_thousandths == 0,
            "offsetSeconds": (now.millis() - real_now.millis()) / 1000,
        })
    }
}

fn speed_number(thousandths: u32) -> Value {
    if thousandths.is_multiple_of(1000) { json!(thousandths / 1000) } else { json!(f64::from(thousandths) / 1000.0) }
}

/// A change of the clock: a step, a speed, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    step: Option<Step>,
    speed_thousandths: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Advance(Duration),
    Set(Timestamp),
}

impl Change {
    /// Reads the members of the body of `POST /_sandbox/clock`: `{"advanceSeconds": 1860}`,
    /// `{"set": "2026-01-01T00:00:00Z"}` or `{"speed": 60}`; a speed can be combined with one of the others.
    ///
    /// # Errors
    /// [`ChangeError`] names the member and its valid values.
    pub fn read(members: &Map<String, Value>) -> Result<Self, ChangeError> {
        let mut change = Self { step: None, speed_thousandths: None };
        for (name, value) in members {
            let step = match name.as_str() {
                "advanceSeconds" => Step::Advance(advance(value)?),
                "set" => Step::Set(set(value)?),
                "speed" => {
                    change.speed_thousandths = Some(speed(value)?);
                    continue;
                }
                _ => return Err(ChangeError::UnknownMember(shown(name).to_owned())),
            };
            if change.step.replace(step).is_some() {
                return Err(ChangeError::TwoSteps);
            }
        }
        if members.is_empty() { Err(ChangeError::NothingAsked) } else { Ok(change) }
    }
}

fn advance(value: &Value) -> Result<Duration, ChangeError> {
    match thousandths(value, MAX_ADVANCE_SECONDS) {
        Some(millis) => Ok(Duration::from_millis(millis)),
        None => Err(ChangeError::Advance),
    }
}

fn set(value: &Value) -> Result<Timestamp, ChangeError> {
    value.as_str().and_then(|text| Timestamp::parse(text).ok()).ok_or(ChangeError::Set)
}

fn speed(value: &Value) -> Result<u32, ChangeError> {
    let thousandths = thousandths(value, MAX_SPEED).and_then(|thousandths| u32::try_from(thousandths).ok());
    // A speed that is rounded to 0 would freeze the clock.
    let is_as_asked = |thousandths: &u32| *thousandths > 0 || value.as_f64().is_some_and(|number| number <= 0.0);
    thousandths.filter(is_as_asked).ok_or(ChangeError::Speed)
}

/// Returns a number between 0 and `max` in thousandths, rounded to the nearest.
fn thousandths(value: &Value, max: u32) -> Option<u64> {
    if let Some(whole) = value.as_u64() {
        return (whole <= u64::from(max)).then(|| whole * 1000);
    }
    let number = value.as_f64().filter(|number| (0.0..=f64::from(max)).contains(number))?;
    // The range check bounds the product far below 2^53, where every whole number is exact.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some((number * 1000.0).round() as u64)
}

/// Why a change of the clock is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The object is empty.
    #[error("give one of advanceSeconds, set and speed")]
    NothingAsked,
    /// An unknown member, if its name is safe to show.
    #[error("unknown member {0:?}: only advanceSeconds, set and speed are accepted")]
    UnknownMember(String),
    /// Both `set` and `advanceSeconds`.
    #[error("advanceSeconds and set cannot be given together")]
    TwoSteps,
    /// `advanceSeconds` is not a number in range.
    #[error("advanceSeconds must be a number from 0 to {MAX_ADVANCE_SECONDS}; use set to go back")]
    Advance,
    /// The clock would be advanced beyond its range.
    #[error("advanceSeconds is too large: the clock ends with the year 2999")]
    TooFar,
    /// `set` is not a date-time.
    #[error("set must be an RFC 3339 date-time of the years 1970 to 2999 with an offset, such as 2031-01-01T00:00:00Z")]
    Set,
    /// `speed` is not a number in range.
    #[error("speed must be a number from 0.001 to {MAX_SPEED}, or 0 (frozen)")]
    Speed,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn read(body: &str) -> Result<Change, ChangeError> {
        Change::read(&serde_json::from_str(body).unwrap())
    }

    fn changed(clock: Clock, body: &str, real: Timestamp) -> Clock {
        clock.changed(read(body).unwrap(), real).unwrap()
    }

    #[test]
    fn huge_numbers_are_out_of_range() {
        for (number, refused) in [("advanceSeconds", ChangeError::Advance), ("speed", ChangeError::Speed)] {
            for value in ["18446744073709551615", "99999999999999999999", "1e300", "-1", "3155760001"] {
                let body = format!("{{\"{number}\": {value}}}");
                assert_eq!(read(&body), Err(refused.clone()), "{body}");
            }
        }
    }

    #[test]
    fn a_new_clock_shows_the_real_time() {
        let real = at("2026-05-04T10:00:00.250Z");
        assert_eq!(Clock::default().at(real), real);
    }

    #[test]
    fn advances_and_keeps_running() {
        let real = at("2026-05-04T10:00:00Z");
        let clock = changed(Clock::default(), r#"{"advanceSeconds":1860}"#, real);
        assert_eq!(clock.at(real), at("2026-05-04T10:31:00Z"));
        assert_eq!(clock.at(real.plus(Duration::from_secs(60))), at("2026-05-04T10:32:00Z"));
    }

    #[test]
    fn sets_freezes_and_thaws() {
        let real = at("2026-05-04T10:00:00Z");
        let later = real.plus(Duration::from_secs(3600));
        let frozen = changed(Clock::default(), r#"{"set":"2026-01-01T00:00:00Z","speed":0}"#, real);
        assert_eq!(frozen.at(later), at("2026-01-01T00:00:00Z"));
        let advanced = changed(frozen, r#"{"advanceSeconds":0.5}"#, later);
        assert_eq!(advanced.at(later), at("2026-01-01T00:00:00.5Z"));
        assert_eq!(advanced.view(later)["frozen"], true);
        let thawed = changed(frozen, r#"{"speed":1}"#, later);
        assert_eq!(thawed.at(later.plus(Duration::from_secs(5))), at("2026-01-01T00:00:05Z"));
    }

    #[test]
    fn speed_multiplies_real_time_and_does_not_jump() {
        let real = at("2026-05-04T10:00:00Z");
        let clock = changed(Clock::default(), r#"{"speed":60}"#, real);
        assert_eq!(clock.at(real), real);
        assert_eq!(clock.at(real.plus(Duration::from_secs(2))), at("2026-05-04T10:02:00Z"));
        assert_eq!(clock.view(real)["speed"], 60);
        let half = changed(Clock::default(), r#"{"speed":0.5}"#, real);
        assert_eq!(half.at(real.plus(Duration::from_secs(2))), at("2026-05-04T10:00:01Z"));
    }

    #[test]
    fn says_when_it_will_show_an_instant() {
        let real = at("2026-05-04T10:00:00Z");
        let wanted = at("2026-05-04T10:02:00.001Z");
        for (body, when) in [
            (r#"{"speed":1}"#, Some("2026-05-04T10:02:00.001Z")),
            (r#"{"speed":60}"#, Some("2026-05-04T10:00:02.001Z")),
            (r#"{"speed":0.5}"#, Some("2026-05-04T10:04:00.002Z")),
            (r#"{"speed":0}"#, None),
            (r#"{"speed":0,"advanceSeconds":121}"#, Some("2026-05-04T10:00:00Z")),
        ] {
            let clock = changed(Clock::default(), body, real);
            let found = clock.real_at(wanted);
            assert_eq!(found, when.map(at), "{body}");
            assert!(found.is_none_or(|found| clock.at(found) >= wanted), "{body}");
        }
        assert_eq!(Clock::default().real_at(wanted), Some(wanted));
    }

    #[test]
    fn a_real_clock_that_steps_back_does_not_turn_it_back() {
        let real = at("2026-05-04T10:00:00Z");
        let clock = changed(Clock::default(), r#"{"speed":1}"#, real);
        assert_eq!(clock.at(at("2026-05-04T09:00:00Z")), real);
    }

    #[test]
    fn every_wrong_change_is_named() {
        for (body, error) in [
            ("{}", ChangeError::NothingAsked),
            (r#"{"jump":1}"#, ChangeError::UnknownMember("jump".to_owned())),
            (r#"{"advanceSeconds":-1}"#, ChangeError::Advance),
            (r#"{"advanceSeconds":"60"}"#, ChangeError::Advance),
            (r#"{"advanceSeconds":1e300}"#, ChangeError::Advance),
            (r#"{"set":"now"}"#, ChangeError::Set),
            (r#"{"set":0}"#, ChangeError::Set),
            (r#"{"speed":-1}"#, ChangeError::Speed),
            (r#"{"speed":100001}"#, ChangeError::Speed),
            (r#"{"speed":0.0004}"#, ChangeError::Speed),
            (r#"{"set":"2026-01-01T00:00:00Z","advanceSeconds":1}"#, ChangeError::TwoSteps),
        ] {
            assert_eq!(read(body), Err(error), "{body}");
        }
    }

    #[test]
    fn the_ends_of_time_hold() {
        let clock = changed(Clock::default(), r#"{"speed":100000}"#, Timestamp::MIN);
        assert_eq!(clock.at(Timestamp::MAX), Timestamp::MAX);
    }
}
