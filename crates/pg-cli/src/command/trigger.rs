//! `pg trigger`: complete scenarios at a sandbox, step by step, and the ledger at the end.

mod charges;
mod checkout;
mod ledger;
mod lockout;
mod scenario;
mod settlements;
mod story;
mod three_d_secure;
mod updater;

use std::sync::Arc;

use pg_model::Dialect;
use pg_sandbox::{Config, Server, Settings, StoreChoice};

use self::{scenario::Scenario, story::Story};
use super::walkthrough::report::Report;
use crate::{
    account::dialect,
    control::{Control, SandboxFlags},
    failure::{Exit, Failure},
    listen_address, output,
    table::table,
};

pub(in crate::command) use scenario::ALL;

/// Runs a complete scenario against a sandbox: a decline, a lost reply, a 3-D Secure challenge, an updater batch
///
/// Prints each step with its requests, their status and basis, and at the end the ledger. Uses the running sandbox,
/// where you can inspect the result. Some scenarios add a fault or advance the clock, and say so. With --standalone,
/// starts a separate sandbox. The exit code is 0 if every step went as expected, and 1 if not.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg trigger --list
  pg trigger decline
  pg trigger lost-reply --standalone
  pg trigger checkout --callback-url http://127.0.0.1:8490/…    an address of `pg listen`
  pg trigger partial-refund --json | jq .ledger")]
pub(crate) struct Arguments {
    /// The scenario; `pg trigger --list` explains them
    #[arg(value_name = "SCENARIO", value_enum, hide_possible_values = true)]
    scenario: Option<Scenario>,
    /// Lists the scenarios
    #[arg(long)]
    list: bool,
    /// The account that pays; most scenarios need raw card numbers
    #[arg(long, value_name = "ACCOUNT", default_value = "main", value_parser = crate::account::name())]
    merchant: String,
    /// The order's reference; generated if it is not given
    #[arg(long, value_name = "REFERENCE")]
    reference: Option<String>,
    /// The URL to which the sandbox sends callbacks, instead of to this command
    #[arg(long, value_name = "URL", value_parser = listen_address::url)]
    callback_url: Option<String>,
    #[arg(
        long,
        value_name = "NAME|FILE",
        default_value = "sandbox",
        help = dialect::help("The dialect that the sandbox was started with, or that --standalone starts it with"),
    )]
    dialect: String,
    /// Starts a separate sandbox, in memory on a free port
    #[arg(long, conflicts_with = "sandbox")]
    standalone: bool,
    #[command(flatten)]
    at: SandboxFlags,
}

pub(crate) fn run(arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    if arguments.list {
        list(json)?;
        return Ok(Exit::Done);
    }
    let scenario =
        arguments.scenario.ok_or_else(|| Failure::misuse("name a SCENARIO; `pg trigger --list` lists them"))?;
    let dialect = dialect::named(&arguments.dialect)?;
    let ok = super::block_on(async {
        if !arguments.standalone {
            let control = Control::beside_card_data(&arguments.at)?;
            return play(scenario, arguments, dialect, control, json).await;
        }
        let config =
            Config::default().listen(std::net::SocketAddr::from(([127, 0, 0, 1], 0))).store(StoreChoice::Memory);
        let server = Server::start(config.settings(Settings::default().dialect(dialect.clone()))).await;
        let server = server.map_err(|error| super::sandbox::failure(&error))?;
        let base = listen_address::from_here(&server.base_url(), server.address());
        let played = play(scenario, arguments, dialect, Control::at(&base)?, json).await;
        let closed = server.shutdown().await;
        let played = played?;
        // The report was printed before.
        closed.map_err(|error| Failure::new(Exit::Unknown, error.to_string()).after_document())?;
        Ok(played)
    })?;
    Ok(if ok { Exit::Done } else { Exit::Refused })
}

fn list(json: bool) -> Result<(), Failure> {
    if json {
        let all: Vec<_> =
            ALL.iter().map(|(_, name, about)| serde_json::json!({ "scenario": name, "about": about })).collect();
        return output::json(&all);
    }
    let rows: Vec<_> = ALL.iter().map(|(_, name, about)| [(*name).to_owned(), (*about).to_owned()]).collect();
    output::page(&table(["SCENARIO", "WHAT HAPPENS"], &rows))
}

/// True if every step went as expected.
async fn play(
    scenario: Scenario,
    arguments: &Arguments,
    dialect: Arc<Dialect>,
    control: Control,
    json: bool,
) -> Result<bool, Failure> {
    let accounts = control.get("merchants").await.map_err(|failure| {
        if arguments.standalone {
            failure
        } else {
            failure.with("; or run the scenario in a separate sandbox with --standalone")
        }
    })?;
    let account = super::sandbox::remote::account(&accounts, &arguments.merchant)?;
    let title = format!("{}: {}", scenario.name(), scenario.about());
    let report = Report::new(json, &title, control.base().as_str().to_owned());
    let reference = arguments.reference.clone().unwrap_or_else(made_up);
    let mut story = Story::new(control, account, dialect, reference, arguments.callback_url.clone(), report).await?;
    scenario.play(&mut story).await;
    story.end().await
}

/// Returns a reference that no earlier scenario has used.
#[expect(clippy::disallowed_methods, reason = "randomness enters the program in its commands")]
fn made_up() -> String {
    use std::hash::BuildHasher as _;

    format!("trigger-{:08x}", std::hash::RandomState::new().hash_one(0_u8) & 0xffff_ffff)
}
