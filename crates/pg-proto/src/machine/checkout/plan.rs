//! The bounds of a checkout.

use std::time::Duration;

use crate::machine::Backoff;

/// Bounds of a [checkout](super::Checkout).
///
/// ```
/// use std::time::Duration;
/// use pg_proto::machine::checkout::CheckoutPlan;
///
/// // The customer has an hour. Then the token is withdrawn, and a late callback may still arrive for 20 minutes.
/// let plan = CheckoutPlan::default().wait(Duration::from_secs(3_600));
/// assert_eq!(plan.linger, Duration::from_secs(1_200));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutPlan {
    /// Maximum time for the customer, if the token does not expire earlier. Default: 7 days, the lifetime of a token.
    pub wait: Duration,
    /// Time to wait for reports of a payment after the token can no longer be paid. Default: 20 minutes. If the token was not cancelled
    /// before its expiry, the machine waits twice: after the expiry by its own clock, and after the service's reply. The time is counted in 20 parts:
    /// a clock that jumps, or another server whose clock is ahead, takes one part away at most. A machine that is resumed counts
    /// from its saved state, so a driver that stops meanwhile saves the machine before.
    pub linger: Duration,
    /// Maximum number of attempts for each request. Default: 8.
    pub attempts: u32,
    /// The pauses between attempts. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl CheckoutPlan {
    /// Sets the maximum time for the customer, if the token does not expire earlier.
    #[must_use]
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Sets the time to wait for reports of a payment after the token can no longer be paid.
    #[must_use]
    pub const fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// Sets the maximum number of attempts for each request.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets the pauses between attempts.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

impl Default for CheckoutPlan {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(7 * 24 * 60 * 60),
            linger: Duration::from_secs(20 * 60),
            attempts: 8,
            pauses: Backoff::default(),
        }
    }
}
