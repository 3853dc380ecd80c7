//! Handles the reply to a lookup: a payment that it finds, or an empty result.

use pg_model::{ApiRequest, Outcome, Transaction};

use super::{
    Charge, ChargeOutcome, Rest, Transition, UnknownReason,
    state::{Aim, Exposure, Then, UsedUp},
};
use crate::machine::{
    Event,
    settlement::{Finding, Nothing},
};

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// Handles the result of a lookup.
    pub(super) fn looked_up(&mut self, event: Event) -> Transition {
        match self.state.expected.looked_up(&self.account, event) {
            Finding::Approved(transaction) => Transition::Done(ChargeOutcome::Approved(transaction)),
            Finding::Declined(transaction) => Transition::Done(ChargeOutcome::Declined(transaction)),
            Finding::Unsettled(transaction) => {
                self.wait_for_a_status();
                let settled = self.unsettled.looked_up(transaction, self.account.dialect());
                settled.map_or(Transition::Rest(Rest::Backoff, Then::Look), Transition::Unknown)
            }
            Finding::Nothing(nothing) => {
                self.unsettled.not_found();
                self.nothing_found(nothing)
            }
            Finding::Unknown(why) => Transition::Unknown(why),
            Finding::Again(wait) => Transition::Rest(wait.map_or(Rest::Backoff, Rest::AsTold), Then::Look),
        }
    }

    /// Waits for a final status of a payment that exists: only lookups can tell it.
    pub(super) fn wait_for_a_status(&mut self) {
        self.state.expose(Exposure::Open);
        self.state.aim = Aim::Settle(UsedUp::UnknownStatus);
    }

    fn nothing_found(&mut self, nothing: Nothing) -> Transition {
        self.state.looked |= nothing.listed || nothing.proves;
        let dialect = self.account.dialect();
        match &self.state.aim {
            Aim::Refuse { refusal, proves: true } if nothing.proves => {
                Transition::Done(ChargeOutcome::Refused(refusal.refused(dialect)))
            }
            // A later lookup would prove no more.
            Aim::Refuse { refusal, proves } if !proves || !dialect.lookup.immediate => {
                Transition::Unknown(UnknownReason::Refused(refusal.refused(dialect)))
            }
            Aim::Refuse { .. } | Aim::Settle(_) => Transition::Rest(Rest::Backoff, Then::Look),
            Aim::Resend => Transition::Resend,
        }
    }
}
