//! `pg sandbox`: the whole service on this machine.

use std::{net::SocketAddr, path::PathBuf};

use pg_sandbox::{Config, ControlAccess, Server, Settings, StartError, StoreChoice, config_file, merchants::Merchants};
use serde::Serialize;

use super::interrupt::Interrupted;
use crate::{
    account::Setting,
    failure::Failure,
    output::{self, Exit, Paint},
    shell::word,
};

/// Serves a sandbox of the whole service until it is interrupted
///
/// Its credentials are published and open nothing else. With --json the first line of output is
/// {"baseUrl": …, "enterpriseBaseUrl": …, "merchants": […]}.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox                                      on port 8480, records in memory
  pg sandbox --listen 127.0.0.1:0 --json          on a free port, for programs
  pg sandbox --store shop.sqlite                  records that survive, card numbers sealed
  pg sandbox --config merchants.toml              more accounts

Merchants of a config file, TOML or JSON:
  [[merchant]]
  name = \"shop\"
  apiKey = \"…32 letters and digits…\"
  apiPassword = \"…\"
  shaKey = \"…\"
  currencies = [\"GBP\"]
  rawCards = true")]
pub(crate) struct Arguments {
    /// Where it listens; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8480")]
    listen: SocketAddr,
    /// A SQLite file, with a key file beside it, or memory
    #[arg(long, value_name = "FILE|memory", default_value = "memory")]
    store: PathBuf,
    /// Merchants besides the built-in ones, or in their place
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Lets other machines use the control interface, which shows credentials and turns the clock
    #[arg(long)]
    control_from_anywhere: bool,
}

pub(crate) fn run(arguments: Arguments, json: bool) -> Result<Exit, Failure> {
    let merchants = match &arguments.config {
        Some(path) => config_file::read_merchants(path)
            .and_then(Merchants::with)
            .map_err(|error| Failure::misuse(format!("{}: {error}", path.display())))?,
        None => Merchants::default(),
    };
    if !arguments.listen.ip().is_loopback() {
        output::warn("other machines can reach this sandbox, and its credentials are published");
    }
    let control = ControlAccess { from_anywhere: arguments.control_from_anywhere, ..ControlAccess::default() };
    let settings = Settings { merchants: merchants.clone(), control, ..Settings::default() };
    let store = match arguments.store.to_str() {
        Some("memory") => StoreChoice::Memory,
        _ => StoreChoice::File(arguments.store),
    };
    let config = Config { listen: arguments.listen, store: store.clone(), settings };
    super::runtime()?.block_on(async {
        let interrupted = Interrupted::listen()?;
        let server = Server::start(config).await.map_err(|error| failure(&error))?;
        let up = Up { server: &server, merchants: &merchants, store: &store };
        if json {
            output::json(&up.facts())?;
        } else {
            output::data(&up.page(Paint::of_stdout()))?;
        }
        interrupted.wait().await;
        output::say("pg: stopping: answering what is there, then closing the store");
        server.shutdown().await;
        Ok(Exit::Done)
    })
}

/// What to do about a sandbox that does not start.
pub(super) fn failure(error: &StartError) -> Failure {
    let advice = match error {
        StartError::Address(..) => "; choose another with --listen, port 0 takes a free one",
        StartError::Store(..) => "; choose another with --store",
        _ => "",
    };
    Failure::misuse(format!("{error}{advice}"))
}

struct Up<'a> {
    server: &'a Server,
    merchants: &'a Merchants,
    store: &'a StoreChoice,
}

/// What a program needs to use the sandbox.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Facts {
    base_url: String,
    enterprise_base_url: String,
    merchants: serde_json::Value,
}

impl Up<'_> {
    fn facts(&self) -> Facts {
        Facts {
            base_url: self.server.base_url(),
            enterprise_base_url: self.server.enterprise_base_url(),
            merchants: self.merchants.view(),
        }
    }

    /// Everything is a comment or an export, so that the whole page can be pasted into a shell; it takes the first
    /// account.
    fn page(&self, paint: Paint) -> String {
        let base = self.server.base_url();
        let store = match self.store {
            StoreChoice::Memory => "in memory: gone when the sandbox ends".to_owned(),
            StoreChoice::File(path) => format!("in {}", path.display()),
        };
        let mut lines = vec![
            paint.bold("# The sandbox is up. Ctrl-C ends it."),
            format!("# Records are {store}."),
            format!(
                "# Look at {base}/_sandbox/cards for card numbers to try, /_sandbox/merchants and /_sandbox/clock."
            ),
            format!("export {}={base}", Setting::BaseUrl.variable()),
            format!("export {}={}", Setting::EnterpriseBaseUrl.variable(), self.server.enterprise_base_url()),
        ];
        let view = self.merchants.view();
        for (at, merchant) in view.as_array().into_iter().flatten().enumerate() {
            lines.push(String::new());
            lines.push(paint.bold(&format!("# Account {}: {}", text(&merchant["name"]), abilities(merchant))));
            // One account at a time: the others are there to be uncommented.
            let prefix = if at == 0 { "" } else { "# " };
            for setting in Setting::ALL {
                if let Some(value) = merchant[setting.member()].as_str() {
                    lines.push(format!("{prefix}export {}={}", setting.variable(), word(value)));
                }
            }
        }
        lines.push(String::new());
        lines
            .push(paint.dim("# Then, in that shell: pg call session/initiate errorPageUrl=https://shop.example/error"));
        lines.join("\n")
    }
}

fn abilities(merchant: &serde_json::Value) -> String {
    let mut said: Vec<String> =
        vec![merchant["currencies"].as_array().into_iter().flatten().map(text).collect::<Vec<_>>().join(" ")];
    for (member, name) in [("rawCards", "raw card numbers"), ("accountUpdater", "account updater")] {
        let allowed = merchant[member].as_bool().unwrap_or_default();
        said.push(if allowed { name.to_owned() } else { format!("no {name}") });
    }
    if let Some(limit) = merchant["requestsPerMinute"].as_u64() {
        said.push(format!("{limit} requests a minute"));
    }
    said.join(", ")
}

fn text(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
