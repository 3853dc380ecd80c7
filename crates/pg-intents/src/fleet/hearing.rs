//! Events, which may reach any server, and the steps that follow them.

use pg_hyper::Transport;

use super::{
    Fleet,
    joining::Told,
    pauses::Pauses,
    staying::{RowWatch, Stayed, Stays},
};
use crate::{Claimed, FleetError, FleetEvent, FleetStep, IntentKey, IntentStore, StoreError};

/// The result of an attempt to continue a payment.
enum Attempt {
    Continued,
    /// Another call or worker has it, it goes on without this call, or the store did not answer.
    Elsewhere,
    /// This process sends nothing, or cannot resume it.
    Impossible,
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Stores an event for the payment under this reference. The worker that has the payment, or claims it next, passes
    /// the event to the machine. Acknowledge a callback only when this has returned. The same event may arrive twice.
    ///
    /// An unknown payment is looked up because of events at most once a minute, besides the lookups of the plan. A
    /// payment that workers have parked is looked up once more. A payment that an operator has parked keeps its events
    /// until it is reconciled.
    ///
    /// At most [`EVENTS`](crate::EVENTS) events of a payment wait. If more arrive, the older and the newer half stay.
    ///
    /// # Errors
    /// [`FleetError::NotWaiting`] if no payment was begun under this reference; [`FleetError::Store`] if the event was not stored.
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

    /// Processes the events of the payment under this reference, then returns its question or its outcome. If no other process
    /// works on the payment, this one continues it, also after this call has returned [`FleetError::Pending`], as
    /// [`three_d_secure`](Self::three_d_secure) does. Does not wait for the events of an unknown payment that are due at the end of the
    /// minute.
    ///
    /// # Errors
    /// [`FleetError::NotWaiting`] if there is no such payment; otherwise as [`charge`](Self::charge).
    pub async fn step(&self, reference: &str) -> Result<FleetStep, FleetError> {
        let key = IntentKey::new(&*self.0.account, reference);
        let patience = self.patience();
        let stays = Stays::For(patience.clone());
        let mut pauses = Pauses::up_to(self.0.plan.poll);
        let mut told = Told::default();
        let mut has_continued = false;
        loop {
            let mut ended = std::pin::pin!(self.0.ended.notified());
            ended.as_mut().enable();
            told.failed = match self.0.store.find(&key).await {
                Err(error) if error.is_lasting() => return Err(FleetError::of_store(error, reference, told.begun)),
                Err(error) => Some(error),
                Ok(None) => return Err(FleetError::NotWaiting { reference: reference.to_owned() }),
                Ok(Some(found)) => {
                    if let Some(step) = self.told(&found, &mut told)? {
                        return Ok(step);
                    }
                    if found.is_due() {
                        match self.go_on_with(&key, &stays).await {
                            // The row says more now. If it is due again at once, the next attempt follows after a pause.
                            Attempt::Continued => {
                                if std::mem::replace(&mut has_continued, true) {
                                    if patience.is_over() {
                                        return told.at_last(reference);
                                    }
                                    self.sleep(pauses.next()).await;
                                }
                                continue;
                            }
                            Attempt::Impossible if told.outcome.is_some() => return told.at_last(reference),
                            Attempt::Impossible | Attempt::Elsewhere => {}
                        }
                    }
                    None
                }
            };
            if patience.is_over() {
                return told.at_last(reference);
            }
            tokio::select! {
                biased;
                () = ended => {}
                () = self.0.store.changed() => {}
                () = self.sleep(pauses.next()) => {}
            }
        }
    }

    async fn go_on_with(&self, key: &IntentKey, stays: &Stays) -> Attempt {
        let Some(busy) = self.occupy(&key.reference) else { return Attempt::Elsewhere };
        let (fleet, key) = (self.clone(), key.clone());
        let goes_on = Box::pin(async move {
            let attempt = fleet.attempt(&key).await;
            drop(busy);
            attempt
        });
        match self.stay(stays, &RowWatch::of_a_row(), goes_on).await {
            Stayed::Ended(attempt) => attempt,
            Stayed::GoesOn | Stayed::Dropped => Attempt::Elsewhere,
        }
    }

    async fn attempt(&self, key: &IntentKey) -> Attempt {
        match self.0.limits.stopped().await {
            Err(_) => Attempt::Elsewhere,
            Ok(stop) if stop.is_some() || self.0.client.stopped().is_some() || self.is_stopping() => {
                Attempt::Impossible
            }
            Ok(_) => match self.claim_one(key).await {
                Ok(Some(Claimed::Taken(intent))) => {
                    if self.go_on(*intent).await {
                        Attempt::Continued
                    } else {
                        Attempt::Impossible
                    }
                }
                Ok(Some(Claimed::Not(_)) | None) | Err(_) => Attempt::Elsewhere,
            },
        }
    }
}
