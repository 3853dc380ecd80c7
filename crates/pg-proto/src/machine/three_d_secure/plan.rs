//! Settings and bounds of a 3-D Secure payment.

use std::{fmt, time::Duration};

use pg_model::{InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey};
use serde::{Deserialize, Serialize};

use crate::machine::Backoff;

/// The first step, with the card of a client session or with a stored card (spec 2 §4.4). `Debug` shows neither.
///
/// ```
/// use pg_proto::machine::three_d_secure::Initiation;
/// use pg_proto::model::{Currency, InitiateThreeDSecureSessionKey, Item, Order};
///
/// let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
/// let first = InitiateThreeDSecureSessionKey::new("session key", order, "https://shop.example/3ds/order-7");
/// let initiation = Initiation::SessionKey(first);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub enum Initiation {
    /// With the card that was posted to a client session.
    SessionKey(InitiateThreeDSecureSessionKey),
    /// With a stored card.
    CardKey(InitiateThreeDSecureCardKey),
}

/// Settings and bounds of a [3-D Secure payment](super::ThreeDSecure).
///
/// ```
/// use std::time::Duration;
/// use pg_proto::machine::three_d_secure::{NoLiabilityShift, PaymentType, ThreeDSecurePlan};
///
/// // Reserves the amount, and ends without a payment if the merchant would be liable.
/// let plan = ThreeDSecurePlan::default().pay(PaymentType::Preauth).without_shift(NoLiabilityShift::End);
/// assert_eq!(plan.challenge, Duration::from_secs(15 * 60));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreeDSecurePlan {
    /// Type of the payment. Default: debit.
    pub pay: PaymentType,
    /// What to do without liability shift. Default: ask the merchant.
    pub without_shift: NoLiabilityShift,
    /// Time for the customer, counted from the reply to the initiation. Default: 15 minutes (assumption A107).
    pub challenge: Duration,
    /// Time for the merchant's decision. Default: 10 minutes.
    pub decision: Duration,
    /// Maximum number of attempts of each step that certainly had no effect. A crash starts a new count for status
    /// requests. Default: 8.
    pub attempts: u32,
    /// Maximum number of lookups of the payment. A crash starts a new count. Default: 8. If the dialect does not name the error
    /// of a used authentication, fewer than 3 leave a decline unknown (assumption A141).
    pub lookups: u32,
    /// The pauses between attempts and between lookups. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl ThreeDSecurePlan {
    /// Sets the type of the payment.
    #[must_use]
    pub const fn pay(mut self, pay: PaymentType) -> Self {
        self.pay = pay;
        self
    }

    /// Sets what to do without liability shift.
    #[must_use]
    pub const fn without_shift(mut self, without_shift: NoLiabilityShift) -> Self {
        self.without_shift = without_shift;
        self
    }

    /// Sets the time for the customer, counted from the reply to the initiation.
    #[must_use]
    pub const fn challenge(mut self, challenge: Duration) -> Self {
        self.challenge = challenge;
        self
    }

    /// Sets the time for the merchant's decision.
    #[must_use]
    pub const fn decision(mut self, decision: Duration) -> Self {
        self.decision = decision;
        self
    }

    /// Sets the maximum number of attempts of each step that certainly had no effect. A crash starts a new count for
    /// status requests.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the maximum number of lookups of the payment. A crash starts a new count.
    #[must_use]
    pub const fn lookups(mut self, lookups: u32) -> Self {
        self.lookups = lookups;
        self
    }

    /// Sets the pauses between attempts and between lookups.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

/// The type of the payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PaymentType {
    /// Debits: `auth3DSecure`.
    Auth,
    /// Reserves: `preauth3DSecure`.
    Preauth,
}

/// What to do if the merchant would be liable (spec 2 §3.3): the status has the `liabilityShift` `N`, or a code of the dialect and no
/// `Y`. A status with neither is requested again. A challenge that failed,
/// was left or timed out always ends without a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum NoLiabilityShift {
    /// Pay anyway. With a code that neither the documents nor the dialect list, it ends without a payment: the customer may not
    /// have finished, or may have failed.
    Proceed,
    /// End without a payment.
    End,
    /// Ask the merchant each time.
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
