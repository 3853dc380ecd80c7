//! Accounts for which no process sends, after the service has refused their credentials.

use std::collections::{BTreeSet, HashMap};

use pg_intents::{IntentFilter, IntentRow, IntentStore};

use super::{Arguments, failure, told};
use crate::{
    failure::{Exit, Failure},
    output,
};

/// The number of payments whose accounts are searched for stops.
const LATEST: u32 = 1_000;

/// The stops that were told.
#[derive(Default)]
pub(super) struct Stops {
    accounts: BTreeSet<String>,
    /// The reason that was told last, by account.
    told: HashMap<String, String>,
}

impl Stops {
    /// Tells each reason why sending is stopped once: of `--account`, or else of every account that has one of these rows, or one of
    /// the payments that changed last, ended ones included, if `searches`.
    pub(super) async fn tell<S: IntentStore>(
        &mut self,
        store: &S,
        arguments: &Arguments,
        rows: &[IntentRow],
        searches: bool,
    ) -> Result<(), Failure> {
        self.see(rows);
        match &arguments.account {
            Some(account) => drop(self.accounts.insert(account.clone())),
            None if searches => {
                let latest = IntentFilter { most: LATEST, ..IntentFilter::default() };
                self.see(&store.list(latest).await.map_err(failure)?);
            }
            None => {}
        }
        for account in self.accounts.clone() {
            let reason = store.stopped(&account).await.map_err(failure)?;
            if let Some(reason) = self.news(&account, reason) {
                say(&account, reason);
            }
        }
        Ok(())
    }

    fn see(&mut self, rows: &[IntentRow]) {
        for row in rows.iter().filter(|row| !self.accounts.contains(&row.key.account)).collect::<Vec<_>>() {
            self.accounts.insert(row.key.account.clone());
        }
    }

    /// Returns the reason if it was not told yet, or another one since.
    fn news(&mut self, account: &str, reason: Option<String>) -> Option<&str> {
        let Some(reason) = reason else {
            self.told.remove(account);
            return None;
        };
        if self.told.get(account) == Some(&reason) {
            return None;
        }
        let told = self.told.entry(account.to_owned()).or_default();
        *told = reason;
        Some(told)
    }
}

/// Tells why sending is stopped for an account.
pub(super) fn say(account: &str, reason: &str) {
    output::say(&format!("nothing is sent for the account {account}: {reason}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_is_told_once_and_again_after_a_resumption() {
        let mut stops = Stops::default();
        let news = |reason: Option<&str>| stops.news("shop", reason.map(str::to_owned)).map(str::to_owned);
        let told = [None, Some("one"), Some("one"), Some("other"), None, Some("other")].map(news);
        assert_eq!(told.map(|reason| reason.is_some()), [false, true, false, true, false, true]);
    }
}
