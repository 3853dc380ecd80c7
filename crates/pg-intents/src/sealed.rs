//! A store that encrypts its texts with the merchant's key.

use std::{sync::Arc, time::Duration};

use self::{
    rows::{Sealer, tagged},
    text::Unopened,
};
use crate::{
    Begun, Claimed, Directive, IntentEnd, IntentFilter, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow,
    IntentStatus, IntentStore, NewIntent, ShareWish, StoreError,
};

mod key;
mod reseal;
mod rows;
mod text;

pub use key::{SealKey, SealKeyError, Sealing};
pub use reseal::Resealed;

/// The number of intents that are checked when a store is opened.
const LOOKED_AT: u32 = 20;

/// A store over another store. It seals payments (XChaCha20-Poly1305) with a key that the database does not have.
///
/// It seals the payment, its digest, the machine's state, the question, the events and the outcome, each bound to
/// account, reference and column; the payment and its digest also to the kind. What claims and operators need is not
/// encrypted: account, reference, kind, status, owner, fencing number, times, counts, the lines of the history, and why
/// an account is stopped.
///
/// If an intent cannot be opened, its callers get [`StoreError::Sealed`], and nothing is sent for it. Workers ignore
/// intents that need a key that they do not have. They park an intent that was altered or copied from another row, and
/// continue with the other intents.
///
/// ```no_run
/// use std::sync::Arc;
/// use pg_hyper::{Client, proto::Account};
/// use pg_intents::{Fleet, FleetPlan, SealKey, SealedStore, Sealing, SqliteStore};
///
/// # async fn fleet(account: Account) -> Result<(), Box<dyn std::error::Error>> {
/// let sealing = Sealing::new(SealKey::from_file("intents.key")?);
/// let store = SealedStore::open(Arc::new(SqliteStore::open("intents.sqlite")?), sealing).await?;
/// let fleet = Fleet::new(Client::new(account)?, Arc::new(store), FleetPlan::new("shop-1")).await?;
/// # drop(fleet);
/// # Ok(())
/// # }
/// ```
pub struct SealedStore<S> {
    store: Arc<S>,
    sealing: Sealing,
}

impl<S: IntentStore> SealedStore<S> {
    /// Seals what is written to this store, and opens what is read from it.
    ///
    /// # Errors
    /// [`StoreError::Sealed`] if none of the last changed intents can be opened, because a key is missing, or because
    /// they are unencrypted and unencrypted intents are not accepted. So a process with a wrong key does not start.
    /// Otherwise the errors of the store.
    pub async fn open(store: Arc<S>, sealing: Sealing) -> Result<Self, StoreError> {
        let mut refused = None;
        for row in store.list(IntentFilter { most: LOOKED_AT, ..IntentFilter::default() }).await? {
            match sealing.opened(&row) {
                Ok(_) => {
                    refused = None;
                    break;
                }
                // An altered intent proves nothing about the keys.
                Err(Unopened::Altered(_)) => {}
                Err(unopened) => {
                    refused.get_or_insert_with(|| unopened.of(&row.key));
                }
            }
        }
        refused.map_or(Ok(Self { store, sealing }), Err)
    }

    /// Returns the store below, with sealed texts.
    #[must_use]
    pub fn inner(&self) -> &Arc<S> {
        &self.store
    }

    fn sealer<'a>(&'a self, of: &'a IntentKey) -> Sealer<'a> {
        Sealer { key: self.sealing.newest(), of }
    }

    fn opened(&self, row: &IntentRow) -> Result<IntentRow, StoreError> {
        self.sealing.opened(row).map_err(|unopened| unopened.of(&row.key))
    }

    /// An altered event is read as an empty one: it only makes the worker look the payment up, and the other events
    /// count.
    fn opened_events(&self, key: &IntentKey, sealed: Vec<(i32, String)>) -> Result<Vec<(i32, String)>, StoreError> {
        let mut events = Vec::with_capacity(sealed.len());
        for (number, event) in sealed {
            match self.sealing.opened_event(key, &event) {
                Ok(event) => events.push((number, event)),
                Err(unopened @ Unopened::MissingKey(_)) => return Err(unopened.of(key)),
                Err(unopened @ (Unopened::Altered(_) | Unopened::Clear)) => {
                    tracing::error!(target: "pg.fleet", error = %unopened.of(key), "an event is skipped");
                    events.push((number, String::new()));
                }
            }
        }
        Ok(events)
    }

    /// Handles a claimed row that cannot be opened.
    async fn set_aside(&self, row: &IntentRow, unopened: &Unopened, lease: Duration) -> StoreError {
        let error = unopened.of(&row.key);
        let Some(hold) = row.hold() else { return error };
        let done = match unopened {
            // The intent's texts are unchanged.
            Unopened::Altered(_) => {
                tracing::error!(target: "pg.fleet", %error, "an intent is parked");
                self.store.direct(&row.key, Directive::Park).await.map(drop)
            }
            Unopened::MissingKey(_) | Unopened::Clear => {
                tracing::warn!(target: "pg.fleet", %error, "an intent is left to other workers");
                self.store.release(&hold, lease).await
            }
        };
        if let Err(failed) = done {
            tracing::warn!(target: "pg.fleet", error = %failed, "a lease was not handed over, and ends by itself");
        }
        error
    }

    /// Returns the stored form of an outcome. An unchanged outcome keeps its text, even if an older key sealed it; otherwise it
    /// would count as a new outcome.
    async fn outcome(&self, key: &IntentKey, end: &IntentEnd) -> Result<String, StoreError> {
        let can_differ = self.sealing.keys.len() > 1 || self.sealing.accepts_clear;
        if can_differ && end.status == IntentStatus::Unknown {
            let stored = self.store.find(key).await?.and_then(|row| row.outcome);
            if let Some(stored) = stored {
                let is_same = match self.sealing.opened_outcome(key, &stored) {
                    Ok(opened) => opened == end.outcome,
                    Err(Unopened::Clear) => stored == end.outcome,
                    Err(_) => false,
                };
                if is_same {
                    return Ok(stored);
                }
            }
        }
        Ok(self.sealer(key).outcome(&end.outcome))
    }
}

impl<S: IntentStore> IntentStore for SealedStore<S> {
    async fn enlist(&self, name: &str) -> Result<String, StoreError> {
        self.store.enlist(name).await
    }

    async fn begin(&self, new: NewIntent) -> Result<Begun, StoreError> {
        let sealer = self.sealer(&new.key);
        let kind = tagged(&new.kind, self.sealing.newest());
        let digest = sealer.digest(&kind, &new.digest);
        let request = new.request.as_deref().map(|text| sealer.request(&kind, text));
        let state = sealer.state(&new.state);
        match self.store.begin(NewIntent { kind, digest, request, state, ..new }).await? {
            Begun::New => Ok(Begun::New),
            Begun::Existing(row) => Ok(Begun::Existing(Box::new(self.opened(&row)?))),
        }
    }

    async fn save(&self, hold: &IntentLease, state: &str, lease: Duration) -> Result<(), StoreError> {
        self.store.save(hold, &self.sealer(&hold.key).state(state), lease).await
    }

    async fn renew(&self, hold: &IntentLease, lease: Duration) -> Result<(), StoreError> {
        self.store.renew(hold, lease).await
    }

    async fn release(&self, hold: &IntentLease, wake: Duration) -> Result<(), StoreError> {
        self.store.release(hold, wake).await
    }

    async fn end(&self, hold: &IntentLease, end: IntentEnd) -> Result<(), StoreError> {
        let outcome = self.outcome(&hold.key, &end).await?;
        let state = self.sealer(&hold.key).state(&end.state);
        self.store.end(hold, IntentEnd { state, outcome, ..end }).await
    }

    async fn rest(&self, hold: &IntentLease, rest: IntentRest) -> Result<(), StoreError> {
        let sealer = self.sealer(&hold.key);
        let (state, asks) = (sealer.state(&rest.state), rest.asks.as_deref().map(|asks| sealer.asks(asks)));
        self.store.rest(hold, IntentRest { state, asks, ..rest }).await
    }

    async fn deliver(&self, key: &IntentKey, event: &str) -> Result<bool, StoreError> {
        self.store.deliver(key, &self.sealer(key).event(event)).await
    }

    async fn events(&self, key: &IntentKey, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        self.opened_events(key, self.store.events(key, after).await?)
    }

    async fn events_of(&self, hold: &IntentLease, after: i32) -> Result<Vec<(i32, String)>, StoreError> {
        self.opened_events(&hold.key, self.store.events_of(hold, after).await?)
    }

    async fn claim(
        &self,
        account: &str,
        owner: &str,
        most: u32,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Vec<IntentRow>, StoreError> {
        let mut opened = Vec::new();
        for row in self.store.claim(account, owner, most, lease, &self.sealing.kinds(kinds)).await? {
            match self.sealing.opened(&row) {
                Ok(row) => opened.push(row),
                Err(unopened) => drop(self.set_aside(&row, &unopened, lease).await),
            }
        }
        Ok(opened)
    }

    async fn claim_one(
        &self,
        key: &IntentKey,
        owner: &str,
        lease: Duration,
        kinds: &[IntentKind],
    ) -> Result<Option<Claimed>, StoreError> {
        match self.store.claim_one(key, owner, lease, &self.sealing.kinds(kinds)).await? {
            Some(Claimed::Taken(row)) => match self.sealing.opened(&row) {
                Ok(row) => Ok(Some(Claimed::Taken(Box::new(row)))),
                Err(unopened) => Err(self.set_aside(&row, &unopened, lease).await),
            },
            Some(Claimed::Not(row)) => Ok(Some(Claimed::Not(Box::new(self.opened(&row)?)))),
            None => Ok(None),
        }
    }

    async fn find(&self, key: &IntentKey) -> Result<Option<IntentRow>, StoreError> {
        self.store.find(key).await?.map(|row| self.opened(&row)).transpose()
    }

    /// A row that cannot be opened is listed in its stored form, so that operators can see it.
    async fn list(&self, filter: IntentFilter) -> Result<Vec<IntentRow>, StoreError> {
        let rows = self.store.list(filter).await?;
        Ok(rows.into_iter().map(|row| self.sealing.opened(&row).unwrap_or(row)).collect())
    }

    async fn accounts(&self, from: &str, most: u32) -> Result<Vec<String>, StoreError> {
        self.store.accounts(from, most).await
    }

    async fn direct(&self, key: &IntentKey, directive: Directive) -> Result<bool, StoreError> {
        self.store.direct(key, directive).await
    }

    /// An outcome that cannot be opened is skipped, and returned again later.
    async fn untold(&self, account: &str, most: u32, visibility: Duration) -> Result<Vec<IntentRow>, StoreError> {
        let mut opened = Vec::new();
        for row in self.store.untold(account, most, visibility).await? {
            match self.opened(&row) {
                Ok(row) => opened.push(row),
                Err(error) => tracing::error!(target: "pg.fleet", %error, "an outcome cannot be read"),
            }
        }
        Ok(opened)
    }

    async fn told(&self, key: &IntentKey, event: i32) -> Result<(), StoreError> {
        self.store.told(key, event).await
    }

    async fn changed(&self) {
        self.store.changed().await;
    }

    async fn shares(&self, wish: ShareWish<'_>) -> Result<u32, StoreError> {
        self.store.shares(wish).await
    }

    async fn stop(&self, account: &str, reason: Option<&str>) -> Result<(), StoreError> {
        self.store.stop(account, reason).await
    }

    async fn stopped(&self, account: &str) -> Result<Option<String>, StoreError> {
        self.store.stopped(account).await
    }
}

impl<S> std::fmt::Debug for SealedStore<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SealedStore").field("sealing", &self.sealing).finish_non_exhaustive()
    }
}
