//! A worker's connection to the database, and the checks of each change.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use pg_intents::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStore, NewIntent, ShareWish, StoreError,
};

use super::{checks, database::Connection};
use crate::scenario::Disturbance;

impl Connection {
    fn kinds(&self, kinds: &[IntentKind]) -> Vec<IntentKind> {
        let versions = self.version() - 1;
        kinds.iter().map(|kind| IntentKind { version: kind.version + versions, ..kind.clone() }).collect()
    }

    /// Checks that a worker changes only intents that it holds.
    fn works_on(&self, hold: &IntentLease) {
        if !self.is(&hold.owner) {
            let (name, reference) = (&self.seat.name, &hold.key.reference);
            let what = format!("{name} works on {reference} under the lease of {}", hold.owner);
            self.database.shared.violated(checks::ALIVE, what);
        }
    }

    /// Checks that the written texts of an intent contain no secret.
    fn hides(&self, reference: &str, text: &str) {
        let found = self.database.shared.state().secrets.found_in(text);
        if let Some(secret) = found {
            self.database.shared.violated(checks::SECRETS, format!("{secret} in the row of {reference}"));
        }
    }

    fn saved(&self, reference: &str, committed: bool) {
        self.database.shared.state().notes.saved.insert((self.number, reference.to_owned()), committed);
    }

    /// Makes a change that wakes other workers.
    async fn tells<R: Send + 'static>(
        &self,
        change: impl Future<Output = Result<R, StoreError>> + Send + 'static,
    ) -> Result<R, StoreError> {
        let database = Arc::clone(&self.database);
        self.travel(async move {
            let result = change.await;
            database.changed.notify_waiters();
            result
        })
        .await
    }

    /// Checks that a worker gets no rows of another version or account.
    async fn forbidden(&self, kinds: &[IntentKind]) -> Vec<IntentKey> {
        let (version, database) = (self.version(), &self.database);
        if kinds.iter().all(|kind| kind.version <= version) {
            return Vec::new();
        }
        let rows = database.store.list(IntentFilter::default()).await.unwrap_or_default();
        rows.into_iter().filter(|row| row.version > version).map(|row| row.key).collect()
    }

    fn may_claim(&self, account: &str, claimed: &[IntentRow], forbidden: &[IntentKey]) {
        let (shared, name) = (&self.database.shared, &self.seat.name);
        for row in claimed {
            let reference = &row.key.reference;
            if shared.accounts[self.seat.account] != account {
                shared.violated(checks::ACCOUNT, format!("{name} takes {reference} of another account"));
            }
            if forbidden.contains(&row.key) {
                shared.violated(checks::VERSION, format!("{name} takes {reference}, whose state it cannot read"));
            }
        }
    }
}

impl IntentStore for Connection {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        let (store, name) = (Arc::clone(&self.database.store), name.to_owned());
        let owner = self.travel(async move { store.enlist(&name).await }).await?;
        self.owners.lock().unwrap_or_else(PoisonError::into_inner).push(owner.clone());
        Ok(owner)
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let (store, shared) = (Arc::clone(&self.database.store), Arc::clone(&self.database.shared));
        let reference = new.key.reference.clone();
        self.hides(&reference, &format!("{} {:?}", new.state, new.request));
        // A payment for any worker is saved by the worker that claims it, which may be this process.
        if new.owner.is_some() {
            self.saved(&reference, false);
        }
        let new = NewIntent { state: self.written(&new.state), version: self.version(), ..new };
        let (number, claimed) = (self.number, new.owner.is_some());
        let begun = self.tells(async move {
            let begun = store.begin(new).await?;
            if claimed && begun == Begun::New {
                shared.state().notes.saved.insert((number, reference.clone()), true);
                shared.note(format_args!("{reference} is begun"));
            }
            Ok(begun)
        });
        Ok(match begun.await? {
            Begun::New => Begun::New,
            Begun::Existing(row) => Begun::Existing(Box::new(self.read(*row))),
        })
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        let (store, shared) = (Arc::clone(&self.database.store), Arc::clone(&self.database.shared));
        let (hold, state, number) = (hold.clone(), self.written(state), self.number);
        self.works_on(&hold);
        self.hides(&hold.key.reference, &state);
        self.saved(&hold.key.reference, false);
        self.travel(async move {
            store.save(&hold, &state, lease).await?;
            shared.state().notes.saved.insert((number, hold.key.reference), true);
            Ok(())
        })
        .await
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        let (store, hold) = (Arc::clone(&self.database.store), hold.clone());
        self.works_on(&hold);
        self.travel(async move { store.renew(&hold, lease).await }).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        let (store, hold) = (Arc::clone(&self.database.store), hold.clone());
        self.works_on(&hold);
        self.tells(async move { store.release(&hold, wake).await }).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        let (store, shared) = (Arc::clone(&self.database.store), Arc::clone(&self.database.shared));
        let (hold, name) = (hold.clone(), self.seat.name.clone());
        self.works_on(&hold);
        self.hides(&hold.key.reference, &format!("{} {}", end.state, end.outcome));
        let end = IntentEnd { state: self.written(&end.state), ..end };
        self.tells(async move {
            let status = end.status.name();
            store.end(&hold, end).await?;
            shared.note(format_args!("{name} stores the end of {}: {status}", hold.key.reference));
            Ok(())
        })
        .await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        let (store, hold) = (Arc::clone(&self.database.store), hold.clone());
        self.works_on(&hold);
        self.hides(&hold.key.reference, &rest.state);
        let rest = IntentRest { state: self.written(&rest.state), ..rest };
        self.tells(async move { store.rest(&hold, rest).await }).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        let (store, key, event) = (Arc::clone(&self.database.store), key.clone(), event.to_owned());
        self.tells(async move { store.deliver(&key, &event).await }).await
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        let (store, key) = (Arc::clone(&self.database.store), key.clone());
        self.travel(async move { store.events(&key, after).await }).await
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let (store, kinds) = (Arc::clone(&self.database.store), self.kinds(kinds));
        let forbidden = self.forbidden(&kinds).await;
        let (of, owner) = (account.to_owned(), owner.to_owned());
        let claimed = self.travel(async move { store.claim(&of, &owner, most, lease, &kinds).await }).await?;
        self.may_claim(account, &claimed, &forbidden);
        for row in &claimed {
            self.database.shared.note(format_args!("{} claims {}", self.seat.name, row.key.reference));
        }
        // Before it saves anything, since others may take its claimed intents.
        if !claimed.is_empty() && self.database.shared.fault(Disturbance::Sleepers, 60) {
            self.database.shared.excuse(self.seat.account);
            self.seat.falls_asleep(self.database.shared.between(5_000, 60_000));
            self.seat.awake().await;
        }
        Ok(claimed.into_iter().map(|row| self.read(row)).collect())
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        let (store, kinds) = (Arc::clone(&self.database.store), self.kinds(kinds));
        let (key, owner) = (key.clone(), owner.to_owned());
        let claimed = self.travel(async move { store.claim_one(&key, &owner, lease, &kinds).await }).await?;
        Ok(claimed.map(|claimed| match claimed {
            Claimed::Taken(row) => Claimed::Taken(Box::new(self.read(*row))),
            Claimed::Not(row) => Claimed::Not(Box::new(self.read(*row))),
        }))
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        let (store, key) = (Arc::clone(&self.database.store), key.clone());
        Ok(self.travel(async move { store.find(&key).await }).await?.map(|row| self.read(row)))
    }

    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        let store = Arc::clone(&self.database.store);
        let rows = self.travel(async move { store.list(filter).await }).await?;
        Ok(rows.into_iter().map(|row| self.read(row)).collect())
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        let (store, from) = (Arc::clone(&self.database.store), from.to_owned());
        self.travel(async move { store.accounts(&from, most).await }).await
    }

    /// Workers give no directives; only operators do.
    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        let (store, key) = (Arc::clone(&self.database.store), key.clone());
        if let Some(row) = store.find(&key).await?
            && let Some(owner) = row.owner.as_deref().filter(|owner| !self.is(owner) && row.due > row.read_at)
        {
            let what = format!("{} takes {} from {owner}, whose lease holds", self.seat.name, key.reference);
            self.database.shared.violated(checks::ALIVE, what);
        }
        self.tells(async move { store.direct(&key, directive).await }).await
    }

    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let (store, account) = (Arc::clone(&self.database.store), account.to_owned());
        self.travel(async move { store.untold(&account, most, visibility).await }).await
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        let (store, key) = (Arc::clone(&self.database.store), key.clone());
        self.travel(async move { store.told(&key, event).await }).await
    }

    async fn changed(&self) {
        if !self.database.is_listening() {
            std::future::pending::<()>().await;
        }
        loop {
            self.database.changed.notified().await;
            if self.database.notifies() {
                break;
            }
        }
        self.database.shared.time.sleep(5).await;
        self.seat.awake().await;
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        let (store, account, owner) =
            (Arc::clone(&self.database.store), wish.account.to_owned(), wish.owner.to_owned());
        let ShareWish { total, most, lease, longest, quarantine, .. } = wish;
        self.travel(async move {
            let wish = ShareWish { account: &account, owner: &owner, total, most, lease, longest, quarantine };
            store.shares(wish).await
        })
        .await
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        let (store, account, reason) =
            (Arc::clone(&self.database.store), account.to_owned(), reason.map(str::to_owned));
        self.travel(async move { store.stop(&account, reason.as_deref()).await }).await
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        let (store, account) = (Arc::clone(&self.database.store), account.to_owned());
        self.travel(async move { store.stopped(&account).await }).await
    }
}
