//! What is stored of a 3-D Secure payment.

use pg_model::{ApiRequest as _, AuthThreeDSecure, PreauthThreeDSecure};
use serde::{Deserialize, Serialize};

use super::plan::{Initiation, PaymentType, ThreeDSecurePlan};
use crate::machine::{
    Moment,
    attempts::Attempts,
    settlement::{Expected, SharedWith},
};

/// What is stored. The authentication key is: without it the status can't be asked for and the payment not be made, and it
/// can't be had again. It is no secret worth stealing: it stands in the address that the customer's browser opens, is
/// good for this one payment to this merchant, and of no use without the account's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) plan: ThreeDSecurePlan,
    pub(super) reference: String,
    pub(super) currency: String,
    /// Whole minor units. Earlier versions did not store it: then the owner of the machine may state it, or amounts are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) total: Option<u64>,
    pub(super) phase: Phase,
    /// Attempts of this phase.
    #[serde(flatten)]
    pub(super) attempts: Attempts,
    pub(super) authentication_key: String,
    pub(super) authentication_url: String,
    /// Until when the customer may take.
    pub(super) until: Moment,
    /// The customer will not come back to the challenge.
    pub(super) closed: bool,
    /// The payment's request is on its way.
    pub(super) sending: bool,
    /// A request for the payment may have left.
    pub(super) exposed: bool,
    /// What became of one is not known.
    pub(super) open: bool,
    /// It has ended. Earlier versions did not store that.
    #[serde(default)]
    pub(super) over: bool,
}

/// Where a 3-D Secure payment is: a file each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Phase {
    Initiating,
    Challenged,
    Checking,
    Deciding,
    Authorising,
    LookingUp,
}

impl State {
    pub(super) fn new(plan: ThreeDSecurePlan, initiation: &Initiation) -> Self {
        let Expected { reference, currency, total, .. } = match initiation {
            Initiation::SessionKey(request) => Expected::of(request),
            Initiation::CardKey(request) => Expected::of(request),
        };
        Self {
            plan,
            reference,
            currency,
            total,
            phase: Phase::Initiating,
            attempts: Attempts::default(),
            authentication_key: String::new(),
            authentication_url: String::new(),
            until: Moment::default(),
            closed: false,
            sending: false,
            exposed: false,
            open: false,
            over: false,
        }
    }

    /// After a crash: what was to be sent counts as sent, and only what asks begins anew.
    pub(super) fn resumed(mut self) -> Self {
        if self.exposed || self.sending {
            self.enter(Phase::LookingUp);
            (self.sending, self.exposed, self.open) = (false, true, true);
        }
        // What there is to decide about is fetched again.
        if matches!(self.phase, Phase::Checking | Phase::Deciding) {
            self.enter(Phase::Checking);
        }
        self
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.attempts.begin_anew();
    }

    /// The payment as it is recognised: it takes over the references of its initiation (assumption A109).
    pub(super) fn expected(&self) -> Expected {
        let method = match self.plan.pay {
            PaymentType::Auth => AuthThreeDSecure::INFO.name,
            PaymentType::Preauth => PreauthThreeDSecure::INFO.name,
        };
        Expected {
            method: method.to_owned(),
            reference: self.reference.clone(),
            currency: self.currency.clone(),
            total: self.total,
            shared: SharedWith::Check,
        }
    }
}
