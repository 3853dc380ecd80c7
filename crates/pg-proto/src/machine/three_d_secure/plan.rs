//! What a 3-D Secure payment is to do, and its bounds.

use std::{fmt, time::Duration};

use pg_model::{InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey};
use serde::{Deserialize, Serialize};

use crate::machine::Backoff;

/// The first step: with the card of a client session, or with a stored one. `Debug` shows neither.
#[derive(Clone, PartialEq, Eq)]
pub enum Initiation {
    /// With the card that was posted to a client session.
    SessionKey(InitiateThreeDSecureSessionKey),
    /// With a stored card.
    CardKey(InitiateThreeDSecureCardKey),
}

/// What a 3-D Secure payment is to do, and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreeDSecurePlan {
    /// What the last step does. Default: debit.
    pub pay: PaymentType,
    /// What happens without liability shift. Default: the merchant is asked.
    pub without_shift: NoLiabilityShift,
    /// How long the customer has, from the reply to the initiation. Default: 15 minutes (assumption A107).
    pub challenge: Duration,
    /// How long the merchant has to decide. Default: 10 minutes.
    pub decision: Duration,
    /// How often each step is tried at most while it certainly does nothing; the question for the status anew after a
    /// crash. Default: 8.
    pub attempts: u32,
    /// How often the payment is looked up at most, anew after a crash. Default: 8.
    pub lookups: u32,
    /// The pauses between attempts and between lookups. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl ThreeDSecurePlan {
    /// What the last step does.
    #[must_use]
    pub const fn pay(mut self, pay: PaymentType) -> Self {
        self.pay = pay;
        self
    }

    /// What happens without liability shift.
    #[must_use]
    pub const fn without_shift(mut self, without_shift: NoLiabilityShift) -> Self {
        self.without_shift = without_shift;
        self
    }

    /// How long the customer has, from the reply to the initiation.
    #[must_use]
    pub const fn challenge(mut self, challenge: Duration) -> Self {
        self.challenge = challenge;
        self
    }

    /// How long the merchant has to decide.
    #[must_use]
    pub const fn decision(mut self, decision: Duration) -> Self {
        self.decision = decision;
        self
    }

    /// How often each step is tried at most while it certainly does nothing; the question for the status anew after a crash.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// How often the payment is looked up at most, anew after a crash.
    #[must_use]
    pub const fn lookups(mut self, lookups: u32) -> Self {
        self.lookups = lookups;
        self
    }

    /// The pauses between attempts and between lookups.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

/// What the last step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaymentType {
    /// Debits: `auth3DSecure`.
    Auth,
    /// Reserves: `preauth3DSecure`.
    Preauth,
}

/// What happens when the merchant would stay liable (spec 2 §3.3): the card has no 3-D Secure, or the status says neither
/// that the customer was authenticated nor that the challenge failed, was left or timed out. These three always end
/// without a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NoLiabilityShift {
    /// The payment is made all the same.
    Proceed,
    /// It ends without a payment.
    End,
    /// The merchant is asked each time.
    Ask,
}

impl From<InitiateThreeDSecureSessionKey> for Initiation {
    fn from(request: InitiateThreeDSecureSessionKey) -> Self {
        Self::SessionKey(request)
    }
}

impl From<InitiateThreeDSecureCardKey> for Initiation {
    fn from(request: InitiateThreeDSecureCardKey) -> Self {
        Self::CardKey(request)
    }
}

impl fmt::Debug for Initiation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SessionKey(_) => "Initiation(session key)",
            Self::CardKey(_) => "Initiation(card key)",
        })
    }
}

impl Default for ThreeDSecurePlan {
    fn default() -> Self {
        Self {
            pay: PaymentType::Auth,
            without_shift: NoLiabilityShift::Ask,
            challenge: Duration::from_secs(15 * 60),
            decision: Duration::from_secs(10 * 60),
            attempts: 8,
            lookups: 8,
            pauses: Backoff::default(),
        }
    }
}
