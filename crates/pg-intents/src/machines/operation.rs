//! Captures, cancellations and refunds: sent at most once, unless they were certainly not sent.

use std::{fmt, sync::Arc};

use pg_hyper::proto::{
    Account,
    machine::{
        Action, Event, Machine, Never, ResumeError, SavedState,
        retry::{Retry, RetryBounds, RetryOutcome},
    },
    model::{Outcome, Transaction, method::ServiceInfo},
};

use super::{Bounds, StoredMachine};
use crate::{FleetError, FleetEvent, FleetQuestion, IntentStatus, PaymentOperation, PaymentOutcome, StoreError};

/// A [`Retry`] under its own kind.
pub(crate) struct Operation<P: PaymentOperation>(Retry<P>);

impl<P: PaymentOperation> Machine for Operation<P> {
    type Input = Never;
    type Demand = Never;
    type Outcome = RetryOutcome<Outcome<Transaction>>;

    fn step(
        &mut self,
        event: Event,
        now: pg_hyper::proto::machine::Moment,
        random: u64,
    ) -> Action<Never, Self::Outcome> {
        self.0.step(event, now, random)
    }

    fn save(&self) -> SavedState {
        self.0.save()
    }

    fn service(&self) -> &'static ServiceInfo {
        self.0.service()
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn subject(&self) -> Option<&str> {
        self.0.subject()
    }

    fn label(outcome: &Self::Outcome) -> &'static str {
        <Retry<P> as Machine>::label(outcome)
    }
}

impl<P: PaymentOperation> StoredMachine for Operation<P> {
    type Request = P;
    const LOOKS_UP: bool = false;
    const HEARS: bool = false;

    fn kind() -> String {
        format!("operation {}", P::INFO.name)
    }

    fn new(account: Arc<Account>, request: P, _: &Bounds) -> Result<Self, FleetError> {
        Ok(Self(Retry::new(account, request, RetryBounds::default())?))
    }

    fn resume(
        saved: &SavedState,
        account: Arc<Account>,
        request: Option<P>,
        _: &Bounds,
        _: bool,
    ) -> Result<Self, ResumeError> {
        let request = request.ok_or(ResumeError::Mismatch("request"))?;
        Retry::resume(saved, account, request).map(Self)
    }

    fn request(stored: &str) -> Result<P, StoreError> {
        crate::terms::request(stored)
    }

    fn outcome(outcome: &Self::Outcome) -> (String, IntentStatus) {
        PaymentOutcome::of_operation(outcome)
    }

    fn input(_: FleetEvent) -> Option<Never> {
        None
    }

    fn question(demand: Never) -> FleetQuestion {
        match demand {}
    }
}

impl<P: PaymentOperation> fmt::Debug for Operation<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
