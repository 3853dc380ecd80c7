//! `pg sandbox faults`: faults of the next calls.

use std::time::Duration;

use serde_json::{Value, json};

use super::{print, print_list, segment, text, typed};
use crate::{
    control::{AccountFlags, Control},
    duration,
    failure::Failure,
    output, reference, suggestion,
    table::table,
};

/// Lists, adds and clears faults of the next calls
///
/// At most one fault applies to a call: the oldest one that matches its method and has calls left. Several faults in a
/// row form a script.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox faults                                        list them, oldest first
  pg sandbox faults add transaction/auth drop-reply        charge once, and lose the reply
  pg sandbox faults add '*' status --status 503 --times 3
  pg sandbox faults add token/lookup delay --delay 1.5s
  pg sandbox faults clear")]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: AccountFlags,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Lists faults, oldest first
    List,
    /// Adds a fault for the next calls of a method
    #[command(after_help = "\
Examples:
  pg sandbox faults add transaction/auth drop-reply
  pg sandbox faults add any delay --delay 250ms --times 10
  pg sandbox faults add page/pay no-response-charged")]
    Add {
        /// The method, such as transaction/auth; `any` or * for every method; page/pay for the hosted payment page
        #[arg(value_name = "METHOD")]
        method: String,
        /// The kind of fault
        #[arg(value_name = "KIND", value_enum)]
        kind: Kind,
        /// How many calls it applies to
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
        times: u32,
        /// The delay of the reply, on the real clock, at most 1h; for delay only
        #[arg(long, value_name = "DURATION", value_parser = delay)]
        delay: Option<Duration>,
        /// The HTTP status of the reply, 500 if not given; for status only
        #[arg(long, value_name = "STATUS", value_parser = clap::value_parser!(u16).range(400..=599))]
        status: Option<u16>,
    },
    /// Removes all faults, or one
    #[command(alias = "remove", after_help = "Examples:\n  pg sandbox faults clear")]
    Clear {
        /// The fault's id; without it, all
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
}

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// Not executed; the connection is closed
    DropRequest,
    /// Executed and durable; the connection is closed without a reply
    DropReply,
    /// Executed; the reply is delayed (--delay)
    Delay,
    /// Not executed; the reply is error 998 with an HTTP status (--status)
    Status,
    /// Executed; the reply is damaged
    Garble,
    /// Executed twice; the second reply is sent
    Duplicate,
    /// The bank does not answer: error 119, nothing is charged
    NoResponse,
    /// The bank's answer is lost: error 119, and a lookup finds the charge
    NoResponseCharged,
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::at_account(&arguments.at)?;
    match arguments.what.unwrap_or(What::List) {
        What::List => {
            let faults = control.get("faults").await?;
            print_list(&faults, json, "pg: no faults; add one with `pg sandbox faults add METHOD KIND`", shown)
        }
        What::Add { method, kind, times, delay, status } => {
            let asked = asked(&method, kind, times, delay, status)?;
            let fault = control.post("faults", &asked).await?;
            print(&fault, json, |fault| {
                let calls = if times == 1 { "call".to_owned() } else { format!("{times} calls") };
                output::harmless(&format!(
                    "the next {calls} of {} will get {} (fault {})",
                    method_of(fault),
                    described(fault),
                    text(&fault["id"])
                ))
                .into_owned()
            })
        }
        What::Clear { id } => {
            let path = id.as_ref().map_or_else(|| "faults".to_owned(), |id| format!("faults/{}", segment(id)));
            let removed = control.delete(&path).await?;
            print(&removed, json, |removed| {
                let count = removed["removed"].as_u64().unwrap_or_default();
                format!("{count} {} removed", if count == 1 { "fault" } else { "faults" })
            })
        }
    }
}

/// Reads a delay, within the limit of the sandbox.
fn delay(text: &str) -> Result<Duration, String> {
    duration::up_to(text, Duration::from_secs(3600), "1h")
}

/// Returns the body of `POST /_sandbox/faults`.
fn asked(method: &str, kind: Kind, times: u32, delay: Option<Duration>, status: Option<u16>) -> Result<Value, Failure> {
    let mut asked = json!({ "method": known_method(method)?, "kind": typed(kind), "times": times });
    match (kind, delay) {
        (Kind::Delay, Some(delay)) => {
            asked["milliseconds"] = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX).into()
        }
        (Kind::Delay, None) => {
            return Err(Failure::misuse("the kind delay needs --delay DURATION, for example --delay 1.5s"));
        }
        (_, Some(_)) => return Err(Failure::misuse("--delay applies only to the kind delay")),
        (_, None) => {}
    }
    match (kind, status) {
        (Kind::Status, status) => asked["status"] = status.unwrap_or(500).into(),
        (_, Some(_)) => return Err(Failure::misuse("--status applies only to the kind status")),
        (_, None) => {}
    }
    Ok(asked)
}

/// Returns a method as the control interface spells it.
fn known_method(typed: &str) -> Result<String, Failure> {
    const OTHERS: [&str; 2] = ["page/pay", "any"];
    match typed {
        "any" | "*" => return Ok("*".to_owned()),
        "page/pay" => return Ok(typed.to_owned()),
        _ => {}
    }
    reference::method(typed).map(reference::path).map_err(|failure| match suggestion::nearest(typed, OTHERS) {
        Some(near) => {
            Failure::misuse(format!("unknown method {:?}; did you mean {near}?", pg_model::mask::text(typed)))
        }
        None => failure,
    })
}

/// Returns the method as the command names it.
fn method_of(fault: &Value) -> String {
    match text(&fault["method"]) {
        any if any == "*" => "any method".to_owned(),
        method => method,
    }
}

/// Returns the kind with its number.
fn described(fault: &Value) -> String {
    let kind = text(&fault["kind"]);
    match (fault["milliseconds"].as_u64(), fault["status"].as_u64()) {
        (Some(milliseconds), _) => format!("{kind} {milliseconds} ms"),
        (_, Some(status)) => format!("{kind} {status}"),
        _ => kind,
    }
}

fn shown(faults: &[Value]) -> String {
    let rows: Vec<_> = faults
        .iter()
        .map(|fault| {
            [
                text(&fault["id"]),
                method_of(fault),
                described(fault),
                format!("{} of {}", text(&fault["remaining"]), text(&fault["times"])),
                text(&fault["created"]),
            ]
        })
        .collect();
    table(["ID", "METHOD", "KIND", "CALLS LEFT", "CREATED"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_belong_to_their_kinds() {
        let seconds = Some(Duration::from_millis(1500));
        assert_eq!(
            asked("any", Kind::Delay, 2, seconds, None).unwrap(),
            json!({ "method": "*", "kind": "delay", "times": 2, "milliseconds": 1500 })
        );
        assert_eq!(asked("checkout/gettoken", Kind::Status, 1, None, None).unwrap()["status"], 500);
        for (kind, delay, status, says) in [
            (Kind::Delay, None, None, "needs --delay"),
            (Kind::Garble, seconds, None, "--delay applies only to the kind delay"),
            (Kind::DropReply, None, Some(503), "--status applies only to the kind status"),
        ] {
            assert!(asked("page/pay", kind, 1, delay, status).unwrap_err().message().contains(says), "{says}");
        }
        for (typed, says) in [
            ("transaction/auht", "did you mean transaction/auth?"),
            ("page/pey", "did you mean page/pay?"),
            ("lookup", "lookup?"),
        ] {
            assert!(known_method(typed).unwrap_err().message().contains(says), "{typed}");
        }
    }
}
