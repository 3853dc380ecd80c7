//! The merchant decides whether to pay without liability shift.

use super::{Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome};
use crate::machine::{Action, Moment};

impl ThreeDSecure {
    pub(super) fn decide(&mut self, now: Moment) -> ThreeDSecureAction {
        match &mut self.status {
            Some((status, until)) => {
                // Setting the clock back does not extend a time limit.
                *until = (*until).min(now.after(self.state.plan.decision));
                Action::Ask(ThreeDSecureDemand::Decide { status: status.clone(), until: *until })
            }
            // The status to decide about is requested again.
            None => {
                self.enter(Phase::Checking);
                self.advance(now)
            }
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
