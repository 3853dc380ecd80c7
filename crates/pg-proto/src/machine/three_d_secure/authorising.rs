//! The payment is asked for: the only step that moves money.

use pg_model::{AuthThreeDSecure, ErrorCode, Outcome, PreauthThreeDSecure, Remedy, Transaction};

use super::{Next, NotSent, Pay, Phase, ThreeDSecure, ThreeDSecureInput, ThreeDSecured};
use crate::{
    Refused,
    machine::{
        Event, Failure, Moment,
        charge::{Doubt, Standing},
        exchange::{Heard, heard},
    },
};

impl ThreeDSecure {
    pub(super) fn authorise(&mut self, now: Moment) -> Next {
        let key = self.state.authentication_key.as_str();
        let request = match self.state.plan.pay {
            Pay::Auth => self.account.request_unchecked(&AuthThreeDSecure::new(key)),
            Pay::Preauth => self.account.request_unchecked(&PreauthThreeDSecure::new(key)),
        };
        match request {
            Ok(request) if self.state.attempts.made() < self.state.plan.attempts => {
                self.state.sending = true;
                self.send(request)
            }
            _ => {
                self.not_authorised(NotSent::Unreachable, Doubt::NoRequest);
                self.go_on(now)
            }
        }
    }

    pub(super) fn authorised(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let first = !self.state.exposed;
        let attempts = self.state.plan.attempts;
        self.state.sending = false;
        // Whatever else came of it, it left.
        self.state.exposed |= !matches!(event, Event::Failed(Failure::NotSent | Failure::HeldBack));
        // A refusal with 119 sorts as doubt: the bank may have charged, or may still.
        match heard::<AuthThreeDSecure, _>(&self.account, event) {
            Heard::Answer(outcome) => self.paid(outcome),
            Heard::Refused(refused) => self.refused(refused, first),
            // With this authentication (962), or under its reference: there is a payment to be found.
            Heard::Done(_) => self.doubt(),
            Heard::Shut(refused) if first && refused.remedy() == Remedy::FixCredentials && refused.is_known() => {
                self.end(ThreeDSecured::Refused(refused));
            }
            Heard::Shut(refused) if refused.remedy() == Remedy::FixCredentials => {
                self.unknown(Doubt::Credentials(refused));
            }
            Heard::Shut(refused) => self.refused(refused, first),
            Heard::InDoubt => self.doubt(),
            Heard::HeldBack => self.not_authorised(NotSent::HeldBack, Doubt::HeldBack),
            Heard::NotSent => {
                if !self.try_again(None, attempts, now, random) {
                    self.not_authorised(NotSent::Unreachable, Doubt::NotLookedUp);
                }
            }
            Heard::Later(wait) => {
                if !self.try_again(Some(wait), attempts, now, random) {
                    self.doubt();
                }
            }
        }
    }

    fn paid(&mut self, outcome: Outcome<Transaction>) {
        match outcome {
            // The reply to something else.
            other if !self.state.bears_reference(other.record()) => self.doubt(),
            Outcome::Approved(transaction) => self.end(ThreeDSecured::Approved(transaction)),
            Outcome::Declined(transaction) => self.end(ThreeDSecured::Declined(transaction)),
            Outcome::Other(transaction) => {
                self.seen = Some(Box::new(transaction));
                self.doubt();
            }
        }
    }

    /// It holds for every copy, or has to be confirmed by a lookup.
    fn refused(&mut self, refused: Refused, first: bool) {
        if *refused.code() == ErrorCode::NO_RESPONSE_FROM_BANK {
            self.state.open = true;
        }
        if first && refused.standing() == Standing::Always {
            return self.end(ThreeDSecured::Refused(refused));
        }
        self.refusal = Some(refused);
        self.enter(Phase::LookingUp);
    }

    pub(super) fn doubt(&mut self) {
        self.state.open = true;
        self.enter(Phase::LookingUp);
    }

    /// Nothing more can be sent.
    fn not_authorised(&mut self, why: NotSent, doubt: Doubt) {
        if !self.state.exposed {
            self.end(ThreeDSecured::NotSent(why));
        } else if why == NotSent::HeldBack {
            self.unknown(doubt);
        } else {
            self.doubt();
        }
    }
}
