//! Runs a job of the integration: as a command or by a request to a running shop, with limits on time and output.

mod guard;
mod process;

use serde_json::{Map, Value};

pub(crate) use self::guard::Guard;
pub(crate) use self::process::{Environment, Group, output_of, prepare, start};
use crate::{
    clock::Clock,
    nearest::did_you_mean,
    plan::Means,
    shop::{self, Call},
};

/// An integration's claim about an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Paid,
    Declined,
    NotCharged,
    Unknown,
}

impl Claim {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Paid => "paid",
            Self::Declined => "declined",
            Self::NotCharged => "not-charged",
            Self::Unknown => "unknown",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "paid" => Self::Paid,
            "declined" => Self::Declined,
            "not-charged" | "not charged" => Self::NotCharged,
            "unknown" => Self::Unknown,
            _ => return None,
        })
    }
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// Normally, with this exit code or HTTP status.
    Done(Option<i32>),
    /// The job took too long and was killed.
    TimedOut,
    /// The drill killed it.
    Killed,
    /// The job printed too much and was killed.
    TooMuch,
    /// The job could not be started or reached.
    NotStarted(String),
}

/// The result of a job.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    pub(crate) end: End,
    pub(crate) claim: Option<Claim>,
    /// The line with the claim.
    pub(crate) answer: Map<String, Value>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn new(end: End, stdout: String, stderr: String) -> Self {
        let line = stdout.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let answer = serde_json::from_str::<Map<String, Value>>(line).unwrap_or_default();
        let claim = answer.get("claim").and_then(Value::as_str).and_then(Claim::named);
        Self { end, claim, answer, stdout, stderr }
    }

    /// Returns a member of the output.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.answer.get(name).and_then(Value::as_str)
    }

    /// Returns the adapter's error, if it made no claim.
    pub(crate) fn trouble(&self) -> String {
        // The text is cut after its secrets are masked.
        let last = |text: &str| text.trim().lines().last().unwrap_or_default().to_owned();
        let said = match (self.stderr.trim(), self.stdout.trim()) {
            ("", "") => String::new(),
            ("", out) => format!("; its last line was: {}", last(out)),
            (err, _) => format!("; it said: {}", last(up_to_error(err))),
        };
        match &self.end {
            End::Done(_) if self.answer.get("claim").is_some() => {
                let claim = self.text("claim").unwrap_or("no text").chars().take(40).collect::<String>();
                let meant = did_you_mean(&claim, ["paid", "declined", "not-charged", "unknown"]);
                format!("the claim {claim} is not one of paid, declined, not-charged and unknown{meant}")
            }
            End::Done(code) => {
                let code = code.map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"));
                format!("the adapter exited with {code} and without a claim{said}")
            }
            End::TimedOut => format!("the adapter made no claim in time and was killed{said}"),
            End::Killed => "the drill killed the adapter".to_owned(),
            End::TooMuch => "the adapter printed more than 1 MiB and was killed".to_owned(),
            End::NotStarted(why) => format!("the adapter could not be started: {why}"),
        }
    }
}

/// Returns the text up to its last line that names an error: PHP, Java and Node print a stack trace after it.
fn up_to_error(text: &str) -> &str {
    let names_error = |line: &str| {
        let line = line.to_ascii_lowercase();
        !line.trim_start().starts_with("at ") && ["error", "exception"].iter().any(|word| line.contains(word))
    };
    let ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((*end, line))
    });
    let end = ends.filter(|(_, line)| names_error(line)).last().map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

/// Runs a job. `killed` completes when the drill wants the adapter killed.
pub(crate) async fn run(
    means: &Means,
    environment: &Environment,
    input: &Value,
    killed: impl Future<Output = ()>,
) -> Ran {
    match means {
        Means::Command(command) => process::run(command, environment, &input.to_string(), killed).await,
        Means::Url(url) => {
            let mut input = input.clone();
            // A running shop may read the account from here; a configured shop ignores it.
            input["environment"] = environment.as_json();
            let call = Call::json(url, &input.to_string());
            let clock = Clock::start();
            // After the timeout a shop works on: its requests would arrive in the next drill. It is awaited once more as
            // long, and what it then says is ignored.
            tokio::select! {
                answer = shop::send(call, environment.timeout * 2) => match answer {
                    _ if clock.elapsed() > environment.timeout => Ran::new(End::TimedOut, String::new(), String::new()),
                    Ok(answer) => Ran::new(End::Done(Some(answer.status.into())), answer.body, String::new()),
                    Err(shop::Silent::TimedOut) => Ran::new(End::TimedOut, String::new(), String::new()),
                    Err(shop::Silent::Closed(why)) => Ran::new(End::NotStarted(why), String::new(), String::new()),
                },
                () = killed => Ran::new(End::Killed, String::new(), String::new()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_adapter_is_reported_with_the_line_that_names_its_error() {
        for (stderr, told) in [
            (
                "PHP Fatal error:  Uncaught Error: Call to undefined function pay() in pay.php:28\nStack trace:\n#0 {main}\n  thrown in pay.php on line 28",
                "PHP Fatal error:  Uncaught Error: Call to undefined function pay() in pay.php:28",
            ),
            (
                "Exception in thread \"main\" java.lang.IllegalStateException: no key\n\tat Pay.error(Pay.java:3)\n\tat Pay.main(Pay.java:9)",
                "Exception in thread \"main\" java.lang.IllegalStateException: no key",
            ),
            (
                "pay.js:3\n  throw it\n\nTypeError: no key\n    at main (pay.js:3)\n\nNode.js v20.20.2",
                "TypeError: no key",
            ),
            (
                "Traceback (most recent call last):\n  File \"pay.py\", line 3\nKeyError: 'PG_API_KEY'",
                "KeyError: 'PG_API_KEY'",
            ),
            ("pay.sh: line 3\njq: command not found", "jq: command not found"),
        ] {
            let ran = Ran::new(End::Done(Some(1)), String::new(), stderr.to_owned());
            assert_eq!(ran.trouble(), format!("the adapter exited with code 1 and without a claim; it said: {told}"));
        }
    }
}
