//! Requests the token. A repeated request is safe: a token that was given to no customer charges nothing.

use bytes::Bytes;
use pg_model::{CheckoutToken, GetToken};

use super::{Checkout, CheckoutInput, CheckoutOutcome, Flight, NotOpenedReason, Phase, amount};
use crate::machine::{
    Event, Moment, calendar,
    exchange::{ExchangeResult, sort_event},
};

impl Checkout {
    pub(super) fn open(&mut self) -> Option<http::Request<Bytes>> {
        let request = self.request.as_ref().and_then(|request| self.account.request_unchecked(request).ok());
        if request.is_some() {
            self.flight = Some(Flight::Token);
        } else {
            self.end(CheckoutOutcome::NotOpened(NotOpenedReason::Interrupted));
        }
        request
    }

    pub(super) fn opened(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) {
        if self.withdrawn {
            return self.end(CheckoutOutcome::NotOpened(NotOpenedReason::Withdrawn));
        }
        let again = match sort_event::<GetToken, _>(&self.account, event) {
            ExchangeResult::Answer(answer)
                if !answer.token.token_id.is_empty() && !answer.token.redemption_url.is_empty() =>
            {
                if self.lists_other_items(&answer) {
                    return self.end(CheckoutOutcome::NotOpened(NotOpenedReason::OtherItems));
                }
                return self.take(&answer, now);
            }
            ExchangeResult::Refused(refused) | ExchangeResult::Done(refused) | ExchangeResult::Shut(refused) => {
                return self.end(CheckoutOutcome::NotOpened(NotOpenedReason::Refused(refused)));
            }
            ExchangeResult::HeldBack => return self.end(CheckoutOutcome::NotOpened(NotOpenedReason::HeldBack)),
            ExchangeResult::Later(wait) => self.try_again(Some(wait), now, random),
            ExchangeResult::Answer(_) | ExchangeResult::NotSent | ExchangeResult::InDoubt => {
                self.try_again(None, now, random)
            }
        };
        if !again {
            self.end(CheckoutOutcome::NotOpened(NotOpenedReason::Unreachable));
        }
    }

    /// Whether the token has another currency than the request, or items of another amount. The documents do not say whether items
    /// count from 0 or from 1 (assumption A14), and a service that passes over an item would let the customer pay too little.
    fn lists_other_items(&self, answer: &CheckoutToken) -> bool {
        let listed = amount::listed(&answer.items, &self.state.currency);
        self.state.money().differs_from(answer.token.currency.as_str(), listed).is_some()
    }

    fn take(&mut self, answer: &CheckoutToken, now: Moment) {
        self.request = None;
        let state = &mut self.state;
        state.token = answer.token.token_id.to_string();
        state.url = answer.token.redemption_url.to_string();
        state.expiry = calendar::moment(&answer.token.token_expiry);
        let longest = now.after(self.plan.wait);
        // The token is new, so an expiry in the past shows that this server's clock is ahead.
        let expiry = state.expiry.filter(|expiry| *expiry > now);
        state.until = expiry.map_or(longest, |expiry| expiry.min(longest));
        self.untold = true;
        self.enter(Phase::Waiting);
    }
}
