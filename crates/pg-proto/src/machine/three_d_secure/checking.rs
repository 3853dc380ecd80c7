//! Requests the result of the challenge.

use pg_model::{
    AuthenticationStatus, GetAuthenticationStatus, LiabilityShift, StatusCode,
    dialect::{AuthenticationState, Dialect},
};

use super::{
    NoLiabilityShift, NotSentReason, Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureInput, ThreeDSecureOutcome,
};
use crate::machine::{
    Action, Event, Moment,
    exchange::{ExchangeResult, sort_event},
};

/// The meaning of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthenticationClass {
    Authenticated,
    Failed,
    Pending,
    Abandoned,
    TimedOut,
    /// The card has no 3-D Secure, or the merchant stays liable although the customer has authenticated.
    Unshifted,
    /// The merchant stays liable, and neither the documents nor the dialect list the code: the customer may not have finished, or may
    /// have failed.
    Unlisted,
    /// Neither `Y` nor `N`: not the result of a challenge.
    NoResult,
}

impl ThreeDSecure {
    pub(super) fn check(&mut self, now: Moment) -> ThreeDSecureAction {
        let question = GetAuthenticationStatus::new(self.state.authentication_key.as_str());
        self.checked = now;
        match self.account.request_unchecked(&question) {
            Ok(request) => self.send(request),
            Err(_) => {
                self.end(ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable));
                Action::Done(ThreeDSecureOutcome::NotSent(NotSentReason::Unreachable))
            }
        }
    }

    pub(super) fn checked(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let attempts = self.state.plan.attempts;
        let mut why = NotSentReason::Unreachable;
        let again = match sort_event::<GetAuthenticationStatus, _>(&self.account, event) {
            ExchangeResult::Answer(status) => match classify(&status, self.account.dialect()) {
                AuthenticationClass::NoResult => {
                    why = NotSentReason::NoResult;
                    self.try_again(None, attempts, now, random)
                }
                class => return self.take_status(class, status, now),
            },
            // The authentication was paid before, but this machine has no record of that.
            ExchangeResult::Done(_) => {
                self.state.exposed = true;
                return self.doubt();
            }
            ExchangeResult::Refused(refused) | ExchangeResult::Shut(refused) => {
                if let Some(outcome) = self.not_begun(refused) {
                    self.end(outcome);
                }
                return;
            }
            ExchangeResult::HeldBack => return self.end(ThreeDSecureOutcome::NotSent(NotSentReason::HeldBack)),
            ExchangeResult::Later(wait) => self.try_again(Some(wait), attempts, now, random),
            // A status request only reads, so it does not matter whether it arrived.
            ExchangeResult::NotSent | ExchangeResult::InDoubt => self.try_again(None, attempts, now, random),
        };
        if !again {
            self.end(ThreeDSecureOutcome::NotSent(why));
        }
    }

    /// Keeps what the customer or the merchant did while the status is requested. A decision counts only if the merchant was
    /// asked before, in an earlier run of the machine, and decided in time.
    pub(super) fn heard_early(&mut self, input: ThreeDSecureInput, now: Moment) {
        let asked = self.state.decide_until.is_some_and(|until| now < until);
        match input {
            ThreeDSecureInput::Closed => self.state.closed = true,
            ThreeDSecureInput::Proceed if asked => self.state.proceed = Some(true),
            ThreeDSecureInput::Stop if asked => self.state.proceed = Some(false),
            ThreeDSecureInput::Returned | ThreeDSecureInput::Proceed | ThreeDSecureInput::Stop => {}
        }
    }

    fn take_status(&mut self, class: AuthenticationClass, status: AuthenticationStatus, now: Moment) {
        let decision = self.state.proceed.take();
        match class {
            AuthenticationClass::Authenticated => self.enter(Phase::Authorising),
            AuthenticationClass::Failed => self.end(ThreeDSecureOutcome::Failed),
            AuthenticationClass::Abandoned => self.end(ThreeDSecureOutcome::Abandoned),
            AuthenticationClass::TimedOut => self.end(ThreeDSecureOutcome::TimedOut),
            AuthenticationClass::Pending if self.state.closed => self.end(ThreeDSecureOutcome::Abandoned),
            AuthenticationClass::Pending if now >= self.challenge_ends(now) => self.end(ThreeDSecureOutcome::TimedOut),
            AuthenticationClass::Pending => self.enter(Phase::Challenged),
            class => match self.state.plan.without_shift {
                NoLiabilityShift::Proceed if class == AuthenticationClass::Unshifted => self.enter(Phase::Authorising),
                NoLiabilityShift::Proceed | NoLiabilityShift::End => self.end(ThreeDSecureOutcome::NotShifted(status)),
                NoLiabilityShift::Ask => {
                    // After a restart, or on another server, the machine asks again. That gives no more time to decide.
                    let until = *self.state.decide_until.get_or_insert(now.after(self.state.plan.decision));
                    self.status = Some((status, until));
                    self.enter(Phase::Deciding);
                    match decision {
                        Some(true) => self.decided(ThreeDSecureInput::Proceed),
                        Some(false) => self.decided(ThreeDSecureInput::Stop),
                        None => self.decision_over(now),
                    }
                }
            },
        }
    }
}

/// Classifies a status. The shift is its result: with `Y` the merchant is not liable (spec 2 §3.3). The documents define no code of a
/// status: 607 (Success) and 608 (Failed) are those of the initiation (spec 2 §2.3). The codes distinguish the cases without a shift, as
/// the dialect lists them (assumption A106). A reply that contradicts itself does not charge: `Y` with 608, or with a code that
/// the dialect lists for a challenge that failed, was left or timed out. Without `Y` or `N` only a code of the dialect is a result, but
/// never 607: the initiation's reply has it and no shift, and a proxy or a connection may deliver that reply twice, the second time in
/// place of the status.
pub(super) fn classify(status: &AuthenticationStatus, dialect: &Dialect) -> AuthenticationClass {
    let code = &status.transaction_status_code;
    let state = dialect.authentication_state(code);
    let is_shifted = status.liability_shift == LiabilityShift::SHIFTED;
    let is_success = *code == StatusCode::THREE_D_SECURE_SUCCESS;
    let is_result = status.liability_shift == LiabilityShift::MERCHANT_LIABLE || (state.is_some() && !is_success);
    match state {
        Some(AuthenticationState::Failed) => AuthenticationClass::Failed,
        Some(AuthenticationState::Abandoned) => AuthenticationClass::Abandoned,
        Some(AuthenticationState::TimedOut) => AuthenticationClass::TimedOut,
        None if *code == StatusCode::THREE_D_SECURE_FAILED => AuthenticationClass::Failed,
        _ if is_shifted => AuthenticationClass::Authenticated,
        Some(AuthenticationState::Pending) => AuthenticationClass::Pending,
        _ if !is_result => AuthenticationClass::NoResult,
        None if !is_success => AuthenticationClass::Unlisted,
        _ => AuthenticationClass::Unshifted,
    }
}
