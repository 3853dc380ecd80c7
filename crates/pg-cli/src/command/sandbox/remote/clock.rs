//! `pg sandbox clock`: the one clock for sessions, tokens, batches, lockouts, the throttle and late callbacks.

use std::time::Duration;

use serde_json::{Value, json};

use super::{print, text, unknown_subcommand};
use crate::{
    control::{AccountFlags, Control},
    duration,
    failure::Failure,
    output,
};

/// Shows, advances or sets the sandbox's clock
///
/// One clock drives everything: sessions, tokens, challenges, reservations, batches, lockouts, the throttle, late
/// callbacks.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox clock                           show it
  pg sandbox clock advance 31m               sessions expire after 30 minutes
  pg sandbox clock set 2031-01-01T00:00:00Z
  pg sandbox clock speed 60                  one minute per second
  pg sandbox clock freeze")]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: AccountFlags,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Shows the clock, its speed and its offset from real time
    Show,
    /// Advances the clock, by up to 100 years
    #[command(after_help = "Examples:\n  pg sandbox clock advance 2m    account updater batches finish")]
    Advance {
        /// How far: 90s, 31m, 2h30m, 1d; a bare number means seconds
        #[arg(value_name = "DURATION", allow_hyphen_values = true, value_parser = forward)]
        by: Duration,
    },
    /// Sets the clock, forward or back
    #[command(after_help = "Examples:\n  pg sandbox clock set 2031-01-01T00:00:00Z")]
    Set {
        /// The time, such as 2031-01-01T00:00:00Z
        #[arg(value_name = "TIME")]
        time: String,
    },
    /// Changes how fast the clock runs
    #[command(after_help = "Examples:\n  pg sandbox clock speed 60")]
    Speed {
        /// Sandbox seconds per real second: 1 is real time, 0 freezes the clock
        #[arg(value_name = "FACTOR", value_parser = factor)]
        factor: f64,
    },
    /// Freezes the clock
    Freeze,
    /// Lets the clock run in real time again
    Resume,
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

/// Returns the command that was probably meant by a word without a subcommand.
fn meant_by(word: &str) -> Option<String> {
    let verb = match word {
        _ if duration::parse(word).is_ok() => "advance",
        _ if word.contains('T') && word.starts_with(|first: char| first.is_ascii_digit()) => "set",
        _ => return None,
    };
    Some(format!("pg sandbox clock {verb} {word}"))
}

/// The longest step of the clock, as the sandbox limits it: 100 years.
const LONGEST_STEP: Duration = Duration::from_secs(36_525 * 86_400);

/// Reads a step of the clock.
fn forward(text: &str) -> Result<Duration, String> {
    if text.strip_prefix('-').is_some_and(|rest| duration::parse(rest).is_ok()) {
        return Err("advance moves the clock forward only; `pg sandbox clock set TIME` sets it back".to_owned());
    }
    duration::up_to(text, LONGEST_STEP, "100 years, that is 36525d")
}

fn factor(text: &str) -> Result<f64, String> {
    let factor: Option<f64> = text.trim_end_matches('x').parse().ok();
    factor
        .filter(|factor| (0.0..=100_000.0).contains(factor))
        .ok_or_else(|| "expected a number from 0 to 100000".to_owned())
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    if let Some(What::Unknown(words)) = &arguments.what {
        return Err(unknown_subcommand::<What>("clock", words, words.first().and_then(|word| meant_by(word))));
    }
    let control = Control::at_account(&arguments.at)?;
    let change = match arguments.what.unwrap_or(What::Show) {
        What::Show | What::Unknown(_) => None,
        What::Advance { by } => Some(json!({ "advanceSeconds": seconds(by) })),
        What::Set { time } => Some(json!({ "set": time })),
        What::Speed { factor } => Some(json!({ "speed": factor })),
        What::Freeze => Some(json!({ "speed": 0 })),
        What::Resume => Some(json!({ "speed": 1 })),
    };
    let clock = match change {
        None => control.get("clock").await?,
        Some(change) => control.post("clock", &change).await?,
    };
    print(&clock, json, shown)
}

/// Returns whole seconds as an integer; the control interface takes thousandths too.
fn seconds(by: Duration) -> Value {
    if by.subsec_millis() == 0 { by.as_secs().into() } else { by.as_secs_f64().into() }
}

fn shown(clock: &Value) -> String {
    let offset = clock["offsetSeconds"].as_i64().unwrap_or_default();
    let distance = match offset {
        0 => "real time".to_owned(),
        1.. => format!("{} ahead of real time", duration::shown(offset.unsigned_abs())),
        _ => format!("{} behind real time", duration::shown(offset.unsigned_abs())),
    };
    let speed = match clock["speed"].as_f64() {
        _ if clock["frozen"] == true => ", frozen".to_owned(),
        Some(speed) if (speed - 1.0).abs() > f64::EPSILON => format!(", runs {speed} times as fast"),
        _ => String::new(),
    };
    output::harmless(&format!("{}  ({distance}{speed})", text(&clock["now"]))).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_is_described() {
        let clock = |speed: f64, offset: i64| {
            shown(&json!({ "now": "T", "speed": speed, "frozen": speed == 0.0, "offsetSeconds": offset }))
        };
        assert_eq!(clock(1.0, 0), "T  (real time)");
        assert_eq!(clock(60.0, 1860), "T  (31m ahead of real time, runs 60 times as fast)");
        assert_eq!(clock(0.0, -5), "T  (5s behind real time, frozen)");
        assert!(factor("60x").is_ok() && factor("-1").is_err() && factor("fast").is_err() && factor("NaN").is_err());
        assert_eq!((seconds(Duration::from_secs(2)), seconds(Duration::from_millis(1500))), (json!(2), json!(1.5)));
    }
}
