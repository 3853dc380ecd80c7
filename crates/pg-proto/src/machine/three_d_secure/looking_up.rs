//! What became of the payment is looked up.

use pg_model::{ErrorCode, Outcome, StatusCode, Transaction, TransactionLookup, TransactionType, dialect::EmptyLookup};

use super::{PaymentType, ThreeDSecure, ThreeDSecureAction, ThreeDSecureInput, ThreeDSecureOutcome};
use crate::{
    Refused,
    machine::{
        Event, Moment,
        charge::{RefusalScope, UnknownReason},
        exchange::{ExchangeResult, says_not_found, sort_event},
    },
};

impl ThreeDSecure {
    pub(super) fn look_up(&mut self, now: Moment) -> ThreeDSecureAction {
        match self.account.request_unchecked(&self.state.lookup()) {
            Ok(request) if self.state.attempts.made() < self.state.plan.lookups => self.send(request),
            _ => {
                self.lookups_over();
                self.go_on(now)
            }
        }
    }

    pub(super) fn looked_up(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        let lookups = self.state.plan.lookups;
        let not_found = matches!(&event, Event::Reply(reply) if says_not_found(&self.account, reply));
        let again = match sort_event::<TransactionLookup, _>(&self.account, event) {
            _ if not_found => {
                if self.nothing_found(EmptyLookup::NotFound) {
                    return;
                }
                self.try_again(None, lookups, now, random)
            }
            ExchangeResult::Answer(found) => {
                if self.found(found.transactions) {
                    return;
                }
                self.try_again(None, lookups, now, random)
            }
            ExchangeResult::Refused(refused) | ExchangeResult::Done(refused) if refused.unknown_transaction() => {
                if self.nothing_found(EmptyLookup::Error) {
                    return;
                }
                self.try_again(None, lookups, now, random)
            }
            ExchangeResult::Refused(refused) | ExchangeResult::Done(refused) if !may_be_nothing(&refused) => {
                return self.unknown(UnknownReason::LookupRefused(refused));
            }
            ExchangeResult::Shut(refused) => return self.unknown(UnknownReason::Credentials(refused)),
            ExchangeResult::HeldBack => return self.unknown(UnknownReason::HeldBack),
            ExchangeResult::Later(wait) => self.try_again(Some(wait), lookups, now, random),
            ExchangeResult::Refused(_)
            | ExchangeResult::Done(_)
            | ExchangeResult::NotSent
            | ExchangeResult::InDoubt => self.try_again(None, lookups, now, random),
        };
        if !again {
            self.lookups_over();
        }
    }

    /// Whether that ends it.
    fn found(&mut self, transactions: Vec<Transaction>) -> bool {
        let mut payments: Vec<Transaction> = transactions.into_iter().filter(|found| self.is_payment(found)).collect();
        let is_approved = |payment: &Transaction| payment.transaction_status_code == StatusCode::APPROVED;
        let approved = payments.iter().position(is_approved);
        if payments.len() > 1 && payments.iter().filter(|payment| is_approved(payment)).count() != 1 {
            self.unknown(UnknownReason::Several(payments.into_iter().map(|payment| payment.transaction_key).collect()));
            return true;
        }
        let payment = match approved {
            Some(at) => payments.swap_remove(at),
            None => match payments.pop() {
                Some(payment) => payment,
                None => return self.nothing_found(EmptyLookup::EmptyList),
            },
        };
        if !payment.currency.is_empty() && payment.currency != self.state.currency.as_str() {
            self.unknown(UnknownReason::OtherPayment(Box::new(payment), "currency"));
            return true;
        }
        match Outcome::read(payment, self.account.dialect()) {
            Outcome::Approved(payment) => self.end(ThreeDSecureOutcome::Approved(payment)),
            Outcome::Declined(payment) => self.end(ThreeDSecureOutcome::Declined(payment)),
            Outcome::Other(payment) => {
                self.seen = Some(Box::new(payment));
                return false;
            }
        }
        true
    }

    /// When every request was answered and the service refused it, that is the end, if the dialect says that nothing found in
    /// this form proves something; else it proves nothing.
    fn nothing_found(&mut self, form: EmptyLookup) -> bool {
        let proves = self.account.dialect().proves_nothing_there(form);
        self.looked |= proves || form == EmptyLookup::EmptyList;
        let lasting = |standing| !matches!(standing, RefusalScope::WhileItLasts);
        match self.refusal.take() {
            Some(refused) if proves && (!self.state.open || lasting(refused.scope())) => {
                self.end(ThreeDSecureOutcome::Refused(refused));
                true
            }
            refusal => {
                self.refusal = refusal;
                false
            }
        }
    }

    fn lookups_over(&mut self) {
        let unseen = if self.looked { UnknownReason::NothingFound } else { UnknownReason::NotLookedUp };
        let why = match (self.seen.take(), self.refusal.take()) {
            (Some(seen), _) => UnknownReason::UnknownStatus(seen),
            (None, Some(refused)) if refused.may_be_executed() => UnknownReason::ReferenceUsed(refused),
            (None, Some(refused)) => UnknownReason::Refused(refused),
            (None, None) => unseen,
        };
        self.unknown(why);
    }

    /// The reference is also that of the check, which is no payment.
    fn is_payment(&self, found: &Transaction) -> bool {
        let kind = match self.state.plan.pay {
            PaymentType::Auth => TransactionType::AUTH,
            PaymentType::Preauth => TransactionType::PRE_AUTH,
        };
        found.transaction_type == kind && self.state.bears_reference(found)
    }
}

/// A code that may mean that there is no such transaction; the documents show none (spec 2 §4.4).
fn may_be_nothing(refused: &Refused) -> bool {
    *refused.code() == ErrorCode::INVALID_MERCHANT_REFERENCE
}
