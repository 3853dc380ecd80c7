//! The account under which a fleet finds its payments. A fleet that looked for them under another one would find none, and pay again.

use pg_hyper::proto::Account;

use super::FleetPlan;
use crate::{IntentStore, StoreError};

/// The number of accounts that are read with one statement.
const PAGE: u32 = 1_000;
/// The number of accounts that an error names.
const NAMED: usize = 5;

/// The reason why a fleet does not start. Nothing was sent and nothing was stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FleetStartError {
    /// The account has no name. Its payments would be stored under its API key, and not be found when the key is replaced.
    #[error(
        "a fleet needs an account with a name: set one with Account::identity and keep it, also when the API key is replaced"
    )]
    Unnamed,
    /// The store has payments of other accounts, and any of them may be this account before its name, API key or base URL was changed:
    /// then each order that was paid would be paid again.
    #[error(
        "the store of intents has payments of {}, and this fleet would find only those of {account:?}: if an account in that list \
         is this one before a change of its name, API key or base URL, set FleetPlan::stored_as, or its orders will be paid again; \
         if it is another one, set FleetPlan::apart_from",
        list(found)
    )]
    OtherAccounts {
        /// The account under which this fleet would find its payments.
        account: String,
        /// The accounts in the store that the plan does not mention.
        found: Vec<String>,
    },
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Returns the account under which the store has, or gets, the payments of this fleet.
///
/// The check is made while the store has no payments of that account. So a new account is noticed once, and a restart costs one read.
pub(super) async fn stored_account<S: IntentStore>(
    store: &S,
    account: &Account,
    plan: &FleetPlan,
) -> Result<String, FleetStartError> {
    if account.name().is_none_or(|name| name.trim().is_empty()) {
        return Err(FleetStartError::Unnamed);
    }
    let present = account.bound_identity();
    let stored = plan.account_in_rows(account);
    let found = if !has_payments(store, &stored).await? {
        others(store, &stored, plan).await?
    } else if stored != present && !plan.apart_from.contains(&present) && has_payments(store, &present).await? {
        vec![present]
    } else {
        Vec::new()
    };
    if found.is_empty() { Ok(stored) } else { Err(FleetStartError::OtherAccounts { account: stored, found }) }
}

async fn has_payments<S: IntentStore>(store: &S, account: &str) -> Result<bool, StoreError> {
    Ok(store.accounts(account, 1).await?.first().is_some_and(|first| first == account))
}

/// Returns the accounts in the store that the plan does not mention.
async fn others<S: IntentStore>(store: &S, stored: &str, plan: &FleetPlan) -> Result<Vec<String>, StoreError> {
    let (mut others, mut from) = (Vec::new(), String::new());
    loop {
        let page = store.accounts(&from, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        let unread = page.iter().filter(|account| **account != from);
        others.extend(unread.filter(|account| *account != stored && !plan.apart_from.contains(account)).cloned());
        match page.into_iter().next_back() {
            Some(last) if !is_last => from = last,
            _ => return Ok(others),
        }
    }
}

fn list(accounts: &[String]) -> String {
    let named: Vec<String> = accounts.iter().take(NAMED).map(|account| format!("{account:?}")).collect();
    let more = accounts.len().saturating_sub(NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_a_few_accounts_in_one_line() {
        let found = (1..=7).map(|number| format!("shop-{number}\n at https://gateway.example")).collect();
        let error = FleetStartError::OtherAccounts { account: "shop at https://gateway.example".to_owned(), found };
        let error = error.to_string();
        assert!(error.contains(r#""shop-5\n at https://gateway.example" and 2 more, "#), "{error}");
        assert!(!error.contains("shop-6") && !error.contains('\n'), "{error}");
    }
}
