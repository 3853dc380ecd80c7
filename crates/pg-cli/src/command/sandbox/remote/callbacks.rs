//! `pg sandbox callbacks`: sent and pending callbacks, and the behaviour of the next ones.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    accounts,
    destinations::{self, Kind},
    entries, print, print_list, segment, text, whole,
};
use crate::{
    control::{AccountFlags, Control},
    duration,
    failure::{Exit, Failure},
    output,
    table::table,
};

/// Lists callbacks with their attempts, redelivers one, registers their destination, and makes the next ones fail,
/// arrive late or twice
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  pg sandbox callbacks                           newest first
  pg sandbox callbacks show ID                   one, with its body
  pg sandbox callbacks redeliver                 the newest again
  pg sandbox callbacks misbehave late --by 10m   the next one comes ten minutes late
  pg sandbox callbacks register http://127.0.0.1:8000/hook --retries 5
  pg sandbox callbacks reset"
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: AccountFlags,
    /// Maximum number of entries to list
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    /// Lists callbacks, newest first
    List {
        /// Maximum number of entries to list
        #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Shows one callback with its body
    Show {
        /// The callback's id
        #[arg(value_name = "ID")]
        id: String,
    },
    /// Sends a callback again, and waits for the response
    #[command(after_help = "\
Examples:
  pg sandbox callbacks redeliver       the newest
  pg sandbox callbacks redeliver ID")]
    Redeliver {
        /// The callback's id; without it, the newest
        #[arg(value_name = "ID")]
        id: Option<String>,
    },
    /// Makes the next callbacks fail, arrive late or arrive twice
    #[command(after_help = "\
Examples:
  pg sandbox callbacks misbehave fail
  pg sandbox callbacks misbehave late --by 10m
  pg sandbox callbacks misbehave twice --times 3")]
    Misbehave {
        /// What the next callbacks do
        #[arg(value_name = "KIND", value_enum)]
        kind: Misbehaviour,
        /// The delay, on the sandbox's clock; for late only
        #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
        by: Option<Duration>,
        /// How many callbacks are affected
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
        times: u32,
    },
    /// Restores normal delivery of callbacks
    Reset,
    /// Registers an address that receives an account's callbacks instead of the addresses in its requests
    #[command(after_help = "\
Examples:
  pg sandbox callbacks register http://127.0.0.1:8000/hook --kind checkout
  pg sandbox callbacks register http://127.0.0.1:8000/hook --account strict --retries 5

A checkout whose request names no callback_url uses the address too. `pg listen --register` does the same for its own addresses.")]
    Register {
        /// The address; the sandbox's rules for callback URLs apply to it
        #[arg(value_name = "URL")]
        url: String,
        /// The account, configured or created at run time
        #[arg(long, value_name = "NAME", default_value = "main", value_parser = crate::account::name())]
        account: String,
        /// Only callbacks of this kind; without it, callbacks of both kinds
        #[arg(long, value_name = "KIND", value_enum)]
        kind: Option<Kind>,
        /// How many times a callback that is not acknowledged is resent: first after 10 seconds, then with the delay
        /// doubled each time
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(0..=9))]
        retries: Option<u32>,
    },
    /// Lists the registered addresses
    Destinations {
        /// Only those of this account, configured or created at run time
        #[arg(long, value_name = "NAME", value_parser = crate::account::name())]
        account: Option<String>,
    },
    /// Removes a registered address, or all of them
    Unregister {
        /// The destination's id
        #[arg(value_name = "ID")]
        id: Option<String>,
        /// Only those of this account, configured or created at run time
        #[arg(long, value_name = "NAME", value_parser = crate::account::name())]
        account: Option<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Misbehaviour {
    /// Recorded and never sent
    Fail,
    /// Sent late, by the duration of --by
    Late,
    /// Sent twice
    Twice,
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let control = Control::at_account(&arguments.at)?;
    match arguments.what {
        None => list(&control, arguments.limit, json).await,
        Some(What::List { limit }) => list(&control, limit, json).await,
        Some(What::Show { id }) => {
            let callback = control.get(&format!("callbacks/{}", segment(&id))).await?;
            print(&callback, json, whole)
        }
        Some(What::Redeliver { id }) => return redeliver(&control, id, json).await,
        Some(What::Misbehave { kind, by, times }) => {
            let asked = asked(kind, by, times)?;
            told(&control.post("callbacks/behaviour", &asked).await?, json)
        }
        Some(What::Reset) => told(&control.delete("callbacks/behaviour").await?, json),
        Some(What::Register { url, account, kind, retries }) => {
            let control = control.of_account(&account).await?;
            destinations::set(&control, &account, kind, &url, retries, json).await
        }
        Some(What::Destinations { account }) => {
            let (control, account) = of_account(control, account.as_deref()).await?;
            destinations::list(&control, account, json).await
        }
        Some(What::Unregister { id, account }) => {
            let (control, account) = of_account(control, account.as_deref()).await?;
            destinations::remove(&control, account, id, json).await
        }
    }?;
    Ok(Exit::Done)
}

/// Returns the path of the list of an account's destinations. Configured accounts share a list.
///
/// # Errors
/// If the account does not exist.
async fn of_account(control: Control, name: Option<&str>) -> Result<(Control, Option<&str>), Failure> {
    let Some(name) = name else { return Ok((control, None)) };
    let control = control.of_account(name).await?;
    if control.is_shared() {
        accounts::find(&control.get("merchants").await?, name)?;
    }
    Ok((control, Some(name)))
}

fn asked(kind: Misbehaviour, by: Option<Duration>, times: u32) -> Result<Value, Failure> {
    match (kind, by) {
        (Misbehaviour::Fail, None) => Ok(json!({ "kind": "fail", "times": times })),
        (Misbehaviour::Twice, None) => Ok(json!({ "kind": "twice", "times": times })),
        (Misbehaviour::Late, Some(by)) => Ok(json!({ "kind": "late", "seconds": by.as_secs(), "times": times })),
        (Misbehaviour::Late, None) => Err(Failure::misuse("late needs --by DURATION, for example --by 10m")),
        (_, Some(_)) => Err(Failure::misuse("--by applies only to late")),
    }
}

/// Returns the behaviour of the next callbacks as text.
fn told(behaviours: &Value, json: bool) -> Result<(), Failure> {
    print(behaviours, json, |behaviours| match entries(behaviours) {
        [] => "the next callbacks are delivered as usual".to_owned(),
        list => next(list),
    })
}

fn next(list: &[Value]) -> String {
    let one = |behaviour: &Value| {
        let times = behaviour["times"].as_u64().unwrap_or(1);
        let what = match behaviour["kind"].as_str() {
            Some("fail") => "not sent".to_owned(),
            Some("late") => format!("{} late", duration::shown(behaviour["seconds"].as_u64().unwrap_or_default())),
            Some("twice") => "sent twice".to_owned(),
            other => other.unwrap_or_default().to_owned(),
        };
        if times == 1 { what } else { format!("{times} {what}") }
    };
    let list: Vec<String> = list.iter().map(one).collect();
    output::harmless(&format!("the next callbacks: {}", list.join(", then "))).into_owned()
}

async fn list(control: &Control, limit: u32, json: bool) -> Result<(), Failure> {
    let callbacks = control.get(&format!("callbacks?limit={limit}")).await?;
    let empty = "pg: no callbacks yet; finished updater batches and paid checkouts send them";
    print_list(&callbacks, json, empty, |callbacks| {
        let rows: Vec<_> = callbacks
            .iter()
            .map(|callback| {
                [
                    text(&callback["id"]),
                    text(&callback["kind"]),
                    text(&callback["about"]),
                    text(&callback["status"]),
                    attempts(callback),
                    result(callback),
                    text(&callback["url"]),
                ]
            })
            .collect();
        table(["ID", "KIND", "ABOUT", "STATUS", "ATTEMPTS", "LAST RESULT", "ADDRESS"], &rows)
    })?;
    if !json {
        let told = control.get("callbacks/behaviour").await?;
        if !entries(&told).is_empty() {
            output::say(&format!("pg: {}", next(entries(&told))));
        }
    }
    Ok(())
}

/// Returns how often a callback was sent, and the remaining retries.
fn attempts(callback: &Value) -> String {
    let sent = text(&callback["attempts"]);
    match callback["retriesLeft"].as_u64() {
        Some(left @ 1..) if callback["status"] == "pending" => format!("{sent}, {left} left"),
        _ => sent,
    }
}

/// Returns the answer to the last attempt.
fn result(callback: &Value) -> String {
    let last = &callback["lastResult"];
    match last["status"].as_u64() {
        Some(status) => format!("HTTP {status}"),
        None => text(&last["error"]),
    }
}

/// Longer than the time for which the sandbox waits for a response.
const PATIENCE: Duration = Duration::from_secs(15);
const BETWEEN: Duration = Duration::from_millis(50);

/// Sends a callback again, and returns whether it was acknowledged.
async fn redeliver(control: &Control, id: Option<String>, json: bool) -> Result<Exit, Failure> {
    let id = match id {
        Some(id) => id,
        None => {
            let newest = control.get("callbacks?limit=1").await?;
            let newest = entries(&newest).first().map(|callback| text(&callback["id"]));
            newest.ok_or_else(|| Failure::misuse("there is no callback to redeliver"))?
        }
    };
    let path = format!("callbacks/{}", segment(&id));
    let before = control.get(&path).await?["attempts"].as_u64();
    control.post(&format!("{path}/redeliver"), &json!({})).await?;
    #[expect(clippy::disallowed_methods, reason = "the sandbox is another process: its journal is polled in real time")]
    let mut turns = tokio::time::interval(BETWEEN);
    let wait = async {
        loop {
            turns.tick().await;
            let callback = control.get(&path).await?;
            if callback["attempts"].as_u64() > before {
                return Ok(callback);
            }
        }
    };
    let callback = match tokio::time::timeout(PATIENCE, wait).await {
        Ok(callback) => callback?,
        Err(_) => control.get(&path).await?,
    };
    let is_acknowledged = callback["attempts"].as_u64() > before
        && callback["lastResult"]["status"].as_u64().is_some_and(|status| (200..300).contains(&status));
    let ended = match is_acknowledged {
        true => Ok(Exit::Done),
        false => Err(Failure::new(Exit::Refused, "the callback was not acknowledged")),
    };
    if json {
        return output::result(&callback, ended);
    }
    let shown = format!(
        "{} callback about {} to {}: {}, attempt {}",
        text(&callback["kind"]),
        text(&callback["about"]),
        text(&callback["url"]),
        result(&callback),
        text(&callback["attempts"]),
    );
    output::page(&output::harmless(&shown))?;
    ended
}
