//! The merchant decides whether to pay without liability shift.

use super::{Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome};
use crate::machine::{Action, Moment};

impl ThreeDSecure {
    pub(super) fn decide(&mut self, now: Moment) -> ThreeDSecureAction {
        match &self.status {
            Some((status, until)) => Action::Ask(ThreeDSecureDemand::Decide { status: status.clone(), until: *until }),
            // The status to decide about is requested again.
            None => {
                self.enter(Phase::Checking);
                self.advance(now)
            }
        }
    }

    /// Shortens the time to decide if the clock was ahead when the merchant was asked.
    pub(super) fn shorten_decision(&mut self, now: Moment) {
        let latest = now.after(self.state.plan.decision);
        let asked = self.status.as_mut().map(|(_, until)| until);
        for until in self.state.decide_until.iter_mut().chain(asked) {
            *until = latest.min(*until);
        }
    }

    pub(super) fn decided(&mut self, input: ThreeDSecureInput) {
        match input {
            ThreeDSecureInput::Proceed => self.enter(Phase::Authorising),
            ThreeDSecureInput::Stop => self.end_without(),
            ThreeDSecureInput::Returned | ThreeDSecureInput::Closed => {}
        }
    }

    pub(super) fn decision_over(&mut self, now: Moment) {
        if self.status.as_ref().is_some_and(|(_, until)| now >= *until) {
            self.end_without();
        }
    }

    fn end_without(&mut self) {
        if let Some((status, _)) = self.status.take() {
            self.end(ThreeDSecureOutcome::NotShifted(status));
        }
    }
}
