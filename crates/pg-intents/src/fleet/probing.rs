//! Until the service has accepted the credentials of a process, the process needs the account's probe share to send. One process
//! has it at a time, so invalid credentials fail once over all processes.

use std::sync::atomic::Ordering;

use pg_hyper::{Transport, proto::machine::Moment};
use tokio::sync::MutexGuard;

use super::{Fleet, FleetError, keeper::Keeper, settling::Worked};
use crate::{IntentStore, ShareWish, StoreError};

/// The right of one intent to send before the service has accepted the credentials.
pub(super) struct Probe<'a>(#[expect(dead_code, reason = "held while it sends")] MutexGuard<'a, ()>);

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Waits until this process may send: `None` once the service has accepted its credentials.
    pub(super) async fn probe(&self, keeper: &Keeper<S>, reference: &str) -> Result<Option<Probe<'_>>, Worked> {
        let patience = self.0.plan.clock.now().after(self.0.plan.patience);
        let mut renewed = self.0.plan.clock.now();
        loop {
            if self.is_proven() {
                return Ok(None);
            }
            match self.why_stopped().await {
                Ok(Some(reason)) => return Err(self.wait_ended(keeper, FleetError::Stopped(reason)).await),
                Err(error) => return Err(Worked::Store(error)),
                Ok(None) => {}
            }
            if self.is_stopping() {
                self.give_up(keeper.begun(), std::time::Duration::ZERO).await;
                return Err(Worked::Stopping);
            }
            if let Ok(lock) = self.0.probing.try_lock() {
                match self.hold_probe(self.0.plan.lease).await {
                    // The last answer may be a poll old: another process may have failed since.
                    Ok(true) => match self.0.store.stopped(&self.0.account).await {
                        Ok(None) => return Ok(Some(Probe(lock))),
                        Ok(Some(reason)) => {
                            self.probed(Some(Probe(lock))).await;
                            return Err(self.wait_ended(keeper, FleetError::Stopped(reason)).await);
                        }
                        Err(error) => return Err(Worked::Store(error)),
                    },
                    Ok(false) => {}
                    Err(error) => return Err(Worked::Store(error)),
                }
            }
            let now = self.0.plan.clock.now();
            if now >= patience {
                let reference = reference.to_owned();
                return Err(self.wait_ended(keeper, FleetError::Pending { reference }).await);
            }
            self.renew_meanwhile(keeper, &mut renewed, now).await;
            self.sleep(self.pause()).await;
        }
    }

    /// Releases the probe share.
    pub(super) async fn probed(&self, probe: Option<Probe<'_>>) {
        if probe.is_some()
            && let Err(error) = self.hold_probe(std::time::Duration::ZERO).await
        {
            tracing::warn!(target: "pg.fleet", %error, "the probe share was not released; it expires by itself");
        }
    }

    /// Extends the probe share while this process sends by it.
    pub(super) async fn keep_probing(&self) {
        if !self.is_proven()
            && let Err(error) = self.hold_probe(self.0.plan.lease).await
        {
            tracing::warn!(target: "pg.fleet", %error, "the probe share was not extended");
        }
    }

    /// Records that the service has accepted the credentials of this process.
    pub(super) fn note_accepted(&self) {
        self.0.proven.store(true, Ordering::SeqCst);
    }

    fn is_proven(&self) -> bool {
        self.0.proven.load(Ordering::SeqCst)
    }

    /// Takes or extends the account's only probe share, by the store's clock.
    async fn hold_probe(&self, lease: std::time::Duration) -> Result<bool, StoreError> {
        let account = format!("{} probe", self.0.account);
        let (owner, quarantine) = (&*self.0.owner, std::time::Duration::ZERO);
        let wish = ShareWish { account: &account, owner, total: 1, most: 1, lease, quarantine };
        Ok(self.0.store.shares(wish).await? == 1)
    }

    async fn renew_meanwhile(&self, keeper: &Keeper<S>, renewed: &mut Moment, now: Moment) {
        if now.since(*renewed) >= self.0.plan.lease / 3 {
            keeper.renew().await;
            *renewed = now;
        }
    }

    async fn wait_ended(&self, keeper: &Keeper<S>, error: FleetError) -> Worked {
        self.give_up(keeper.begun(), self.0.plan.poll).await;
        Worked::Failed(error)
    }
}
