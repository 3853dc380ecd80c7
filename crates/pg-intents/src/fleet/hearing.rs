//! Events, which may reach any server, and the steps that follow them.

use pg_hyper::Transport;

use super::{Fleet, pauses::Pauses};
use crate::{Claimed, FleetError, FleetEvent, FleetStep, IntentKey, IntentStore, StoreError};

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Stores an event for the payment under this reference. The worker that has the payment, or claims it next, passes
    /// the event to the machine. Acknowledge a callback only when this has returned. The same event may arrive twice.
    ///
    /// An unknown payment is looked up because of events at most once a minute, besides the lookups of the plan. A
    /// payment that workers have parked is looked up once more. A payment that an operator has parked keeps its events
    /// until it is reconciled.
    ///
    /// # Errors
    /// [`FleetError::NotWaiting`] if no open or ended payment under this reference takes events; [`FleetError::Store`]
    /// if the event was not stored.
    pub async fn event(&self, reference: &str, event: &FleetEvent) -> Result<(), FleetError> {
        let key = IntentKey::new(&*self.0.account, reference);
        let text = serde_json::to_string(event).map_err(|error| StoreError::Unreadable(error.to_string()))?;
        if self.0.store.deliver(&key, &text).await? {
            self.0.ended.notify_waiters();
            return Ok(());
        }
        match self.0.store.find(&key).await? {
            // An event from another tab, or a second callback.
            Some(found) if found.status == crate::IntentStatus::Ended => Ok(()),
            _ => Err(FleetError::NotWaiting { reference: reference.to_owned() }),
        }
    }

    /// Returns the question of the payment under this reference, or its outcome, when its events were processed. If no
    /// other process works on the payment, this process continues it.
    ///
    /// # Errors
    /// [`FleetError::NotWaiting`] if there is no such payment; otherwise as [`charge`](Self::charge).
    pub async fn step(&self, reference: &str) -> Result<FleetStep, FleetError> {
        let key = IntentKey::new(&*self.0.account, reference);
        let until = self.0.plan.clock.now().after(self.0.plan.patience);
        let mut pauses = Pauses::up_to(self.0.plan.poll);
        loop {
            let mut ended = std::pin::pin!(self.0.ended.notified());
            ended.as_mut().enable();
            let failed = match self.0.store.find(&key).await {
                Err(error) if error.is_lasting() => return Err(error.into()),
                Err(error) => Some(error),
                Ok(None) => return Err(FleetError::NotWaiting { reference: reference.to_owned() }),
                Ok(Some(found)) => {
                    if let Some(step) = self.told(&found)? {
                        return Ok(step);
                    }
                    if found.is_due() && !self.is_stopping() && self.go_on_with(&key).await {
                        continue;
                    }
                    None
                }
            };
            if self.0.plan.clock.now() >= until {
                let pending = || FleetError::Pending { reference: reference.to_owned() };
                return Err(failed.map_or_else(pending, FleetError::Store));
            }
            tokio::select! {
                biased;
                () = ended => {}
                () = self.0.store.changed() => {}
                () = self.sleep(pauses.next()) => {}
            }
        }
    }

    /// Returns `false` if another worker has the payment, or nothing may be sent.
    async fn go_on_with(&self, key: &IntentKey) -> bool {
        let Some(busy) = self.occupy(&key.reference) else { return false };
        let mut goes_on = false;
        if matches!(self.0.limits.stopped().await, Ok(None))
            && self.unanswered().is_none()
            && let Ok(Some(Claimed::Taken(intent))) = self.claim_one(key).await
        {
            self.go_on(*intent).await;
            goes_on = true;
        }
        drop(busy);
        goes_on
    }
}
