//! Reads times that the service writes: ISO 8601 in UTC or with an offset (spec 1 §2.2, 3 §2.1).

use super::Moment;

/// Reads `2024-05-01T12:00:00Z` or `2024-05-01T12:00:00.5+02:00`. `None` for any other text, or for a time before 1970.
pub(super) fn moment(text: &str) -> Option<Moment> {
    let (date, rest) = text.trim().split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    let (time, rest) = rest.split_at_checked(8)?;
    let [year, month, day] = three(date, '-')?;
    let [hour, minute, second] = three(time, ':')?;
    let right = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    let (millis, zone) = fraction(rest)?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    let millis = seconds.checked_mul(1_000)?.checked_add(millis)?;
    right.then(|| u64::try_from(millis).ok()).flatten().map(Moment::from_millis)
}

fn three(text: &str, between: char) -> Option<[i64; 3]> {
    let mut parts = text.split(between).map(number);
    let three = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(three)
}

fn number(digits: &str) -> Option<i64> {
    let right = !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|digit| digit.is_ascii_digit());
    right.then(|| digits.parse().ok()).flatten()
}

/// Returns the milliseconds of a fraction, if there is one, and the text after it.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix('.') else { return Some((0, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (fraction, zone) = rest.split_at(digits);
    let millis = number(&format!("{fraction:0<3}").chars().take(3).collect::<String>())?;
    (digits > 0).then_some((millis, zone))
}

/// Returns seconds east of Greenwich.
fn offset(zone: &str) -> Option<i64> {
    if zone == "Z" || zone == "z" {
        return Some(0);
    }
    let (sign, rest) = zone.split_at_checked(1)?;
    let sign = match sign {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = match rest.len() {
        5 => rest.split_once(':')?,
        4 => rest.split_at_checked(2)?,
        _ => return None,
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Days since the start of 1970. Years start in March here, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let century = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    century * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_gnu_date_writes() {
        for (text, millis) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2000-02-29T23:59:59Z", 951_868_799_000),
            ("2024-05-01T12:00:00Z", 1_714_564_800_000),
            ("2024-05-01T12:00:00+00:00", 1_714_564_800_000),
            ("2024-05-01T14:00:00+0200", 1_714_564_800_000),
            ("2024-05-01T06:30:00.250-05:30", 1_714_564_800_250),
            ("2024-05-01 12:00:00.5Z", 1_714_564_800_500),
            ("2024-12-31T23:59:59.1239Z", 1_735_689_599_123),
        ] {
            assert_eq!(moment(text).map(Moment::millis), Some(millis), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_moment() {
        for text in [
            "",
            "tomorrow",
            "2024-05-01",
            "2024-05-01T12:00:00",
            "2024-13-01T12:00:00Z",
            "2024-05-01T24:00:00Z",
            "2024-05-01T12:00:00+",
            "2024-05-01T12:00:00.Z",
            "1969-12-31T23:59:59Z",
            "2024-05-01T12:00:00+25:00",
            "20240-5-01T12:00:00Z",
            "2024-05-01T12:00:00é",
            "ééééééééééééé",
        ] {
            assert_eq!(moment(text), None, "{text}");
        }
    }
}
