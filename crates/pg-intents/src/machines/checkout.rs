//! Checkouts on the hosted pages.

use std::sync::Arc;

use pg_hyper::proto::{
    Account,
    machine::{
        ResumeError, SavedState,
        checkout::{Checkout, CheckoutDemand, CheckoutError, CheckoutInput, CheckoutOutcome},
    },
    model::GetToken,
};

use super::{Bounds, StoredMachine};
use crate::{FleetError, FleetEvent, FleetQuestion, IntentStatus, PaymentOutcome, StoreError};

pub(crate) type HostedCheckout = Checkout;

impl StoredMachine for Checkout {
    type Request = GetToken;
    const LOOKS_UP: bool = true;
    const HEARS: bool = true;

    fn kind() -> String {
        "checkout".to_owned()
    }

    fn new(account: Arc<Account>, request: GetToken, bounds: &Bounds) -> Result<Self, FleetError> {
        Self::new((*account).clone(), request, bounds.checkout).map_err(|error| match error {
            CheckoutError::Misuse(misuse) => FleetError::Misuse(misuse),
            other => FleetError::Checkout(other.to_string()),
        })
    }

    fn resume(
        saved: &SavedState,
        account: Arc<Account>,
        _: Option<GetToken>,
        bounds: &Bounds,
        ended: bool,
    ) -> Result<Self, ResumeError> {
        let resumed = Self::resume(saved, (*account).clone(), bounds.checkout)?;
        Ok(if ended { resumed.look_again() } else { resumed })
    }

    fn request(stored: &str) -> Result<GetToken, StoreError> {
        crate::terms::request(stored)
    }

    fn outcome(outcome: &CheckoutOutcome) -> (String, IntentStatus) {
        PaymentOutcome::of_checkout(outcome)
    }

    fn input(event: FleetEvent) -> Option<CheckoutInput> {
        match event {
            FleetEvent::Reported { trans_key } => Some(CheckoutInput::Reported(trans_key)),
            FleetEvent::Cancelled => Some(CheckoutInput::Cancel),
            _ => None,
        }
    }

    fn question(demand: CheckoutDemand) -> FleetQuestion {
        let CheckoutDemand::Redirect { url, until } = demand;
        FleetQuestion::Redirect { url: url.as_str().to_owned(), deadline: until }
    }

    fn rests(&self) -> bool {
        self.lingers()
    }
}
