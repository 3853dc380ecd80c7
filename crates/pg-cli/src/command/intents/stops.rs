//! Accounts for which no process sends, after the service has refused their credentials.

use std::collections::{BTreeSet, HashSet};

use pg_intents::{IntentFilter, IntentRow, IntentStore};

use super::{Arguments, failure, told};
use crate::{
    failure::{Exit, Failure},
    output,
};

/// The number of payments whose accounts are searched for stops.
const LATEST: u32 = 1_000;

/// Tells each reason why sending is stopped once: of `--account`, or else of every account that has one of these rows, or one of the
/// payments that changed last, ended ones included.
pub(super) async fn tell<S: IntentStore>(
    store: &S,
    arguments: &Arguments,
    rows: &[IntentRow],
    told: &mut HashSet<String>,
) -> Result<(), Failure> {
    let mut accounts: BTreeSet<String> = rows.iter().map(|row| row.key.account.to_string()).collect();
    match &arguments.account {
        Some(account) => drop(accounts.insert(account.clone())),
        None => {
            let latest = IntentFilter { most: LATEST, ..IntentFilter::default() };
            let latest = store.list(latest).await.map_err(failure)?;
            accounts.extend(latest.iter().map(|row| row.key.account.to_string()));
        }
    }
    for account in accounts {
        if !told.contains(&account) && tell_of(store, &account).await? {
            told.insert(account);
        }
    }
    Ok(())
}

/// Tells why sending is stopped for an account. Returns whether it is.
pub(super) async fn tell_of<S: IntentStore>(store: &S, account: &str) -> Result<bool, Failure> {
    let reason = store.stopped(account).await.map_err(failure)?;
    if let Some(reason) = &reason {
        output::say(&format!("nothing is sent for the account {account}: {reason}"));
    }
    Ok(reason.is_some())
}

pub(super) async fn resume<S: IntentStore>(store: &S, arguments: &Arguments, json: bool) -> Result<Exit, Failure> {
    let Some(account) = arguments.account.as_deref() else {
        return Err(Failure::misuse("resume needs --account, with the name that `pg intents` shows"));
    };
    let Some(reason) = store.stopped(account).await.map_err(failure)? else {
        return Err(Failure::new(Exit::Refused, format!("{account}: sending is not stopped for this account")));
    };
    store.stop(account, None).await.map_err(failure)?;
    let text = format!(
        "all processes of {account} may send again (it was stopped: {reason}); processes with the wrong credentials need a restart"
    );
    told(&text, json, &serde_json::json!({ "account": account, "resumed": true, "reason": reason }))
}
