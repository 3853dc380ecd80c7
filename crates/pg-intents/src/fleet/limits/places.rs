//! Limits the requests of an account in flight to the number that may fail with invalid credentials before the service locks the
//! address out (spec 1 §5).
//!
//! Each request needs a place in the store. A place whose request failed with a credential error is taken for a day. So
//! whenever the credentials become invalid, and however many processes send with them, at most the permitted number of
//! requests fails.
//!
//! A request that ends hands its place over to a waiting request of its process. The limit still holds: one request at a
//! time uses a place, and a request that fails keeps it.
//!
//! The last place is the *probe share*. A process whose credentials the service has not accepted yet sends only with
//! the probe share, so credentials that are invalid from the beginning fail once. The probe share is never taken for a
//! day, so that one request at a time is always possible after an operator has resumed sending.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pg_hyper::Clock;

use super::super::stopwatch::Stopwatch;
use crate::{IntentStore, ShareWish, StoreError};

/// How long the service counts a failure, plus a second because two clocks count it.
const DAY: Duration = Duration::from_secs(24 * 60 * 60 + 1);

/// The probe share is never taken for a day. This is longer than the leases of most plans, which may differ during a deploy.
const PROBED: Duration = Duration::from_secs(120);

pub(super) struct Places<S> {
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    /// The names of the places and of the probe share in the store.
    places: String,
    probe: String,
    /// The number of places, not counting the probe share; `None` sets no limit.
    count: Option<u32>,
    lease: Duration,
    /// Failed requests for which no place is taken yet, and when they failed.
    unrecorded: Mutex<Vec<(Stopwatch, Place)>>,
}

/// How long a process hands a place over from request to request before another process may take it.
const HELD: Duration = Duration::from_secs(1);

/// A place that one request holds.
#[derive(Clone)]
pub(super) struct Place {
    is_probe: bool,
    name: String,
    /// When the query for it began. Its lease began later.
    since: Stopwatch,
    /// Whether another request held the place before.
    handed_over: bool,
}

impl Place {
    /// Returns whether a process may send with this place, depending on whether its credentials were accepted.
    pub(super) const fn suits(&self, is_proven: bool) -> bool {
        is_proven || self.is_probe
    }

    pub(super) fn hand_over(self) -> Self {
        Self { handed_over: true, ..self }
    }

    pub(super) const fn was_handed_over(&self) -> bool {
        self.handed_over
    }
}

impl<S: IntentStore> Places<S> {
    pub(super) fn new(store: Arc<S>, clock: Arc<dyn Clock>, account: &str, failures: u32, lease: Duration) -> Self {
        let count = (failures != u32::MAX).then(|| failures.saturating_sub(1));
        let (places, probe) = (format!("{account} place"), format!("{account} probe"));
        Self { store, clock, places, probe, count, lease, unrecorded: Mutex::default() }
    }

    /// Takes a place under this name, which no request had before. `None` if no place is free at present; `Some(None)`
    /// if no place is needed.
    pub(super) async fn take(&self, name: &str, is_proven: bool) -> Result<Option<Option<Place>>, StoreError> {
        let since = Stopwatch::start(&*self.clock);
        let place = |is_probe| Some(Some(Place { is_probe, name: name.to_owned(), since, handed_over: false }));
        if is_proven {
            let Some(count) = self.count else { return Ok(Some(None)) };
            if count > 0 && self.shares(&self.places, name, count, 1, self.lease).await? > 0 {
                return Ok(place(false));
            }
        }
        let got = self.shares(&self.probe, name, 1, 1, self.lease).await?;
        Ok(if got > 0 { place(true) } else { None })
    }

    /// Returns whether another request of this process may use the place without a query to the store, because its
    /// lease certainly holds.
    pub(super) fn may_be_handed_over(&self, place: &Place) -> bool {
        place.since.passed(&*self.clock) < HELD.min(self.lease / 3)
    }

    pub(super) async fn release(&self, place: &Place) {
        self.hold(place, Duration::ZERO, "a place for a request was not released; it expires by itself").await;
    }

    /// Remembers that a request with this place has failed: if its future is dropped, a poll records it.
    pub(super) fn has_failed(&self, place: &Place) {
        self.unrecorded().push((Stopwatch::start(&*self.clock), place.clone()));
    }

    /// Takes a place for a day after a request that [has failed](Self::has_failed): the request's own place, or another place instead of
    /// the probe share. If that is not possible now, [`record`](Self::record) does it later.
    pub(super) async fn burn(&self, place: Place) {
        self.record().await;
        if place.is_probe {
            self.release(&place).await;
        }
    }

    /// Takes places for failed requests that have none: all places were in use, or the store did not answer.
    pub(super) async fn record(&self) {
        let failures = self.unrecorded().clone();
        for (at, place) in failures {
            match self.is_recorded(at, &place).await {
                Ok(true) => self.unrecorded().retain(|(_, failed)| failed.name != place.name),
                Ok(false) => {}
                Err(error) => {
                    tracing::warn!(target: "pg.fleet", %error, "a failed request was not recorded; it is at the next poll")
                }
            }
        }
    }

    async fn is_recorded(&self, at: Stopwatch, failed: &Place) -> Result<bool, StoreError> {
        let Some(count) = self.count.filter(|count| *count > 0) else { return Ok(true) };
        let left = DAY.saturating_sub(at.passed(&*self.clock));
        if left.is_zero() {
            return Ok(true);
        }
        if !failed.is_probe && self.shares(&self.places, &failed.name, count, 0, left).await? > 0 {
            return Ok(true);
        }
        let name = format!("{} failed", failed.name);
        Ok(self.shares(&self.places, &name, count, 1, left).await? > 0)
    }

    fn unrecorded(&self) -> MutexGuard<'_, Vec<(Stopwatch, Place)>> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Extends the lease of a place again and again.
    pub(super) async fn keep(&self, place: &Place) {
        loop {
            self.clock.sleep_until(self.clock.now().after(self.lease / 3)).await;
            self.hold(place, self.lease, "a place for a request was not extended").await;
        }
    }

    async fn hold(&self, place: &Place, lease: Duration, otherwise: &'static str) {
        let (account, total) = if place.is_probe { (&self.probe, 1) } else { (&self.places, self.count.unwrap_or(0)) };
        if let Err(error) = self.shares(account, &place.name, total, 0, lease).await {
            tracing::warn!(target: "pg.fleet", %error, "{otherwise}");
        }
    }

    async fn shares(
        &self,
        account: &str,
        owner: &str,
        total: u32,
        most: u32,
        lease: Duration,
    ) -> Result<u32, StoreError> {
        let longest = self.lease.max(if account == self.probe { PROBED } else { DAY });
        let wish = ShareWish { account, owner, total, most, lease, longest, quarantine: Duration::ZERO };
        self.store.shares(wish).await
    }
}
