//! Waits for the customer at the challenge. A return is only a reason to ask the service.

use std::time::Duration;

use super::{Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureDemand, ThreeDSecureInput};
use crate::machine::{Action, Moment};

/// Minimum time between two status requests, since anyone can open the return address.
const BETWEEN_LOOKS: Duration = Duration::from_secs(2);

impl ThreeDSecure {
    pub(super) fn challenge(&mut self, now: Moment) -> ThreeDSecureAction {
        let until = self.challenge_ends(now);
        let url = self.state.authentication_url.as_str().into();
        Action::Ask(ThreeDSecureDemand::Challenge { url, until })
    }

    /// Returns the end of the customer's time.
    pub(super) fn challenge_ends(&mut self, now: Moment) -> Moment {
        self.challenge_until.end(&mut self.state.until, self.state.plan.challenge, now)
    }

    pub(super) fn customer(&mut self, input: ThreeDSecureInput, now: Moment) {
        match input {
            ThreeDSecureInput::Returned => self.ask_for_status(now),
            ThreeDSecureInput::Closed => {
                self.state.closed = true;
                self.ask_for_status(now);
            }
            ThreeDSecureInput::Proceed | ThreeDSecureInput::Stop => {}
        }
    }

    pub(super) fn challenge_over(&mut self, now: Moment) {
        if now >= self.challenge_ends(now) {
            self.ask_for_status(now);
        }
    }

    fn ask_for_status(&mut self, now: Moment) {
        self.enter(Phase::Checking);
        if let Some(left) = BETWEEN_LOOKS.checked_sub(now.since(self.checked)) {
            self.state.attempts.hold_back(left, now);
        }
    }
}
