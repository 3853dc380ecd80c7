//! The account under which a fleet finds its payments. A fleet that looked for them under another one would find none, and pay again.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use pg_hyper::proto::Account;

use super::FleetPlan;
use crate::{FleetStartError, IntentStore, StoreError};

/// The number of accounts that are read with one statement.
const PAGE: u32 = 1_000;

/// The check that the store has no payments of accounts that the plan does not mention.
///
/// It is made when a fleet starts. If the account has no payment then, it is repeated before each payment, until the first one has
/// begun: another server, with another name for the account, may have started at the same time. Later it costs nothing.
pub(super) struct AccountCheck {
    /// The account's name in rows.
    stored: String,
    apart_from: Vec<String>,
    /// Whether the store has a payment of the account.
    has_begun: AtomicBool,
}

impl AccountCheck {
    /// Checks the store at the start of a fleet.
    pub(super) async fn at_start<S: IntentStore>(
        store: &S,
        account: &Account,
        plan: &FleetPlan,
    ) -> Result<Self, FleetStartError> {
        let (stored, apart_from) = (account_in_rows(account, plan)?, plan.apart_from.clone());
        let check = Self { stored, apart_from, has_begun: AtomicBool::new(false) };
        check.refuse(check.others(store).await?)?;
        Ok(check)
    }

    /// Returns the account under which the store has, or gets, the payments of this fleet.
    pub(super) fn account(&self) -> &str {
        &self.stored
    }

    /// Checks the store before a payment begins, unless the account already has one.
    pub(super) async fn before_first<S: IntentStore>(&self, store: &S) -> Result<(), FleetStartError> {
        if self.has_begun() {
            return Ok(());
        }
        let others = self.others(store).await?;
        // Another server may have begun payments of the account meanwhile. Accounts that came since do not disturb a running fleet.
        if self.has_begun() { Ok(()) } else { self.refuse(others) }
    }

    fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Records that the store has a payment of the account.
    pub(super) fn first_has_begun(&self) {
        self.has_begun.store(true, Ordering::Relaxed);
    }

    /// Reads the accounts of the store, and records if the account is one of them. Returns those that the plan does not mention.
    async fn others<S: IntentStore>(&self, store: &S) -> Result<Vec<String>, StoreError> {
        let apart_from: HashSet<&str> = self.apart_from.iter().map(String::as_str).collect();
        let mut others = all_accounts(store).await?;
        if others.contains(&self.stored) {
            self.first_has_begun();
        }
        others.retain(|account| *account != self.stored && !apart_from.contains(account.as_str()));
        Ok(others)
    }

    fn refuse(&self, others: Vec<String>) -> Result<(), FleetStartError> {
        if others.is_empty() {
            return Ok(());
        }
        Err(FleetStartError::OtherAccounts { account: self.stored.clone(), found: others })
    }
}

/// Returns the account under which the payments of a fleet with this plan are stored.
pub(super) fn account_in_rows(account: &Account, plan: &FleetPlan) -> Result<String, FleetStartError> {
    if account.name().is_none_or(|name| name.trim().is_empty()) {
        return Err(FleetStartError::Unnamed);
    }
    let account = account.bound_identity();
    match &plan.stored_as {
        None => Ok(account),
        Some((planned, stored)) if *planned == account => Ok(stored.clone()),
        Some((planned, _)) => Err(FleetStartError::OtherPlan { account, planned: planned.clone() }),
    }
}

async fn all_accounts<S: IntentStore>(store: &S) -> Result<Vec<String>, StoreError> {
    let mut all: Vec<String> = Vec::new();
    loop {
        let from = all.last().cloned().unwrap_or_default();
        let page = store.accounts(&from, PAGE).await?;
        let is_last = page.len() < PAGE as usize;
        // A page begins with the account that ended the one before.
        all.extend(page.into_iter().filter(|account| *account != from));
        if is_last {
            return Ok(all);
        }
    }
}
