//! `pg sandbox account`: accounts that are created and removed while a sandbox runs.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::{accounts::exports, print, print_list, segment, text};
use crate::{
    command::sandbox::abilities,
    control::{Control, SandboxFlags},
    duration,
    failure::Failure,
    output,
    table::table,
};

/// Creates, lists and removes accounts of a running sandbox, each with its own clock and faults
///
/// Separates the users of one sandbox, such as the jobs of a CI system: no other account sees what such an account
/// does. The commands faults, clock, cards, callbacks, batches and list take its name with --account.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox account new --ttl 1h --json           for one CI job, with credentials
  eval \"$(pg sandbox account new ci-17)\"           sets PG_BASE_URL, PG_API_KEY, … in this shell
  pg sandbox clock advance 31m --account ci-17     the sessions of this account expire
  pg sandbox account list
  pg sandbox account remove ci-17                  with everything that belongs to it")]
pub(crate) struct Arguments {
    #[command(flatten)]
    at: SandboxFlags,
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    /// Creates an account and prints its credentials, which are not shown again
    #[command(after_help = "\
Examples:
  pg sandbox account new                        an unused name, until it is removed
  pg sandbox account new ci-17 --ttl 90m
  pg sandbox account new --like strict --json   100 requests a minute, no raw card numbers")]
    New {
        /// Its name: 1 to 32 lower-case letters, digits and hyphens; without it, the sandbox chooses one
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// Its lifetime on the real clock: 90s, 1h, 7d; at most a year. Default: until it is removed
        #[arg(long, value_name = "DURATION", value_parser = whole_seconds)]
        ttl: Option<Duration>,
        /// The configured account whose currencies, permissions and limits it gets
        #[arg(long, value_name = "ACCOUNT", default_value = "main", value_parser = crate::account::name())]
        like: String,
    },
    /// Lists the accounts created at run time, oldest first; `pg sandbox accounts` lists the configured ones
    List,
    /// Removes an account with everything that belongs to it
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Returns a lifetime in whole seconds.
fn whole_seconds(typed: &str) -> Result<Duration, String> {
    let ttl = duration::parse(typed)?;
    if ttl.as_secs() >= 1 && ttl.subsec_nanos() == 0 {
        Ok(ttl)
    } else {
        Err("give whole seconds, at least one, as in 90s or 1h".to_owned())
    }
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::new(&arguments.at)?;
    match arguments.what {
        What::New { name, ttl, like } => {
            let account = control.post("accounts", &asked(name, ttl, like)).await?;
            print(&account, json, |account| new(account, control.base().as_str()))
        }
        What::List => {
            let accounts = control.get("accounts").await?;
            let empty = "pg: no accounts were created at run time; create one with `pg sandbox account new`";
            print_list(&accounts, json, empty, shown)
        }
        What::Remove { name } => {
            let removed = control.delete(&format!("accounts/{}", segment(&name))).await?;
            print(&removed, json, |_| output::harmless(&format!("account {name} removed")).into_owned())
        }
    }
}

/// Returns the body of `POST /_sandbox/accounts`.
fn asked(name: Option<String>, ttl: Option<Duration>, like: String) -> Value {
    let members = [
        name.map(|name| ("name", json!(name))),
        ttl.map(|ttl| ("ttlSeconds", json!(ttl.as_secs()))),
        Some(("like", json!(like))),
    ];
    members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

/// Returns commented lines for a shell.
fn new(account: &Value, base: &str) -> String {
    let until = match account["expires"].as_str() {
        Some(expires) => format!("until {expires}"),
        None => "until it is removed".to_owned(),
    };
    let lines = format!("# Account {}, {until}: {}", text(&account["name"]), abilities(account));
    format!("{}\n{}", output::harmless(&lines), exports(account, base))
}

fn shown(accounts: &[Value]) -> String {
    let rows: Vec<_> = accounts
        .iter()
        .map(|account| {
            let expires = account["expires"].as_str().map_or_else(|| "never".to_owned(), str::to_owned);
            [
                text(&account["name"]),
                text(&account["created"]),
                expires,
                text(&account["clock"]["now"]),
                abilities(account),
            ]
        })
        .collect();
    table(["NAME", "CREATED", "EXPIRES", "ITS CLOCK", "PERMISSIONS"], &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_to_live_has_whole_seconds() {
        assert_eq!(whole_seconds("1h30m"), Ok(Duration::from_secs(5_400)));
        for wrong in ["0", "1.5s", "250ms", "soon", "-1h"] {
            assert!(whole_seconds(wrong).is_err(), "{wrong}");
        }
        let all = asked(Some("ci-1".to_owned()), Some(Duration::from_secs(60)), "main".to_owned());
        assert_eq!(all, json!({ "name": "ci-1", "ttlSeconds": 60, "like": "main" }));
        assert_eq!(asked(None, None, "strict".to_owned()), json!({ "like": "strict" }));
    }
}
