//! The accounts created at run time that this process has used (A335).
//!
//! The store holds them. This copy is read again after another process may have written, and after a rollback.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::{
    clock::Clock,
    faults::Faults,
    merchants::Merchant,
    records::{Account, AccountEntry, Meta},
    schedule::Schedule,
    store::{StoreError, Transaction},
    timestamp::Timestamp,
};

/// An account created at run time, with its own clock, faults and schedule. All other accounts share one of each.
pub(crate) struct LiveAccount {
    pub(crate) account: Account,
    pub(crate) merchant: Merchant,
    pub(crate) clock: Clock,
    pub(crate) faults: Faults,
    pub(crate) schedule: Schedule,
    /// Whether the store may have changed: then the account is read again before use.
    is_stale: bool,
}

impl LiveAccount {
    fn stored(records: &mut Transaction<'_>, id: &str) -> Result<Option<Self>, StoreError> {
        let Some(meta) = records.get::<Meta>(&Meta::account_key(id))? else { return Ok(None) };
        let account: Account = meta.read()?;
        let faults = Faults::stored_of(&account, records)?;
        let (merchant, clock) = (account.merchant(), account.clock);
        Ok(Some(Self { account, merchant, clock, faults, schedule: Schedule::default(), is_stale: false }))
    }

    fn has_work(&self, real_now: Timestamp) -> bool {
        let now = self.clock.at(real_now);
        !self.is_stale
            && (self.schedule.has_batch(now) || self.schedule.has_callback(now) || self.schedule.has_session(now))
    }
}

/// The accounts that this process has used, by their id.
#[derive(Default)]
pub(crate) struct Accounts {
    live: BTreeMap<String, LiveAccount>,
    /// Whether the list of all accounts must be read, to remove expired accounts and to find due tasks of the others.
    look: bool,
    /// The real time at which the first account expires.
    next_expiry: Option<Timestamp>,
    /// The real time of the next task of each account that had one when the list was read.
    tasks: BTreeMap<String, Timestamp>,
}

impl Accounts {
    /// Returns the account with this id.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut LiveAccount> {
        self.live.get_mut(id)
    }

    /// Returns the account with this id, which a request has used.
    pub(crate) fn get(&self, id: &str) -> Option<&LiveAccount> {
        self.live.get(id)
    }

    /// Whether the copy of an account is up to date.
    pub(crate) fn has_copy(&self, id: &str) -> bool {
        self.live.get(id).is_some_and(|live| !live.is_stale)
    }

    /// Reads an account unless its copy is up to date. Returns whether it exists and has not expired.
    pub(crate) fn open(
        &mut self,
        id: &str,
        real_now: Timestamp,
        records: &mut Transaction<'_>,
    ) -> Result<bool, StoreError> {
        if !self.has_copy(id) {
            let stored = LiveAccount::stored(records, id)?;
            let held = self.live.remove(id);
            let Some(mut live) = stored else { return Ok(false) };
            if let Some(held) = held {
                live.schedule = held.schedule;
                live.schedule.look_again();
            }
            self.live.insert(id.to_owned(), live);
        }
        Ok(self.live.get(id).is_some_and(|live| !live.account.expired(real_now)))
    }

    /// Marks every copy as stale, because another process may have written.
    pub(crate) fn read_again(&mut self) {
        self.live.values_mut().for_each(|live| live.is_stale = true);
    }

    /// Reads everything again, including due tasks: after a rollback, or when an account was created or removed.
    pub(crate) fn look_again(&mut self) {
        self.read_again();
        self.look = true;
    }

    /// Whether the list of all accounts must be read.
    pub(crate) fn must_look(&self, real_now: Timestamp) -> bool {
        self.look || self.next_expiry.is_some_and(|next| next <= real_now)
    }

    /// The list of all accounts, and the ids of those that have a task, with the real time of the next one.
    pub(crate) fn listed(&mut self, all: &[AccountEntry], tasks: Vec<(String, Timestamp)>) {
        self.look = false;
        self.next_expiry = all.iter().filter_map(|entry| entry.expires).min();
        self.tasks = tasks.into_iter().collect();
        let ids: HashSet<&str> = all.iter().map(|entry| &*entry.id).collect();
        self.live.retain(|id, _| ids.contains(&**id));
    }

    /// Releases callbacks whose claim has ended without a result.
    pub(crate) fn release(&mut self, real_now: Timestamp) {
        self.live.values_mut().for_each(|live| live.schedule.release(real_now));
    }

    /// Returns accounts that may have a due task. Each account is returned once, and again only while it has such a
    /// task.
    pub(crate) fn take_with_work(&mut self, real_now: Timestamp) -> BTreeSet<String> {
        let (due, later) = std::mem::take(&mut self.tasks).into_iter().partition(|(_, due)| *due <= real_now);
        self.tasks = later;
        let due: BTreeMap<String, Timestamp> = due;
        let mut all: BTreeSet<String> = due.into_keys().collect();
        all.extend(self.live.iter().filter(|(_, live)| live.has_work(real_now)).map(|(id, _)| id.clone()));
        all
    }

    /// Returns the account that has a callback in flight.
    pub(crate) fn with_in_flight(&self, callback: &str) -> Option<String> {
        let mut found = self.live.iter().filter(|(_, live)| live.schedule.is_in_flight(callback));
        found.next().map(|(id, _)| id.clone())
    }

    /// Returns the real time at which one of the accounts may have a due task.
    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        if self.look {
            return Some(Timestamp::MIN);
        }
        let fresh = self.live.values().filter(|live| !live.is_stale);
        let work = fresh.filter_map(|live| live.clock.real_at(live.schedule.next()?));
        work.chain(self.tasks.values().copied()).chain(self.next_expiry).min()
    }
}
