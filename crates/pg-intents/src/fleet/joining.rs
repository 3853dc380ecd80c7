//! A second call under a reference: it waits for the first, and continues the payment if the first is gone.

use pg_hyper::{Transport, proto::machine::throttle::StopReason};

use super::{
    Busy, Fleet, Worked,
    pauses::Pauses,
    same_payment,
    staying::{RowWatch, Stayed, Stays},
    stopwatch::Patience,
};
use crate::{
    Claimed, FleetError, FleetStep, IntentRow, IntentStatus, IntentStore, StoreError, machines::StoredMachine,
    terms::Terms,
};

/// What a caller knows while it waits.
#[derive(Default)]
pub(super) struct Told {
    /// The payment was begun: a request may have been sent.
    pub(super) begun: bool,
    /// An unknown outcome that may change.
    pub(super) outcome: Option<FleetStep>,
    /// Why the store did not answer last.
    pub(super) failed: Option<StoreError>,
}

impl Told {
    /// Returns what there is when the caller's patience is over.
    pub(super) fn at_last(self, reference: &str) -> Result<FleetStep, FleetError> {
        match (self.outcome, self.failed) {
            (Some(outcome), _) => Ok(outcome),
            (None, Some(error)) => Err(FleetError::of_store(error, reference, self.begun)),
            (None, None) => Err(FleetError::Pending { reference: reference.to_owned() }),
        }
    }
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Returns the outcome of the payment that was begun under these terms.
    pub(super) async fn join<M: StoredMachine>(
        &self,
        terms: &Terms,
        request: M::Request,
        mut told: Told,
        stays: &Stays,
    ) -> Result<FleetStep, FleetError> {
        let reference = &terms.key.reference;
        let patience = self.patience_of(stays);
        // The end of a payment does not notify other processes, since that would slow down every payment, and few
        // payments are joined.
        let mut pauses = Pauses::up_to(self.0.plan.poll);
        loop {
            // From here on, no end of a payment is missed.
            let mut ended = std::pin::pin!(self.0.ended.notified());
            ended.as_mut().enable();
            told.failed = match self.0.store.find(&terms.key).await {
                Err(error) if error.is_lasting() => return Err(FleetError::of_store(error, reference, told.begun)),
                Err(error) => Some(error),
                Ok(Some(found)) => {
                    same_payment(terms, &found)?;
                    if let Some(settled) = self.told(&found, &mut told)? {
                        return Ok(settled);
                    }
                    match self.take_over::<M>(found, request.clone(), stays).await {
                        Ok(None) => {}
                        Ok(Some(settled)) => return Ok(settled),
                        Err(error) => return told.outcome.ok_or(error),
                    }
                    None
                }
                // The first caller has not stored the row yet, or will never do so.
                Ok(None) => {
                    if let Some(busy) = self.occupy(reference)
                        && let Some(settled) =
                            self.begin_here::<M>(busy, terms, request.clone(), &mut told, stays).await
                    {
                        return settled;
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

    /// Begins a payment for a call; `None` if another worker has it, or if it goes on without the call.
    pub(super) async fn begin_here<M: StoredMachine>(
        &self,
        busy: Busy<S, T>,
        terms: &Terms,
        request: M::Request,
        told: &mut Told,
        stays: &Stays,
    ) -> Option<Result<FleetStep, FleetError>> {
        let row = RowWatch::default();
        let (fleet, terms, patience, known) = (self.clone(), terms.clone(), self.patience_of(stays), row.clone());
        let reference = terms.key.reference.clone();
        let begins = Box::pin(async move {
            let mut begun = false;
            let settled = fleet.begin::<M>(&terms, request, &mut begun, &known, &patience).await;
            drop(busy);
            (settled, begun)
        });
        match self.stay(stays, &row, begins).await {
            Stayed::Ended((settled, begun)) => {
                told.begun |= begun;
                settled
            }
            Stayed::GoesOn => {
                told.begun = true;
                None
            }
            Stayed::Dropped => Some(Err(FleetError::Pending { reference })),
        }
    }

    /// Returns how long the store and other workers are waited for: the call's patience, or the plan's from now on.
    fn patience_of(&self, stays: &Stays) -> Patience {
        match stays {
            Stays::UntilItEnds => self.patience(),
            Stays::For(patience) => patience.clone(),
        }
    }

    /// Returns why this process sends nothing, although the account is not stopped.
    pub(super) fn unanswered(&self) -> Option<FleetError> {
        let stop = self.0.client.stopped().filter(|stop| matches!(stop, StopReason::Unanswered))?;
        Some(FleetError::Unanswered(stop.to_string()))
    }

    /// Returns why nothing may be sent, when the store responds. A caller waits for that as long as for an outcome.
    pub(super) async fn why_stopped_at_last(&self, stays: &Stays) -> Result<Option<FleetError>, StoreError> {
        let patience = self.patience_of(stays);
        loop {
            match self.0.limits.stopped().await {
                Err(error) if !error.is_lasting() && !self.is_stopping() && !patience.is_over() => {
                    self.sleep(self.pause()).await;
                }
                answer => return Ok(answer?.map(FleetError::Stopped).or_else(|| self.unanswered())),
            }
        }
    }

    /// Returns the outcome of a payment that was begun before sending was stopped.
    pub(super) async fn told_while_stopped(&self, terms: &Terms, stop: FleetError) -> Result<FleetStep, FleetError> {
        let Some(found) = self.0.store.find(&terms.key).await? else { return Err(stop) };
        same_payment(terms, &found)?;
        self.in_row(&found)?.ok_or(stop)
    }

    /// Returns the outcome or question in a row, unless a worker that looks an unknown payment up may change it.
    pub(super) fn told(&self, found: &IntentRow, told: &mut Told) -> Result<Option<FleetStep>, FleetError> {
        told.begun = true;
        told.outcome = self.in_row(found)?;
        let is_looked_up = found.status == IntentStatus::Unknown && (found.owner.is_some() || found.is_due());
        Ok(told.outcome.clone().filter(|_| !is_looked_up || self.is_stopping()))
    }

    fn in_row(&self, found: &IntentRow) -> Result<Option<FleetStep>, FleetError> {
        found.is_readable()?;
        let reference = &found.key.reference;
        match (found.status, &found.outcome) {
            // A row with unprocessed events is due, and asks another question next.
            (IntentStatus::Open, _) => {
                let asks = found.asks.as_deref().filter(|_| found.owner.is_none() && !found.is_due());
                let unreadable = |error: serde_json::Error| StoreError::Unreadable(error.to_string());
                Ok(asks.map(|asks| serde_json::from_str(asks).map_err(unreadable)).transpose()?.map(FleetStep::Ask))
            }
            (_, Some(outcome)) => Ok(Some(FleetStep::Done(self.read(outcome, &found.kind, reference)?))),
            (_, None) => Err(FleetError::Parked { reference: reference.clone() }),
        }
    }

    /// Continues a payment whose worker has died; `None` if another worker has it, or if it goes on without the call.
    async fn take_over<M: StoredMachine>(
        &self,
        found: IntentRow,
        request: M::Request,
        stays: &Stays,
    ) -> Result<Option<FleetStep>, FleetError> {
        if !found.is_due() || self.is_stopping() {
            return Ok(None);
        }
        let Some(busy) = self.occupy(&found.key.reference) else { return Ok(None) };
        let (fleet, key) = (self.clone(), found.key);
        let continues = Box::pin(async move {
            let worked = match fleet.claim_one(&key).await {
                Ok(Some(Claimed::Taken(intent))) => fleet.resume::<M>(&intent, Some(request)).await,
                Ok(Some(Claimed::Not(_)) | None) | Err(_) => Worked::Lost { maybe_sent: false },
            };
            drop(busy);
            match worked {
                Worked::Ended(settled) => Ok(Some(FleetStep::Done(settled))),
                Worked::Asks(question) => Ok(Some(FleetStep::Ask(question))),
                Worked::Failed(error) => Err(error),
                Worked::Stopping => Err(FleetError::ShuttingDown { reference: key.reference }),
                Worked::Waits | Worked::Lost { .. } | Worked::Store { .. } => Ok(None),
            }
        });
        match self.stay(stays, &RowWatch::of_a_row(), continues).await {
            Stayed::Ended(taken) => taken,
            Stayed::GoesOn | Stayed::Dropped => Ok(None),
        }
    }
}
