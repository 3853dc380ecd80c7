//! Handles the reply to the payment, or its absence.

use bytes::Bytes;
use pg_model::{ApiRequest, ErrorCode, Outcome, Remedy, Transaction};

use super::{
    Charge, ChargeOutcome, RefusalScope, Rest, Transition, UnknownReason,
    state::{Aim, Exposure, Refusal, State, Then, UsedUp},
};
use crate::{
    Refused, ReplyError,
    machine::{Failure, settlement::Finding},
};

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// Handles the reply to the payment.
    pub(super) fn paid(&mut self, response: http::Response<Bytes>) -> Transition {
        match self.account.reply::<M>(response) {
            Ok(outcome) => self.made(outcome),
            Err(ReplyError::Unreadable(_)) => lost(&mut self.state),
            Err(ReplyError::Refused(refused)) => refuse(&mut self.state, refused),
        }
    }

    /// Handles a payment without a reply.
    pub(super) fn unpaid(&mut self, failure: Failure) -> Transition {
        match failure {
            Failure::MaybeSent => lost(&mut self.state),
            Failure::NotSent => again(&self.state, Rest::Backoff),
            Failure::HeldBack if self.state.exposure == Exposure::Never => Transition::Done(ChargeOutcome::NotSent),
            Failure::HeldBack => Transition::Unknown(UnknownReason::HeldBack),
        }
    }

    /// Handles a returned transaction: it is the one of this reference.
    fn made(&mut self, outcome: Outcome<Transaction>) -> Transition {
        self.state.expose(Exposure::Answered);
        match self.state.expected.replied(outcome, self.account.dialect()) {
            Finding::Approved(transaction) => Transition::Done(ChargeOutcome::Approved(transaction)),
            Finding::Declined(transaction) => Transition::Done(ChargeOutcome::Declined(transaction)),
            Finding::Unsettled(transaction) => {
                self.wait_for_a_status();
                self.unsettled.replied(transaction);
                Transition::Rest(Rest::Backoff, Then::Look)
            }
            Finding::Unknown(why) => Transition::Unknown(why),
            // The reply belongs to something else.
            Finding::Nothing(_) | Finding::Again(_) => lost(&mut self.state),
        }
    }
}

/// The request may have been executed: looks it up after a pause.
pub(super) fn lost(state: &mut State) -> Transition {
    state.expose(Exposure::Open);
    state.aim = Aim::Resend;
    Transition::Rest(Rest::Backoff, Then::Look)
}

/// The request was certainly not executed: sends it again. If an earlier one may have been executed, looks that up
/// first.
fn again(state: &State, rest: Rest) -> Transition {
    let then = if state.exposure == Exposure::Open { Then::Look } else { Then::Pay };
    Transition::Rest(rest, then)
}

fn refuse(state: &mut State, refused: Refused) -> Transition {
    let first = state.exposure == Exposure::Never;
    let open = state.exposure == Exposure::Open;
    state.expose(Exposure::Answered);
    let refusal = Refusal::from(&refused);
    if *refused.code() == ErrorCode::NO_RESPONSE_FROM_BANK {
        state.expose(Exposure::Open);
        state.aim = Aim::Settle(UsedUp::NoResponse(refusal));
        return Transition::Rest(Rest::Backoff, Then::Look);
    }
    if refused.leaves_it_open() {
        return lost(state);
    }
    // The documents list no code for a used reference: the dialect may list one, and 125 may mean it.
    if refused.says_it_was_done() {
        state.expose(Exposure::Open);
        state.aim = Aim::Settle(UsedUp::Duplicate(refusal));
        return Transition::Look;
    }
    match refused.remedy() {
        Remedy::FixCredentials if first && refused.is_known() => {
            return Transition::Done(ChargeOutcome::Refused(refused));
        }
        Remedy::FixCredentials => return Transition::Unknown(UnknownReason::Credentials(refused)),
        remedy @ (Remedy::WaitOneMinute | Remedy::WaitFiveMinutes | Remedy::Retry) => {
            return again(state, Rest::of(remedy));
        }
        _ => {}
    }
    let scope = refused.scope();
    let proves = !state.earlier_run && (scope != RefusalScope::WhileItLasts || !open);
    state.aim = Aim::Refuse { refusal, proves };
    if scope == RefusalScope::Always && !open && !state.earlier_run {
        return Transition::Done(ChargeOutcome::Refused(refused));
    }
    Transition::Look
}
