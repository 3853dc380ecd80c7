//! The sandbox's clock, and buttons that change it.

use http::StatusCode;
use serde_json::{Value, json};

use super::{
    Context, Form, Html, Refusal, Reply, calls, frame, see,
    site::Place,
    view::{self, Facts, Field, Shown},
};

/// Seconds, the button's label, and what happens by then.
const STEPS: [(&str, &str, &str); 5] = [
    ("30", "+30 seconds", "Late callbacks and the reset of the limit per minute are 30 seconds closer."),
    ("120", "+2 minutes", "A batch of the account updater has finished."),
    ("1860", "+31 minutes", "Sessions and unanswered challenges have expired."),
    ("86400", "+1 day", "Failed logins of the day before no longer count."),
    ("864000", "+10 days", "Reservations have ended: version 3 after five days, the hosted checkout after ten."),
];

/// Speeds and the labels of their buttons.
const SPEEDS: [(&str, &str); 4] =
    [("0", "Freeze"), ("1", "Real speed"), ("60", "60 × as fast"), ("3600", "3,600 × as fast")];

/// Returns the clock, with the error of the last form.
pub(super) fn show(context: &mut Context<'_>, problem: Option<(&str, &Form)>) -> Result<Reply, Refusal> {
    let clock = calls::get(context, "clock")?;
    let entered = problem.and_then(|(_, form)| form.get("set")).unwrap_or_default();
    let path = Place::Clock.here(context);
    let content = Html::new()
        .raw("<p class=\"lead\">One clock for everything that depends on time: sessions, tokens, batches, lockouts, callbacks.</p>\n")
        .put(problem.map(|(problem, _)| view::alert(problem)).unwrap_or_default())
        .put(view::section("Now", now(Shown(&clock))))
        .put(view::section("Advance the clock", steps(&path)))
        .put(view::section("Speed", speeds(&path)))
        .put(view::section("Set it", setting(&path, entered)));
    let status = if problem.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let page = frame::page(context, Some(Place::Clock), Place::Clock.title(), content);
    Ok(Reply::inspector(status, page))
}

/// Changes the clock through the control interface.
pub(super) fn turn(context: &mut Context<'_>, form: &Form) -> Result<Reply, Refusal> {
    let asked = if form.given("real").is_some() {
        json!({ "set": context.real_now.to_string(), "speed": 1 })
    } else {
        let number = |name| form.given(name).map(|text| (name, calls::number(text)));
        let set = form.given("set").map(|text| ("set", Value::from(in_utc(text))));
        let members = [number("advanceSeconds"), number("speed"), set];
        members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
    };
    let answer = calls::post(context, "clock", &asked)?;
    match answer.refused() {
        Some(problem) => show(context, Some((problem, form))),
        None => see(&Place::Clock.here(context)),
    }
}

fn now(clock: Shown<'_>) -> Html {
    let speed = match (clock.flag("frozen"), &*clock.text("speed")) {
        (true, _) => "stands still".to_owned(),
        (false, "1") => "as real time".to_owned(),
        (false, speed) => format!("{speed} × as fast as real time"),
    };
    let offset = clock.inner("offsetSeconds").0.as_i64().unwrap_or(0);
    let real = Html::of(&distance(offset));
    let time = Html::new().raw("<p class=\"now\">").put(clock.time("now")).raw(" UTC</p>\n");
    time.put(Facts::new().quoted("Runs", &speed).fact("Against real time", real).into_html())
}

fn steps(path: &str) -> Html {
    let buttons = STEPS.map(|(seconds, words, meaning)| {
        let button = view::Form::post(path).hidden("advanceSeconds", seconds).button(words);
        Html::new().raw("<div><dt>").put(button).raw("</dt><dd>").raw(meaning).raw("</dd></div>\n")
    });
    Html::new().raw("<dl class=\"steps\">\n").all(buttons).raw("</dl>\n")
}

fn speeds(path: &str) -> Html {
    let buttons = SPEEDS.map(|(speed, words)| view::Form::post(path).hidden("speed", speed).quiet_button(words));
    Html::new().raw("<div class=\"buttons\">\n").all(buttons).raw("</div>\n")
}

fn setting(path: &str, entered: &str) -> Html {
    let field = Field {
        name: "set",
        label: "Date and time",
        value: entered,
        hint: "Such as 2031-01-01 00:00:00, in UTC unless it names another offset. It may be in the past.",
        ..Field::default()
    };
    let form = view::Form::post(path).field(field).button("Set the clock");
    let real = view::Form::post(path).hidden("real", "1").quiet_button("Back to real time");
    form.raw("<div class=\"after\">\n").put(real).raw("</div>\n")
}

/// Converts a date and a time as people write them to RFC 3339; other text is unchanged.
fn in_utc(text: &str) -> String {
    let text = text.trim().replacen(' ', "T", 1);
    match text.len() {
        10 if !text.contains('T') => format!("{text}T00:00:00Z"),
        16 => format!("{text}:00Z"),
        19 => format!("{text}Z"),
        // Without seconds, and with an offset.
        17.. if matches!(text.as_bytes()[16], b'Z' | b'z' | b'+' | b'-') => {
            format!("{}:00{}", &text[..16], &text[16..])
        }
        _ => text,
    }
}

/// Returns seconds in words.
fn distance(seconds: i64) -> String {
    const DAY: u64 = 86_400;
    let (size, direction) = (seconds.unsigned_abs(), if seconds < 0 { "behind" } else { "ahead" });
    match size {
        0 => "the same".to_owned(),
        1..120 => format!("{size} s {direction}"),
        120..7_200 => format!("{} min {direction}", size / 60),
        7_200..172_800 => format!("{} h {} min {direction}", size / 3_600, size / 60 % 60),
        _ => format!("{} days {direction}", size / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (written, wanted) in [
            ("2031-01-01", "2031-01-01T00:00:00Z"),
            (" 2031-01-01 10:30 ", "2031-01-01T10:30:00Z"),
            ("2031-01-01T10:30:15", "2031-01-01T10:30:15Z"),
            ("2031-01-01T10:30:15+02:00", "2031-01-01T10:30:15+02:00"),
            ("2031-01-01 10:30Z", "2031-01-01T10:30:00Z"),
            ("2031-01-01 10:30+02:00", "2031-01-01T10:30:00+02:00"),
            ("tomorrow", "tomorrow"),
            ("\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}", "\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}\u{20ac}"),
        ] {
            assert_eq!(in_utc(written), wanted);
        }
    }

    #[test]
    fn distances_are_readable() {
        for (seconds, wanted) in [
            (0, "the same"),
            (-30, "30 s behind"),
            (1_860, "31 min ahead"),
            (90_000, "25 h 0 min ahead"),
            (864_000, "10 days ahead"),
        ] {
            assert_eq!(distance(seconds), wanted);
        }
    }
}
