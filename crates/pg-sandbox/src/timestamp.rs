//! An instant, as milliseconds since the Unix epoch. Pure: nothing here reads a clock.

use std::{borrow::Cow, fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// An instant in milliseconds since 1970-01-01T00:00:00Z, between 1970 and the end of 2999.
///
/// The range is bounded so that every instant has the same width in a time-ordered key and in an index of the store.
/// Values outside the range are clamped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub struct Timestamp(i64);

impl Timestamp {
    /// The first instant of the range: 1970-01-01T00:00:00Z.
    pub const MIN: Self = Self(0);
    /// The last instant of the range: 2999-12-31T23:59:59.999Z.
    pub const MAX: Self = Self(32_503_679_999_999);

    /// Returns the instant this many milliseconds after the Unix epoch, clamped to the valid range.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        if millis < Self::MIN.0 {
            Self::MIN
        } else if millis > Self::MAX.0 {
            Self::MAX
        } else {
            Self(millis)
        }
    }

    /// Returns milliseconds since the Unix epoch.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Returns whole seconds since the Unix epoch, as version 5 writes its times (spec 3 §4.1).
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0 / 1000
    }

    /// Adds a duration; the result is at most [`Timestamp::MAX`].
    #[must_use]
    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self::from_millis(self.0.saturating_add(millis))
    }

    /// Returns the time since `earlier`; zero if `earlier` is not earlier.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads an RFC 3339 date-time with an offset, for example `2026-01-01T00:00:00Z`.
    ///
    /// # Errors
    /// If the text is not such a date-time, or is out of range.
    pub fn parse(text: &str) -> Result<Self, NotATimestamp> {
        if !is_rfc_3339(text.as_bytes()) {
            return Err(NotATimestamp);
        }
        let instant: jiff::Timestamp = without_finer_digits(text).parse().map_err(|_| NotATimestamp)?;
        let millis = instant.as_millisecond();
        if (Self::MIN.0..=Self::MAX.0).contains(&millis) { Ok(Self(millis)) } else { Err(NotATimestamp) }
    }

    fn instant(self) -> jiff::Timestamp {
        // Every instant of the range is one of the library's.
        jiff::Timestamp::from_millisecond(self.0).unwrap_or_default()
    }

    /// Returns ISO 8601 with an offset, in whole seconds, as version 3 writes its times (spec 1 §2.2):
    /// `2026-01-01T00:00:00+00:00`.
    #[must_use]
    pub fn with_offset(self) -> String {
        let whole = Self::from_millis(self.0 - self.0 % 1_000);
        whole.instant().display_with_offset(jiff::tz::Offset::UTC).to_string()
    }

    /// Returns text that sorts in the order of the instants, for an index column of the store.
    #[must_use]
    pub fn sortable(self) -> String {
        format!("{:014}", self.0)
    }

    /// Returns the year and month in UTC, with which a card's expiry is compared.
    #[must_use]
    pub fn year_and_month(self) -> (u16, u8) {
        let date = jiff::tz::Offset::UTC.to_datetime(self.instant());
        // Every year of the range is positive, and months are from 1 to 12.
        (date.year().unsigned_abs(), date.month().unsigned_abs())
    }
}

/// Returns a date-time of RFC 3339 without what is finer than a nanosecond, which the parser refuses and a timestamp does not have.
fn without_finer_digits(text: &str) -> Cow<'_, str> {
    const NANOSECONDS: usize = "0000-00-00T00:00:00.000000000".len();
    let Some((start, rest)) = text.split_at_checked(NANOSECONDS) else { return text.into() };
    // A shorter fraction is followed by an offset, whose first character is no digit; what follows it has digits.
    if !start.bytes().skip("0000-00-00T00:00:00.".len()).all(|byte| byte.is_ascii_digit()) {
        return text.into();
    }
    format!("{start}{}", rest.trim_start_matches(|digit: char| digit.is_ascii_digit())).into()
}

/// Whether a text has the shape of a date-time of RFC 3339, and its offset is in range. The parser checks the other
/// ranges, and accepts further formats.
fn is_rfc_3339(text: &[u8]) -> bool {
    let has_shape = |text: &[u8], shape: &[u8]| {
        let fits = |(byte, wanted): (&u8, &u8)| {
            if *wanted == b'0' { byte.is_ascii_digit() } else { byte.to_ascii_uppercase() == *wanted }
        };
        text.len() == shape.len() && text.iter().zip(shape).all(fits)
    };
    let Some((date_time, rest)) = text.split_at_checked("0000-00-00T00:00:00".len()) else { return false };
    let fraction = rest.strip_prefix(b".").map(|rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let offset = fraction.map_or(rest, |digits| &rest[digits + 1..]);
    let is_offset = match offset {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', time @ ..] => has_shape(time, b"00:00") && time[..2] < b"24"[..] && time[3..] < b"60"[..],
        _ => false,
    };
    has_shape(date_time, b"0000-00-00T00:00:00") && fraction != Some(0) && is_offset
}

/// RFC 3339 in UTC with milliseconds when there are any: `2026-01-01T00:00:00Z`.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.instant().fmt(f)
    }
}

impl From<i64> for Timestamp {
    fn from(millis: i64) -> Self {
        Self::from_millis(millis)
    }
}

impl From<Timestamp> for i64 {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.0
    }
}

/// The text is not an RFC 3339 date-time between 1970 and 2999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an RFC 3339 date-time with an offset between 1970 and 2999, such as 2026-01-01T00:00:00Z")]
pub struct NotATimestamp;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        for text in ["2026-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "2999-12-31T23:59:59.999Z"] {
            assert_eq!(Timestamp::parse(text).unwrap().to_string(), text);
        }
        let offset = Timestamp::parse("2026-01-01T02:00:00+02:00").unwrap();
        assert_eq!(offset.to_string(), "2026-01-01T00:00:00Z");
        assert_eq!(offset.seconds(), 1_767_225_600);
        assert_eq!(offset.plus(Duration::from_millis(999)).with_offset(), "2026-01-01T00:00:00+00:00");
    }

    #[test]
    fn a_fraction_may_have_any_number_of_digits() {
        for digits in ["1", "123", "123456789", "1239999999", "12300000000000000000000000"] {
            let millis = format!("{digits:0<3}")[..3].parse::<i64>().unwrap();
            for (offset, seconds) in [("Z", 1_767_225_600), ("z", 1_767_225_600), ("+02:00", 1_767_218_400)] {
                let text = format!("2026-01-01T00:00:00.{digits}{offset}");
                assert_eq!(Timestamp::parse(&text), Ok(Timestamp(seconds * 1000 + millis)), "{text}");
            }
        }
        assert_eq!(Timestamp::parse("2026-01-01T00:00:00.1234567890"), Err(NotATimestamp));
    }

    #[test]
    fn refuses_what_is_not_an_instant() {
        for text in ["", "tomorrow", "2026-01-01", "2026-01-01T00:00:00", "2026-01-01T00:00Z", "3000-01-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), Err(NotATimestamp), "{text}");
        }
    }

    #[test]
    fn arithmetic_stays_in_range() {
        assert_eq!(Timestamp::MAX.plus(Duration::from_secs(1)), Timestamp::MAX);
        assert_eq!(Timestamp::from_millis(-1), Timestamp::MIN);
        assert_eq!(Timestamp::MIN.since(Timestamp::MAX), Duration::ZERO);
        assert_eq!(Timestamp::MAX.sortable().len(), Timestamp::MIN.sortable().len());
    }

    #[test]
    fn months_agree_with_the_calendar_text() {
        for day in 0..36_525 {
            let instant = Timestamp::from_millis(day * 86_400_000 + 7);
            let text = instant.to_string();
            let (year, month) = instant.year_and_month();
            assert_eq!(format!("{year:04}-{month:02}"), text[..7], "{text}");
        }
    }
}
