//! Looks up the outcome of the payment.

use super::{Phase, ThreeDSecure, ThreeDSecureAction, ThreeDSecureInput, ThreeDSecureOutcome};
use crate::machine::{
    Event, Moment,
    charge::{RefusalScope, UnknownReason},
    settlement::{Finding, Nothing},
};

impl ThreeDSecure {
    pub(super) fn look_up(&mut self, now: Moment) -> ThreeDSecureAction {
        match self.account.request_unchecked(&self.state.expected().lookup()) {
            Ok(request) if self.state.attempts.made() < self.state.plan.lookups => self.send(request),
            _ => {
                self.lookups_over();
                self.advance(now)
            }
        }
    }

    pub(super) fn looked_up(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let wait = match self.state.expected().looked_up(&self.account, event) {
            Finding::Approved(payment) => return self.end(ThreeDSecureOutcome::Approved(payment)),
            Finding::Declined(payment) => return self.end(ThreeDSecureOutcome::Declined(payment)),
            Finding::Unsettled(payment) => {
                self.unreadable = None;
                // A payment was seen: an empty lookup after this one proves nothing.
                (self.unexamined, self.refusal) = (None, None);
                match self.unsettled.looked_up(payment, self.account.dialect()) {
                    // Nothing is known of the requests of a forgotten machine.
                    Some(UnknownReason::DeclineUnconfirmed(payment))
                        if self.has_begun() && !self.state.open && self.state.answered.fits(&payment) =>
                    {
                        return self.end(ThreeDSecureOutcome::Declined(*payment));
                    }
                    Some(why) => return self.unknown(why),
                    None => None,
                }
            }
            Finding::Nothing(nothing) => {
                self.unsettled.not_found();
                if self.nothing_found(nothing) {
                    return;
                }
                None
            }
            Finding::Unknown(why) => return self.unknown(why),
            Finding::Again(wait) => wait,
            Finding::Unreadable(why) => {
                self.unreadable = Some(why);
                None
            }
        };
        if !self.try_again(wait, self.state.plan.lookups, now, random) {
            self.lookups_over();
        }
    }

    /// If every request was answered and an empty lookup is a proof, ends as refused, or pays after a request that the
    /// service did not examine. Returns whether it did.
    fn nothing_found(&mut self, nothing: Nothing) -> bool {
        self.looked |= nothing.proves || nothing.listed;
        self.unreadable = None;
        // The lookup is by the reference of the initiation (assumption A109).
        let proves = nothing.proves && self.account.dialect().lookup.found_by_initiation;
        if let Some(made) = self.unexamined.take_if(|_| proves && !self.state.open) {
            self.enter(Phase::Authorising);
            self.state.attempts.continue_after(made);
            return true;
        }
        let lasts = |scope| !matches!(scope, RefusalScope::WhileItLasts);
        match self.refusal.take() {
            Some(refused) if proves && (!self.state.open || lasts(refused.scope())) => {
                self.end(ThreeDSecureOutcome::Refused(refused));
                true
            }
            refusal => {
                self.refusal = refusal;
                false
            }
        }
    }

    /// Whether this machine has begun an authentication itself.
    const fn has_begun(&self) -> bool {
        !self.state.authentication_key.is_empty()
    }

    fn lookups_over(&mut self) {
        if let Some(why) = self.unreadable.take() {
            return self.unknown(UnknownReason::LookupUnreadable(why));
        }
        let unseen = if self.looked { UnknownReason::NothingFound } else { UnknownReason::NotLookedUp };
        let why = match (self.unsettled.reason(self.account.dialect()), self.refusal.take()) {
            (Some(why), _) => why,
            (None, Some(refused)) if refused.may_be_executed() => UnknownReason::ReferenceUsed(refused),
            (None, Some(refused)) => UnknownReason::Refused(refused),
            (None, None) => unseen,
        };
        self.unknown(why);
    }
}
