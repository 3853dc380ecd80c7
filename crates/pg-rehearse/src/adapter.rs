//! Runs a job of the integration: as a command or by a request to a running shop, with limits on time and output.

mod guard;
mod process;

use serde_json::{Map, Value};

pub(crate) use self::guard::Guard;
pub(crate) use self::process::{Environment, Group, how, output_of, prepare, start};
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
    /// By itself, with this exit code.
    Done(i32),
    /// By a signal that the drill did not send.
    Signalled(String),
    /// With a reply of this HTTP status.
    Replied(u16),
    /// The job took too long and was killed.
    TimedOut,
    /// The drill killed it.
    Killed,
    /// The job printed too much and was killed.
    TooMuch,
    /// The job could not be started.
    NotStarted(String),
    /// The shop could not be reached, or closed the connection.
    NoReply(String),
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
        let answer = object(last_line(&stdout)).unwrap_or_default();
        let claim = answer.get("claim").and_then(Value::as_str).and_then(Claim::named);
        Self { end, claim, answer, stdout, stderr }
    }

    /// The reply of a running shop: its whole body is the answer, or the last line of it.
    fn replied(status: u16, body: String) -> Self {
        let whole = object(body.strip_prefix('\u{feff}').unwrap_or(&body));
        let mut ran = Self::new(End::Replied(status), body, String::new());
        if let Some(answer) = whole {
            ran.claim = answer.get("claim").and_then(Value::as_str).and_then(Claim::named);
            ran.answer = answer;
        }
        ran
    }

    /// Returns a member of the output.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.answer.get(name).and_then(Value::as_str)
    }

    /// Returns the adapter's error, if it made no claim.
    pub(crate) fn trouble(&self) -> String {
        let said = self.said();
        match &self.end {
            End::Done(_) | End::Replied(_) if self.answer.get("claim").is_some_and(|claim| !claim.is_string()) => {
                "the claim is not a text: give one of paid, declined, not-charged and unknown".to_owned()
            }
            End::Done(_) | End::Replied(_) if self.answer.get("claim").is_some() => {
                // The text is cut after its secrets are masked.
                let claim = self.text("claim").unwrap_or_default().chars().take(40).collect::<String>();
                let meant = did_you_mean(&claim, ["paid", "declined", "not-charged", "unknown"]);
                format!("the claim {claim} is not one of paid, declined, not-charged and unknown{meant}")
            }
            End::Done(code) => format!("the adapter exited with code {code} and without a claim{}{said}", self.meant()),
            End::Signalled(signal) => format!("the adapter was killed by {signal} and made no claim{said}"),
            End::Replied(status) => {
                let body = without_tags(&self.stdout);
                let said = match (to_error(&body), self.stdout.trim().lines().next()) {
                    (Some(error), _) => format!("; it said: {}", last(error)),
                    (None, Some(first)) => format!("; its body begins: {first}"),
                    (None, None) => String::new(),
                };
                format!("the reply has HTTP {status} and no claim{}{said}", self.meant())
            }
            End::TimedOut => {
                format!("the adapter made no claim in time (timeout_seconds in the plan) and was killed{said}")
            }
            End::Killed => "the drill killed the adapter".to_owned(),
            End::TooMuch => "the adapter printed more than 1 MiB and was killed".to_owned(),
            End::NotStarted(why) => format!("the adapter could not be started: {why}"),
            End::NoReply(why) => format!("the shop gave no reply: {why}"),
        }
    }
}

impl Ran {
    /// Returns the hint at a misspelt claim.
    fn meant(&self) -> String {
        let mut names = self.answer.keys();
        let meant = names.find(|name| name.eq_ignore_ascii_case("claim"));
        meant.map_or_else(String::new, |name| format!("; {name}: did you mean claim?"))
    }

    /// Returns the last words of an adapter without a claim.
    fn said(&self) -> String {
        if [&self.stdout, &self.stderr].into_iter().any(|text| has_claim(text)) {
            return "; print the claim as the last line of standard output, on one line".to_owned();
        }
        match (self.stderr.trim(), self.stdout.trim()) {
            ("", "") => String::new(),
            ("", out) => format!("; its last line was: {}", last(out)),
            (err, "") => format!("; it said: {}", last(up_to_error(err))),
            (err, out) => {
                let (out, err) = (last(out), last(up_to_error(err)));
                format!("; its last line on standard output was: {out}; on standard error: {err}")
            }
        }
    }
}

/// Returns the last line that is not blank. The byte order mark is left out, which some programs print first.
fn last_line(text: &str) -> &str {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default()
}

fn object(text: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(text).ok()
}

/// Whether a line contains a claim, or several lines do.
fn has_claim(text: &str) -> bool {
    let claims = |text: &str| object(text).is_some_and(|object| object.contains_key("claim"));
    text.lines().any(claims) || text.find('{').is_some_and(|at| claims(&text[at..]))
}

fn last(text: &str) -> &str {
    text.trim().lines().last().unwrap_or_default().trim()
}

/// Returns a page without its tags: PHP prints its errors in HTML.
fn without_tags(page: &str) -> String {
    let parts = page.split('<').enumerate();
    parts
        .filter_map(|(at, part)| if at == 0 { Some(part) } else { part.split_once('>').map(|(_, text)| text) })
        .collect()
}

fn up_to_error(text: &str) -> &str {
    to_error(text).unwrap_or(text)
}

/// Returns the text up to its last line that names an error: PHP, Java and Node print a stack trace after it.
fn to_error(text: &str) -> Option<&str> {
    let names_error = |line: &str| {
        let line = line.to_ascii_lowercase();
        !line.trim_start().starts_with("at ") && ["error", "exception"].iter().any(|word| line.contains(word))
    };
    let ends = text.split_inclusive('\n').scan(0, |end, line| {
        *end += line.len();
        Some((*end, line))
    });
    let (end, _) = ends.filter(|(_, line)| names_error(line)).last()?;
    text.get(..end)
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
                    Ok(answer) => Ran::replied(answer.status, answer.body),
                    Err(shop::Silent::TimedOut) => Ran::new(End::TimedOut, String::new(), String::new()),
                    Err(silent) => Ran::new(End::NoReply(silent.to_string()), String::new(), String::new()),
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
    fn an_adapter_without_a_readable_claim_is_told_why() {
        let told = |stdout: &str, stderr: &str| Ran::new(End::Done(0), stdout.to_owned(), stderr.to_owned()).trouble();
        let place = "; print the claim as the last line of standard output, on one line";
        let claim = r#"{"claim": "unknown"}"#;
        for (stdout, stderr, end) in [
            (&*format!("{claim}\nDone."), "SLF4J: no providers were found", place),
            ("", claim, place),
            ("{\n\"claim\": \"unknown\"\n}", "", place),
            (
                r#"{"Claim": "unknown"}"#,
                "",
                "; Claim: did you mean claim?; its last line was: {\"Claim\": \"unknown\"}",
            ),
            ("Done.", "a warning", "; its last line on standard output was: Done.; on standard error: a warning"),
        ] {
            assert_eq!(told(stdout, stderr), format!("the adapter exited with code 0 and without a claim{end}"));
        }
        let why = "the claim is not a text: give one of paid, declined, not-charged and unknown";
        assert_eq!(told(r#"{"claim": 1}"#, ""), why);
        let replied = |body: &str| Ran::replied(200, body.to_owned());
        assert_eq!(replied("{\n\"claim\": \"unknown\"\n}\n").claim, Some(Claim::Unknown));
        assert_eq!(replied(&format!("<p>Notice</p>\n{claim}")).claim, Some(Claim::Unknown));
        let php = "<br />\n<b>Fatal error</b>:  Uncaught Error: Call to undefined function pay() in /shop.php:28\nStack trace:\n#0 {main}\n  thrown in <b>/shop.php</b> on line <b>28</b><br />\n";
        let told = "Fatal error:  Uncaught Error: Call to undefined function pay() in /shop.php:28";
        assert_eq!(replied(php).trouble(), format!("the reply has HTTP 200 and no claim; it said: {told}"));
        assert_eq!(replied("Not\nfound").trouble(), "the reply has HTTP 200 and no claim; its body begins: Not");
        assert_eq!(Ran::new(End::Done(0), format!("\u{feff}{claim}"), String::new()).claim, Some(Claim::Unknown));
    }

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
            let ran = Ran::new(End::Done(1), String::new(), stderr.to_owned());
            assert_eq!(ran.trouble(), format!("the adapter exited with code 1 and without a claim; it said: {told}"));
        }
    }
}
