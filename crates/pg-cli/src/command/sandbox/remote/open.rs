//! `pg sandbox open`: the inspector in a browser.

use std::{
    io::{IsTerminal as _, stdout},
    process::{Command, Stdio},
};

use serde_json::json;

use super::{print, segment, text, typed};
use crate::{
    control::{Control, SandboxFlags},
    failure::Failure,
    output,
};

/// Prints the inspector's address, and opens it in a browser if standard output is a terminal
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox open
  pg sandbox open transactions
  pg sandbox open transactions KEY
  pg sandbox open faults --print       the address only")]
pub(crate) struct Arguments {
    /// The page
    #[arg(value_name = "PAGE", value_enum, default_value_t = Page::Overview)]
    page: Page,
    /// The key of an entry, on pages that list something
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Prints the address and opens no browser
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    at: SandboxFlags,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Page {
    Overview,
    Requests,
    Transactions,
    Tokens,
    Sessions,
    Authentications,
    Checkouts,
    Batches,
    Callbacks,
    Sms,
    Accounts,
    Clock,
    Faults,
    Updater,
    Decoder,
    Assumptions,
}

impl Page {
    fn path(self, key: Option<&str>) -> Result<String, Failure> {
        let name = typed(self);
        let lists = !matches!(
            self,
            Self::Overview
                | Self::Accounts
                | Self::Clock
                | Self::Faults
                | Self::Updater
                | Self::Decoder
                | Self::Assumptions
        );
        match key {
            None if self == Self::Overview => Ok(String::new()),
            None => Ok(format!("pages/{name}")),
            Some(key) if lists => Ok(format!("pages/{name}/{}", segment(key))),
            Some(_) => Err(Failure::misuse(format!("the page {name} lists no entries; omit KEY"))),
        }
    }
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::new(&arguments.at)?;
    let url = control.url(&arguments.page.path(arguments.key.as_deref())?);
    // Checked first, since a browser does not explain that the sandbox is missing.
    control.get("clock").await?;
    print(&json!({ "url": url }), json, |shown| text(&shown["url"]))?;
    if !json && !arguments.print && stdout().is_terminal() && !launch(&url) {
        output::say("pg: cannot start a browser; open the URL yourself");
    }
    Ok(())
}

/// Whether the system's command for opening addresses could be started.
fn launch(url: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_paths() {
        assert_eq!(Page::Overview.path(None).unwrap(), "");
        assert_eq!(Page::Faults.path(None).unwrap(), "pages/faults");
        assert_eq!(Page::Accounts.path(None).unwrap(), "pages/accounts");
        assert_eq!(Page::Transactions.path(Some("a/b")).unwrap(), "pages/transactions/a%2Fb");
        assert!(Page::Clock.path(Some("a")).is_err());
    }
}
