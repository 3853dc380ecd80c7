//! Durations as people type them: `90`, `90s`, `1.5s`, `31m`, `2h30m`, `1d`, `250ms`.

use std::time::Duration;

/// Units with their milliseconds. `ms` is first, since it begins with `m`.
const UNITS: [(&str, f64); 5] = [("ms", 1.0), ("s", 1000.0), ("m", 60_000.0), ("h", 3_600_000.0), ("d", 86_400_000.0)];
/// The maximum: a thousand years.
const LONGEST: f64 = 31_556_952_000_000.0;

const FORM: &str = "expected a duration such as 90s, 31m, 2h30m, 1d or 250ms; a bare number means seconds";

/// Reads a duration; a bare number means seconds.
///
/// # Errors
/// If the text is not a duration, or it is negative or longer than a thousand years.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    let mut milliseconds = 0.0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(FORM.to_owned());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, unit) = rest.split_at(digits);
        let number: f64 = number.parse().map_err(|_| FORM.to_owned())?;
        let (of_unit, after) = if unit.is_empty() {
            (1000.0, "")
        } else {
            UNITS
                .iter()
                .find_map(|(name, value)| {
                    // `m` means minutes unless it begins `ms`.
                    unit.strip_prefix(name)
                        .filter(|after| !after.starts_with(char::is_alphabetic))
                        .map(|after| (*value, after))
                })
                .ok_or_else(|| FORM.to_owned())?
        };
        milliseconds += number * of_unit;
        rest = after;
    }
    if milliseconds > LONGEST {
        return Err("longer than a thousand years".to_owned());
    }
    // Whole milliseconds, far below 2^53.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(Duration::from_millis(milliseconds.round() as u64))
}

/// Reads a duration up to a maximum; `limit` is the name of the maximum.
///
/// # Errors
/// As [`parse`], or if it is longer.
pub(crate) fn up_to(text: &str, longest: Duration, limit: &str) -> Result<Duration, String> {
    parse(text).and_then(|found| if found <= longest { Ok(found) } else { Err(format!("at most {limit}")) })
}

/// Returns a duration for people, in its two largest units.
pub(crate) fn shown(seconds: u64) -> String {
    let parts = [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")];
    let mut rest = seconds;
    let mut shown = Vec::new();
    for (size, unit) in parts {
        if rest >= size {
            shown.push(format!("{}{unit}", rest / size));
            rest %= size;
        }
    }
    shown.truncate(2);
    if shown.is_empty() { "0s".to_owned() } else { shown.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, milliseconds) in [
            ("90", 90_000),
            ("90s", 90_000),
            ("1.5s", 1_500),
            ("250ms", 250),
            ("31m", 1_860_000),
            ("2h30m", 9_000_000),
            ("1d", 86_400_000),
            ("0", 0),
            ("1h1s1ms", 3_601_001),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in ["", "s", "-5s", "5x", "1..5s", "5 minutes", "five", "9999999999999999d", "1h30q"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_units_are_shown() {
        for (seconds, text) in [(0, "0s"), (59, "59s"), (1_860, "31m"), (90_061, "1d 1h"), (3_601, "1h 1s")] {
            assert_eq!(shown(seconds), text);
        }
    }
}
