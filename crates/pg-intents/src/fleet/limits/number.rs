//! The limit per minute that the processes of an account name. All should name the same one: processes with different numbers send as
//! many requests together as the largest permits.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_hyper::Clock;

use super::super::stopwatch::Stopwatch;
use crate::{FleetPlan, IntentStore, ShareWish, StoreError};

/// How long the store knows a number that no process names any more.
const KNOWN: Duration = Duration::from_secs(60);
/// How often a process names its number.
const AGAIN: Duration = Duration::from_secs(20);

/// The number that this process names: a share of which the number is the owner, so all processes with the same number have it.
pub(super) struct Number<S> {
    store: Arc<S>,
    clock: Arc<dyn Clock>,
    /// The name of the share in the store.
    account: String,
    per_minute: u32,
    named: Mutex<Option<Stopwatch>>,
    warned: AtomicBool,
}

impl<S: IntentStore> Number<S> {
    pub(super) fn new(store: Arc<S>, account: &str, plan: &FleetPlan) -> Self {
        let (clock, account) = (Arc::clone(&plan.clock), format!("{account} number"));
        Self {
            store,
            clock,
            account,
            per_minute: plan.per_minute,
            named: Mutex::default(),
            warned: AtomicBool::default(),
        }
    }

    /// Names the number. Returns `false` if processes with another one are first.
    pub(super) async fn name(&self) -> Result<bool, StoreError> {
        if self.per_minute == u32::MAX {
            return Ok(true);
        }
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stopwatch::start(&*self.clock));
        let (account, owner) = (&*self.account, &*format!("{} a minute", self.per_minute));
        let (lease, longest, quarantine) = (KNOWN, KNOWN, Duration::ZERO);
        let wish = ShareWish { account, owner, total: 1, most: 1, lease, longest, quarantine };
        self.store.shares(wish).await.map(|shares| shares > 0)
    }

    /// Names it again if it is time. Warns once if other processes name another one.
    pub(super) async fn name_again(&self) -> Result<(), StoreError> {
        let named = *self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if named.is_some_and(|named| named.passed(&*self.clock) < AGAIN) || self.name().await? {
            return Ok(());
        }
        if !self.warned.swap(true, Ordering::SeqCst) {
            tracing::warn!(
                target: "pg.fleet",
                per_minute = self.per_minute,
                "processes with this store name different limits per minute: together they may send as many requests as the largest permits"
            );
        }
        Ok(())
    }
}
