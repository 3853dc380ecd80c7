//! The saved state of a 3-D Secure payment.

use pg_model::{ApiRequest as _, AuthThreeDSecure, PreauthThreeDSecure};
use serde::{Deserialize, Serialize};

use super::plan::{Initiation, PaymentType, ThreeDSecurePlan};
use crate::machine::{
    Moment,
    attempts::Attempts,
    settlement::{AnsweredKey, Expected, SharedWith},
};

/// The saved state. It includes the authentication key, which the status request and the payment need, and which cannot
/// be requested again. The key is hardly a secret: it is in the address that the customer's browser opens, is valid
/// only for this payment to this merchant, and is useless without the account's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) plan: ThreeDSecurePlan,
    pub(super) reference: String,
    pub(super) currency: String,
    /// In minor units. Earlier versions did not save it: then the owner may set it, otherwise amounts are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) total: Option<u64>,
    pub(super) phase: Phase,
    /// Attempts of this phase.
    #[serde(flatten)]
    pub(super) attempts: Attempts,
    pub(super) authentication_key: String,
    pub(super) authentication_url: String,
    /// The end of the customer's time.
    pub(super) until: Moment,
    /// The end of the merchant's time to decide, if the merchant was asked. Earlier versions did not save it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) decide_until: Option<Moment>,
    /// The merchant's decision that arrived while the status was requested again. Earlier versions did not save it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) proceed: Option<bool>,
    /// Whether the customer will not return to the challenge.
    pub(super) closed: bool,
    /// Whether the request for the payment is in flight.
    pub(super) sending: bool,
    /// Whether a request for the payment may have left.
    pub(super) exposed: bool,
    /// Whether the result of a request for the payment is unknown.
    pub(super) open: bool,
    /// The payment that the reply named, with a status that was not final. Earlier versions did not save it.
    #[serde(default, skip_serializing_if = "AnsweredKey::is_unknown")]
    pub(super) answered: AnsweredKey,
    /// Whether the payment has ended. Earlier versions did not store that.
    #[serde(default)]
    pub(super) over: bool,
}

/// The phase of a 3-D Secure payment, one file each.
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
            decide_until: None,
            proceed: None,
            closed: false,
            sending: false,
            exposed: false,
            open: false,
            answered: AnsweredKey::default(),
            over: false,
        }
    }

    /// Returns the state after a crash: the last request counts as sent, and only the counts of reading requests start
    /// again.
    pub(super) fn resumed(mut self) -> Self {
        if self.exposed || self.sending {
            self.enter(Phase::LookingUp);
            (self.open, self.exposed, self.sending) = (self.open || self.sending, true, false);
        }
        // The status to decide about is requested again.
        if matches!(self.phase, Phase::Checking | Phase::Deciding) {
            self.enter(Phase::Checking);
        }
        self
    }

    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.attempts.begin_anew();
    }

    /// Returns the expected payment: it has the references of its initiation (assumption A109).
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
