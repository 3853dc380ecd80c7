//! The service is asked how the challenge went.

use pg_model::{
    AuthenticationStatus, GetAuthenticationStatus, LiabilityShift, StatusCode,
    dialect::{AuthenticationState, Dialect},
};

use super::{Next, NotSent, Phase, ThreeDSecure, ThreeDSecureInput, ThreeDSecured, WithoutShift};
use crate::machine::{
    Action, Event, Moment,
    exchange::{Heard, heard},
};

/// What a status says.
enum Standing {
    Authenticated,
    Failed,
    Pending,
    Abandoned,
    TimedOut,
    /// The card has no 3-D Secure, or the merchant stays liable for a reason that neither the documents nor the dialect tell.
    Unshifted,
}

impl ThreeDSecure {
    pub(super) fn check(&mut self, now: Moment) -> Next {
        let question = GetAuthenticationStatus::new(self.state.authentication_key.as_str());
        self.checked = now;
        match self.account.request_unchecked(&question) {
            Ok(request) => self.send(request),
            Err(_) => {
                self.end(ThreeDSecured::NotSent(NotSent::Unreachable));
                Action::Done(ThreeDSecured::NotSent(NotSent::Unreachable))
            }
        }
    }

    pub(super) fn checked(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let attempts = self.state.plan.attempts;
        let again = match heard::<GetAuthenticationStatus, _>(&self.account, event) {
            Heard::Answer(status) => return self.take_status(status, now),
            // It has paid already, though this machine knows nothing of it.
            Heard::Done(_) => {
                self.state.exposed = true;
                return self.doubt();
            }
            Heard::Refused(refused) | Heard::Shut(refused) => return self.end(ThreeDSecured::Refused(refused)),
            Heard::HeldBack => return self.end(ThreeDSecured::NotSent(NotSent::HeldBack)),
            Heard::Later(wait) => self.try_again(Some(wait), attempts, now, random),
            // It only reads, so that it does not matter whether it arrived.
            Heard::NotSent | Heard::InDoubt => self.try_again(None, attempts, now, random),
        };
        if !again {
            self.end(ThreeDSecured::NotSent(NotSent::Unreachable));
        }
    }

    fn take_status(&mut self, status: AuthenticationStatus, now: Moment) {
        match standing(&status, self.account.dialect()) {
            Standing::Authenticated => self.enter(Phase::Authorising),
            Standing::Failed => self.end(ThreeDSecured::Failed),
            Standing::Abandoned => self.end(ThreeDSecured::Abandoned),
            Standing::TimedOut => self.end(ThreeDSecured::TimedOut),
            Standing::Pending if self.state.closed => self.end(ThreeDSecured::Abandoned),
            Standing::Pending if now >= self.state.until => self.end(ThreeDSecured::TimedOut),
            Standing::Pending => self.enter(Phase::Challenged),
            Standing::Unshifted => match self.state.plan.without_shift {
                WithoutShift::Proceed => self.enter(Phase::Authorising),
                WithoutShift::End => self.end(ThreeDSecured::NotShifted(status)),
                WithoutShift::Ask => {
                    self.status = Some((status, now.after(self.state.plan.decision)));
                    self.enter(Phase::Deciding);
                }
            },
        }
    }
}

/// The documents show the shift, and 607 for success (spec 2 §3.3, §4.4); the codes that tell the others apart are the
/// dialect's (assumption A106).
fn standing(status: &AuthenticationStatus, dialect: &Dialect) -> Standing {
    let code = &status.transaction_status_code;
    let is_shifted = status.liability_shift == LiabilityShift::SHIFTED;
    let succeeded = *code == StatusCode::THREE_D_SECURE_SUCCESS;
    match dialect.authentication_state(code) {
        Some(AuthenticationState::Failed) => Standing::Failed,
        Some(AuthenticationState::Pending) => Standing::Pending,
        Some(AuthenticationState::Abandoned) => Standing::Abandoned,
        Some(AuthenticationState::TimedOut) => Standing::TimedOut,
        Some(AuthenticationState::Authenticated) if is_shifted => Standing::Authenticated,
        None if succeeded && is_shifted => Standing::Authenticated,
        _ => Standing::Unshifted,
    }
}
