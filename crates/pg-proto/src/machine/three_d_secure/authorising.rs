//! Sends the payment: the only step that moves money.

use pg_model::{AuthThreeDSecure, ErrorCode, Outcome, PreauthThreeDSecure, Remedy, Transaction};

use super::{
    NotSentReason, PaymentType, Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureInput, ThreeDSecureOutcome,
};
use crate::{
    Refused,
    machine::{
        Event, Failure, Moment,
        charge::{RefusalScope, UnknownReason},
        exchange::{ExchangeResult, sort_event},
        settlement::{AnsweredKey, Finding},
    },
};

impl ThreeDSecure {
    pub(super) fn authorise(&mut self, now: Moment) -> ThreeDSecureAction {
        let key = self.state.authentication_key.as_str();
        let request = match self.state.plan.pay {
            PaymentType::Auth => self.account.request_unchecked(&AuthThreeDSecure::new(key)),
            PaymentType::Preauth => self.account.request_unchecked(&PreauthThreeDSecure::new(key)),
        };
        match request {
            Ok(request) if self.state.attempts.made() < self.state.plan.attempts => {
                self.state.sending = true;
                self.send(request)
            }
            _ => {
                self.not_authorised(NotSentReason::Unreachable, UnknownReason::NoRequest);
                self.advance(now)
            }
        }
    }

    pub(super) fn authorised(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let first = !self.state.exposed;
        let attempts = self.state.plan.attempts;
        self.state.sending = false;
        // Whatever its result, the request was sent.
        self.state.exposed |= !matches!(event, Event::Failed(Failure::NotSent | Failure::HeldBack));
        // A refusal with 119 counts as doubt: the bank may have charged, or may charge later.
        match sort_event::<AuthThreeDSecure, _>(&self.account, event) {
            ExchangeResult::Answer(outcome) => self.paid(outcome),
            ExchangeResult::Refused(refused) => self.refused(refused, first),
            // This authentication was used (962), or the reference: there is a payment to find.
            ExchangeResult::Done(_) => self.doubt(),
            ExchangeResult::Shut(refused) => self.refused(refused, first),
            ExchangeResult::InDoubt => self.doubt(),
            ExchangeResult::HeldBack => self.not_authorised(NotSentReason::HeldBack, UnknownReason::HeldBack),
            ExchangeResult::NotSent => {
                if !self.try_again(None, attempts, now, random) {
                    self.not_authorised(NotSentReason::Unreachable, UnknownReason::NotLookedUp);
                }
            }
            // It was not examined, but the network may have delivered a copy that was executed.
            ExchangeResult::Later(wait) => {
                if self.try_again(Some(wait), attempts, now, random) {
                    self.unexamined = Some(self.state.attempts.made());
                    self.enter(Phase::LookingUp);
                } else {
                    self.doubt();
                }
            }
        }
    }

    fn paid(&mut self, outcome: Outcome<Transaction>) {
        match self.state.expected().replied(outcome, self.account.dialect()) {
            Finding::Approved(transaction) => self.end(ThreeDSecureOutcome::Approved(transaction)),
            Finding::Declined(transaction) => self.end(ThreeDSecureOutcome::Declined(transaction)),
            Finding::Unsettled(transaction) => {
                self.state.answered = AnsweredKey::of(&transaction);
                self.unsettled.replied(transaction);
                self.enter(Phase::LookingUp);
            }
            Finding::Unknown(why) => self.unknown(why),
            // The reply belongs to another request.
            Finding::Nothing(_) | Finding::Again(_) | Finding::Unreadable(_) => self.doubt(),
        }
    }

    /// Handles a refusal: it holds for every copy, or a lookup must confirm it.
    fn refused(&mut self, refused: Refused, first: bool) {
        if *refused.code() == ErrorCode::NO_RESPONSE_FROM_BANK {
            self.state.open = true;
        }
        if first && refused.scope() == RefusalScope::Always {
            return self.end(ThreeDSecureOutcome::Refused(refused));
        }
        // A lookup would be refused too, and each refusal counts towards a lockout.
        if refused.remedy() == Remedy::FixCredentials {
            return self.unknown(UnknownReason::Credentials(refused));
        }
        self.refusal = Some(refused);
        self.enter(Phase::LookingUp);
    }

    pub(super) fn doubt(&mut self) {
        self.state.open = true;
        self.enter(Phase::LookingUp);
    }

    /// Ends the payment, because no further request can be sent.
    fn not_authorised(&mut self, why: NotSentReason, doubt: UnknownReason) {
        if !self.state.exposed {
            self.end(ThreeDSecureOutcome::NotSent(why));
        } else if why == NotSentReason::HeldBack {
            self.unknown(doubt);
        } else {
            self.doubt();
        }
    }
}
