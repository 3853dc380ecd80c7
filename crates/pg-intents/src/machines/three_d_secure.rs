//! Payments with 3-D Secure.

use std::sync::Arc;

use pg_hyper::proto::{
    Account,
    machine::{
        ResumeError, SavedState,
        three_d_secure::{
            Initiation, ThreeDSecure, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome, ThreeDSecurePlan,
        },
    },
    model::{Encoding, encode},
};

use super::{Bounds, StoredMachine};
use crate::{FleetError, FleetEvent, FleetQuestion, IntentStatus, PaymentOutcome, StoreError};

pub(crate) type SecuredPayment = ThreeDSecure;

/// A payment with 3-D Secure that has not begun.
#[derive(Clone)]
pub(crate) struct Secured {
    pub(crate) initiation: Initiation,
    pub(crate) plan: ThreeDSecurePlan,
}

impl StoredMachine for ThreeDSecure {
    type Request = Secured;
    const LOOKS_UP: bool = true;
    const HEARS: bool = true;

    fn kind() -> String {
        "3-D Secure".to_owned()
    }

    fn new(account: Arc<Account>, request: Secured, _: &Bounds) -> Result<Self, FleetError> {
        Ok(Self::new((*account).clone(), request.initiation, request.plan)?)
    }

    fn resume(
        saved: &SavedState,
        account: Arc<Account>,
        _: Option<Secured>,
        _: &Bounds,
        _: bool,
    ) -> Result<Self, ResumeError> {
        Self::resume(saved, (*account).clone())
    }

    /// The initiation uses up the session key, so the request is never sent again.
    fn request(_: &str) -> Result<Secured, StoreError> {
        Err(StoreError::Unreadable("an initiation of 3-D Secure is not stored".to_owned()))
    }

    fn outcome(outcome: &ThreeDSecureOutcome) -> (String, IntentStatus) {
        PaymentOutcome::of_three_d_secure(outcome)
    }

    fn input(event: FleetEvent) -> Option<ThreeDSecureInput> {
        match event {
            FleetEvent::Returned => Some(ThreeDSecureInput::Returned),
            FleetEvent::Closed => Some(ThreeDSecureInput::Closed),
            FleetEvent::Proceed => Some(ThreeDSecureInput::Proceed),
            FleetEvent::Stop => Some(ThreeDSecureInput::Stop),
            _ => None,
        }
    }

    fn question(demand: ThreeDSecureDemand) -> FleetQuestion {
        match demand {
            ThreeDSecureDemand::Challenge { url, until } => {
                FleetQuestion::Challenge { url: url.as_str().to_owned(), deadline: until }
            }
            ThreeDSecureDemand::Decide { status, until } => {
                FleetQuestion::Decide { status: encode(&status, Encoding::Json), deadline: until }
            }
        }
    }
}
