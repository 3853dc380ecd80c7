//! Handles the reply to a lookup: a payment that it finds, or an empty result.

use std::time::Duration;

use pg_model::{ApiRequest, Outcome, Transaction};

use super::{
    Charge, ChargeOutcome, RefusalScope, UnknownReason,
    state::{Aim, Exposure, Phase, Refusal, Then, UsedUp},
};
use crate::machine::{
    Event, Moment,
    settlement::{Finding, Nothing},
};

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// Handles the result of a lookup.
    pub(super) fn looked_up(&mut self, event: Event, now: Moment, random: u64) {
        match self.state.expected.looked_up(&self.account, event) {
            Finding::Approved(transaction) => self.end(ChargeOutcome::Approved(transaction)),
            Finding::Declined(transaction) => self.end(ChargeOutcome::Declined(transaction)),
            Finding::Unsettled(transaction) => {
                self.unreadable = None;
                self.wait_for_a_status();
                match self.unsettled.looked_up(transaction, self.account.dialect()) {
                    Some(UnknownReason::DeclineUnconfirmed(transaction))
                        if self.state.exposure != Exposure::Open && self.state.answered.fits(&transaction) =>
                    {
                        self.end(ChargeOutcome::Declined(*transaction));
                    }
                    Some(why) => self.unknown(why),
                    None => self.look_again(None, now, random),
                }
            }
            Finding::Nothing(nothing) => {
                self.unsettled.not_found();
                self.nothing_found(nothing, now, random);
            }
            Finding::Unknown(why) => self.unknown(why),
            Finding::Again(told) => self.look_again(told, now, random),
            Finding::Unreadable(why) => {
                self.unreadable = Some(why);
                self.look_again(None, now, random);
            }
        }
    }

    /// Waits for the final status of a payment that exists, which only lookups show.
    pub(super) fn wait_for_a_status(&mut self) {
        self.state.aim = Aim::Settle(UsedUp::UnknownStatus);
    }

    /// Looks up after a pause, whose length the service may have stated.
    pub(super) fn look_again(&mut self, told: Option<Duration>, now: Moment, random: u64) {
        self.rest(told, Then::Look, now, random);
    }

    /// Whether the refusal excludes that a request without a reply is executed. The dialect may have been corrected since the
    /// refusal was saved.
    fn refuses_every_copy(&self, refusal: &Refusal) -> bool {
        let scope = refusal.refused(self.account.dialect()).scope();
        scope != RefusalScope::WhileItLasts || self.state.exposure != Exposure::Open
    }

    fn nothing_found(&mut self, nothing: Nothing, now: Moment, random: u64) {
        self.state.looked |= nothing.listed || nothing.proves;
        self.unreadable = None;
        let dialect = self.account.dialect();
        match &self.state.aim {
            Aim::Refuse { refusal, proves: true } if nothing.proves && self.refuses_every_copy(refusal) => {
                self.end(ChargeOutcome::Refused(refusal.refused(dialect)));
            }
            // A later lookup would prove no more.
            Aim::Refuse { refusal, proves }
                if !proves || !dialect.lookup.immediate || !self.refuses_every_copy(refusal) =>
            {
                self.unknown(UnknownReason::Refused(refusal.refused(dialect)));
            }
            Aim::Resend if self.may_pay(now) => self.state.phase = Phase::Ready,
            Aim::Resend | Aim::Refuse { .. } | Aim::Settle(_) => self.look_again(None, now, random),
        }
    }
}
