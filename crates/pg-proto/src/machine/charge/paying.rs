//! Handles the reply to the payment, or its absence.

use std::time::Duration;

use pg_model::{ApiRequest, ErrorCode, Outcome, Remedy, Transaction};

use super::{
    Charge, ChargeOutcome, RefusalScope, UnknownReason,
    state::{Aim, Exposure, Phase, Refusal, Then, UsedUp},
};
use crate::{
    Refused, ReplyError,
    machine::{
        Event, Failure, Moment,
        exchange::wait,
        settlement::{AnsweredKey, Finding},
    },
};

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// Handles the result of the payment.
    pub(super) fn paid(&mut self, event: Event, now: Moment, random: u64) {
        match event {
            Event::Reply(reply) => match self.account.reply::<M>(reply) {
                Ok(outcome) => self.made(outcome, now, random),
                Err(ReplyError::Unreadable(_)) => self.lost(now, random),
                Err(ReplyError::Refused(refused)) => self.refused(refused, now, random),
            },
            Event::Failed(Failure::NotSent) => self.send_again(None, now, random),
            Event::Failed(Failure::HeldBack) if self.state.exposure == Exposure::Never => {
                self.end(ChargeOutcome::NotSent);
            }
            Event::Failed(Failure::HeldBack) => self.unknown(UnknownReason::HeldBack),
            Event::Failed(Failure::MaybeSent | Failure::Superseded) | Event::Begin | Event::Woken => {
                self.lost(now, random)
            }
            Event::Input(never) => match never {},
        }
    }

    /// Handles a returned transaction, which is that of this reference.
    fn made(&mut self, outcome: Outcome<Transaction>, now: Moment, random: u64) {
        self.state.expose(Exposure::Answered);
        match self.state.expected.replied(outcome, self.account.dialect()) {
            Finding::Approved(transaction) => self.end(ChargeOutcome::Approved(transaction)),
            Finding::Declined(transaction) => self.end(ChargeOutcome::Declined(transaction)),
            Finding::Unsettled(transaction) => {
                self.wait_for_a_status();
                self.state.answered = AnsweredKey::of(&transaction);
                self.unsettled.replied(transaction);
                self.look_again(None, now, random);
            }
            Finding::Unknown(why) => self.unknown(why),
            // The reply belongs to another request.
            Finding::Nothing(_) | Finding::Again(_) | Finding::Unreadable(_) => self.lost(now, random),
        }
    }

    /// Handles a request that may have been executed: looks the payment up after a pause.
    fn lost(&mut self, now: Moment, random: u64) {
        self.state.expose(Exposure::Open);
        self.state.aim = Aim::Resend;
        self.look_again(None, now, random);
    }

    /// Handles a request that was certainly not executed: sends it again after a pause. If an earlier request may have
    /// been executed, looks the payment up first.
    fn send_again(&mut self, told: Option<Duration>, now: Moment, random: u64) {
        let then = if self.state.exposure == Exposure::Open { Then::Look } else { Then::Pay };
        self.rest(told, then, now, random);
    }

    fn refused(&mut self, refused: Refused, now: Moment, random: u64) {
        let state = &mut self.state;
        let open = state.exposure == Exposure::Open;
        state.expose(Exposure::Answered);
        let refusal = Refusal::from(&refused);
        if *refused.code() == ErrorCode::NO_RESPONSE_FROM_BANK {
            state.expose(Exposure::Open);
            state.aim = Aim::Settle(UsedUp::NoResponse(refusal));
            return self.look_again(None, now, random);
        }
        if refused.leaves_it_open() {
            return self.lost(now, random);
        }
        // The documents list no code for a used reference. The dialect may list one, and 125 may mean it.
        if refused.says_it_was_done() {
            state.expose(Exposure::Open);
            state.aim = Aim::Settle(UsedUp::Duplicate(refusal));
            state.phase = Phase::Looking;
            return;
        }
        let scope = refused.scope();
        let holds_for_every_copy = scope == RefusalScope::Always && !open && !state.earlier_run;
        match refused.remedy() {
            // A lookup would be refused too, and each refusal counts towards a lockout.
            Remedy::FixCredentials if !holds_for_every_copy => {
                return self.unknown(UnknownReason::Credentials(refused));
            }
            Remedy::Retry => return self.send_again(None, now, random),
            remedy => {
                if let Some(told) = wait(remedy) {
                    return self.send_again(Some(told), now, random);
                }
            }
        }
        let proves = !state.earlier_run && (scope != RefusalScope::WhileItLasts || !open);
        state.aim = Aim::Refuse { refusal, proves };
        if holds_for_every_copy {
            self.end(ChargeOutcome::Refused(refused));
        } else {
            state.phase = Phase::Looking;
        }
    }
}
