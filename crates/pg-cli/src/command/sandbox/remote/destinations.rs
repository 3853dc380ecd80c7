//! `pg sandbox callbacks register|destinations|unregister`: addresses that receive callbacks in place of those that requests name.

use clap::ValueEnum as _;
use serde_json::{Value, json};

use super::{entries, print, print_list, segment, text, typed};
use crate::{control::Control, failure::Failure, output, table::table};

/// The kinds of callbacks, as the control interface names them.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::command) enum Kind {
    /// Finished batches of the account updater
    AccountUpdater,
    /// Paid checkouts
    Checkout,
}

/// Registers an address, and returns the destination as the sandbox shows it.
///
/// # Errors
/// If the sandbox refuses it.
pub(in crate::command) async fn register(
    control: &Control,
    account: &str,
    kind: Kind,
    url: &str,
    retries: Option<u32>,
) -> Result<Value, Failure> {
    let mut asked = json!({ "merchant": account, "kind": typed(kind), "url": url });
    if let Some(retries) = retries {
        asked["retries"] = retries.into();
    }
    control.post("callbacks/destinations", &asked).await
}

/// Registers an address for one kind of callbacks, or for both.
pub(super) async fn set(
    control: &Control,
    account: &str,
    kind: Option<Kind>,
    url: &str,
    retries: Option<u32>,
    json: bool,
) -> Result<(), Failure> {
    let mut registered = Vec::new();
    for known in Kind::value_variants().iter().filter(|known| kind.is_none_or(|kind| kind == **known)) {
        registered.push(register(control, account, *known, url, retries).await?);
    }
    print(&registered.into(), json, |registered| shown(entries(registered)))
}

/// Lists the destinations of all accounts, or of one account.
pub(super) async fn list(control: &Control, account: Option<&str>, json: bool) -> Result<(), Failure> {
    let all = Value::from(of(account, &control.get("callbacks/destinations").await?));
    print_list(&all, json, "pg: no destinations are registered; callbacks go to the URLs of the requests", shown)
}

/// Removes one destination, or all, or all of one account; prints the remaining ones.
pub(super) async fn remove(
    control: &Control,
    account: Option<&str>,
    id: Option<String>,
    json: bool,
) -> Result<(), Failure> {
    let left = match (id, account) {
        (Some(id), _) => control.delete(&destination(&id)).await?,
        (None, None) => control.delete("callbacks/destinations").await?,
        (None, Some(_)) => {
            let mut left = control.get("callbacks/destinations").await?;
            for one in of(account, &left) {
                left = control.delete(&destination(&text(&one["id"]))).await?;
            }
            left
        }
    };
    print(&left, json, |left| match entries(left) {
        [] => "callbacks go to the URLs of the requests".to_owned(),
        left => shown(left),
    })
}

/// Returns the destinations of an account.
fn of(account: Option<&str>, all: &Value) -> Vec<Value> {
    let is_meant = |one: &&Value| account.is_none_or(|account| one["merchant"] == account);
    entries(all).iter().filter(is_meant).cloned().collect()
}

/// Returns the path of one destination.
pub(in crate::command) fn destination(id: &str) -> String {
    format!("callbacks/destinations/{}", segment(id))
}

fn shown(all: &[Value]) -> String {
    let row = |one: &Value| ["id", "merchant", "kind", "retries", "url"].map(|name| text(&one[name]));
    let rows: Vec<_> = all.iter().map(row).collect();
    output::harmless_lines(&table(["ID", "ACCOUNT", "CALLBACKS", "RETRIES", "ADDRESS"], &rows)).into_owned()
}
