//! `pg sandbox list`: what happened, newest first.

use serde_json::Value;

use super::{accounts, print, print_list, segment, text, typed, whole};
use crate::{
    control::{AccountFlags, Control},
    failure::Failure,
    reference,
    table::table,
};

/// Lists requests, transactions, tokens, sessions and more, newest first
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  pg sandbox list transactions                      the ledger
  pg sandbox list requests --method transaction/auth --limit 10
  pg sandbox list transactions --find order-7       by key, reference, or a card's last four digits
  pg sandbox list transactions KEY                  one, with all its fields")]
pub(crate) struct Arguments {
    /// The kind of entries to list
    #[arg(value_name = "LIST", value_enum)]
    list: List,
    /// Shows the entry with this key, with all its fields
    #[arg(value_name = "KEY")]
    key: Option<String>,
    /// Maximum number of entries to list
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,
    /// Lists the entries after this key: the last key of the previous page
    #[arg(long, value_name = "KEY")]
    before: Option<String>,
    /// Only entries of this account
    #[arg(long, value_name = "ACCOUNT", value_parser = crate::account::name())]
    merchant: Option<String>,
    /// Only requests of this method
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Only entries with a key, reference or parameter that begins with this text, or a card that ends in these four digits
    #[arg(long, value_name = "TEXT")]
    find: Option<String>,
    #[command(flatten)]
    at: AccountFlags,
}

/// A list of the control interface.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum List {
    /// Requests with their replies, the newest 10,000
    Requests,
    /// Transactions of both services, with the operations that are still possible
    Transactions,
    /// Card tokens
    Tokens,
    /// Sessions
    Sessions,
    /// 3-D Secure authentications
    Authentications,
    /// Hosted checkout tokens
    Checkouts,
    /// Text messages
    Sms,
}

pub(super) async fn run(arguments: Arguments, json: bool) -> Result<(), Failure> {
    let control = Control::at_account(&arguments.at)?;
    let name = typed(arguments.list);
    if let Some(key) = &arguments.key {
        let entry = control.get(&format!("{name}/{}", segment(key))).await?;
        return print(&entry, json, whole);
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &arguments.limit.to_string());
    let method = arguments.method.as_deref().map(reference::method).transpose()?.map(reference::path);
    let given = [
        ("before", &arguments.before),
        ("merchant", &arguments.merchant),
        ("method", &method),
        ("find", &arguments.find),
    ];
    for (name, value) in given {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    let entries = control.get(&format!("{name}?{}", query.finish())).await;
    // The check knows a similar name.
    if let (Some(merchant), Err(_)) = (&arguments.merchant, &entries) {
        check_account(&control, merchant).await?;
    }
    let entries = entries?;
    print_list(&entries, json, &format!("pg: no {name}"), |entries| match arguments.list {
        List::Requests => requests(entries),
        List::Transactions => transactions(entries),
        _ => others(entries),
    })
}

/// Checks that an account without entries exists. An account with entries may have been removed from the config file
/// since.
async fn check_account(control: &Control, name: &str) -> Result<(), Failure> {
    let made = control.of_account(name).await?;
    if made.is_shared() {
        accounts::find(&made.get("merchants").await?, name)?;
    }
    Ok(())
}

fn requests(entries: &[Value]) -> String {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let what = if entry["method"].is_null() { &entry["path"] } else { &entry["method"] };
            let columns =
                [&entry["id"], &entry["time"], &entry["merchant"], what, &entry["status"], &entry["errorCode"]];
            let [id, time, merchant, what, status, error] = columns.map(text);
            [id, time, merchant, what, status, error, text(&entry["fault"])]
        })
        .collect();
    table(["ID", "TIME", "ACCOUNT", "METHOD", "STATUS", "ERROR", "FAULT"], &rows)
}

/// Returns the transactions: payments and later operations.
pub(crate) fn transactions(entries: &[Value]) -> String {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let reference = ["uniqueMerchantReference", "merchantReference"].map(|name| text(&entry[name]));
            let parent = text(&entry["parent"]);
            [
                text(&entry["transactionKey"]),
                text(&entry["transactionType"]),
                format!("{} {}", text(&entry["amountDecimal"]), text(&entry["currency"])),
                format!("{} {}", text(&entry["transactionStatusCode"]), text(&entry["transactionStatus"])),
                reference.into_iter().find(|text| !text.is_empty()).unwrap_or_default(),
                if parent.is_empty() { String::new() } else { format!("of {parent}") },
            ]
        })
        .collect();
    table(["TRANSACTION", "TYPE", "AMOUNT", "STATUS", "REFERENCE", "BELONGS TO"], &rows)
}

/// Key, time, state and account, by the names that each list uses.
fn others(entries: &[Value]) -> String {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let key = first(entry, &["cardKey", "sessionKey", "authenticationKey", "tokenid", "id"]);
            [key, first(entry, &["created", "time"]), state(entry), text(&entry["merchant"])]
        })
        .collect();
    table(["KEY", "CREATED", "STATE", "ACCOUNT"], &rows)
}

/// Returns the state of an entry; tokens and sessions show it as a flag.
fn state(entry: &Value) -> String {
    match (&entry["enabled"], &entry["expired"]) {
        (Value::Bool(enabled), _) => if *enabled { "enabled" } else { "disabled" }.to_owned(),
        (_, Value::Bool(expired)) => if *expired { "expired" } else { "open" }.to_owned(),
        _ => first(entry, &["state", "status"]),
    }
}

/// Returns the first of these members that has a value.
fn first(entry: &Value, names: &[&str]) -> String {
    names.iter().map(|name| text(&entry[*name])).find(|text| !text.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn entries_are_listed_with_their_key_and_state() {
        let entries = [
            json!({"tokenid": "t-1", "created": "c", "state": "open", "merchant": "main"}),
            json!({"cardKey": "k-1", "created": "c", "enabled": false, "merchant": "main"}),
            json!({"sessionKey": "s-1", "created": "c", "expired": true, "merchant": "main"}),
            json!({"sessionKey": "s-2", "created": "c", "expired": false, "merchant": "main"}),
            json!({"authenticationKey": "a-1", "created": "c", "state": "pending", "merchant": "main"}),
            json!({"id": "m-1", "created": "c", "status": "1", "merchant": "main"}),
        ];
        let shown = others(&entries);
        let rows: Vec<Vec<&str>> = shown.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
        let expected = [
            ["t-1", "c", "open", "main"],
            ["k-1", "c", "disabled", "main"],
            ["s-1", "c", "expired", "main"],
            ["s-2", "c", "open", "main"],
            ["a-1", "c", "pending", "main"],
            ["m-1", "c", "1", "main"],
        ];
        assert_eq!(rows, expected, "{shown}");
    }
}
