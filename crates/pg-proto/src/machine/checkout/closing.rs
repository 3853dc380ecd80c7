//! Withdraws the token, waits for late hints, and searches for a payment that no hint has named.

use std::time::Duration;

use bytes::Bytes;
use pg_model::{
    CancelToken, EnterpriseTransactionLookup, Flag, GetToken, Outcome, Transaction, TransactionLookup, TransactionType,
    dialect::EmptyLookup,
};

use super::{Checkout, CheckoutInput, CheckoutOutcome, Flight, NEWS, NotOpenedReason, Phase, REPORTS};
use crate::machine::{
    Backoff, Event, Moment, Reconcile, UnknownReason,
    exchange::{ExchangeResult, sort_event},
    settlement::Listed,
};

/// Returns the reference, if it can find version 5 payments: it has at most 32 characters (assumption A100).
pub(super) fn searchable(request: &GetToken) -> Option<String> {
    let reference = request.trans_reference.as_ref()?.as_str();
    (!reference.is_empty() && reference.chars().count() <= 32).then(|| reference.to_owned())
}

/// The pauses between two rounds of cancellation and search, while the token is not cancelled: the service or the network may
/// be back soon, or a payment that no report named may be the reason.
const ROUNDS: Backoff = Backoff::new(Duration::from_secs(10 * 60), Duration::from_secs(60 * 60));

/// Types of transactions that are no payment (spec 2 §2.3).
const NO_PAYMENTS: [TransactionType; 5] = [
    TransactionType::CAPTURE,
    TransactionType::CANCEL_PRE_AUTH,
    TransactionType::REFUND,
    TransactionType::THREE_D_SECURE_CHECK,
    TransactionType::THREE_D_SECURE_AUTHENTICATED_ONLY,
];

impl Checkout {
    /// Starts to close the checkout, so that it can no longer be paid.
    pub(super) fn withdraw(&mut self) {
        match self.state.phase {
            Phase::Opening if self.flight.is_none() => self.end(CheckoutOutcome::NotOpened(NotOpenedReason::Withdrawn)),
            // The request in flight only creates a token that no customer has.
            Phase::Opening => self.withdrawn = true,
            Phase::Waiting => self.enter(Phase::Cancelling),
            // An earlier attempt to cancel it failed.
            Phase::Lingering if !self.state.is_ended() => self.enter(Phase::Cancelling),
            // So did all of them, or the search is an early one. The page may be open: the cancellation comes first, and the search is repeated.
            Phase::Searching | Phase::Concluding if !self.state.is_ended() => {
                self.state.early = false;
                if self.state.phase == Phase::Concluding {
                    // The search finds these transactions again.
                    self.state.news.clear();
                }
                self.enter(Phase::Cancelling);
            }
            _ => {}
        }
    }

    /// Handles a confirmed payment. A token that allows another payment is withdrawn first.
    pub(super) fn paid(&mut self, trans_key: String) {
        if self.state.single || self.state.is_ended() {
            return self.end(CheckoutOutcome::Paid { trans_key });
        }
        self.state.paid = Some(trans_key);
        self.enter(Phase::Withdrawing);
    }

    /// Repeats the search, if the checkout had come so far.
    pub(super) fn search_again(&mut self) {
        // The token may still be paid: the next round cancels it.
        if self.end_early_search() {
            return;
        }
        match self.state.phase {
            Phase::Searching => {}
            // The search finds these transactions again.
            Phase::Concluding => self.state.news.clear(),
            Phase::Opening
            | Phase::Waiting
            | Phase::Cancelling
            | Phase::Lingering
            | Phase::Closing
            | Phase::Withdrawing => return,
        }
        self.begin_search();
    }

    /// Begins the search, after another lookup of each candidate.
    pub(super) fn begin_search(&mut self) {
        self.enter(Phase::Searching);
        (self.state.searched, self.state.early) = (false, false);
        self.late = REPORTS;
        let state = &mut self.state;
        for candidate in state.unclear_before.iter().chain(&state.unclear) {
            if !state.news.contains(candidate) {
                state.news.push(candidate.clone());
            }
        }
    }

    /// Goes back to wait for the next round, if the search belongs to a round. Returns whether it does.
    pub(super) fn end_early_search(&mut self) -> bool {
        let is_early = std::mem::take(&mut self.state.early);
        if is_early {
            self.state.searched = false;
            self.enter(Phase::Lingering);
        }
        is_early
    }

    pub(super) fn cancel(&mut self) -> Option<http::Request<Bytes>> {
        let Ok(request) = self.account.request_unchecked(&CancelToken::new(self.state.token.as_str())) else {
            self.end_paid();
            return None;
        };
        self.flight = Some(Flight::Cancel);
        Some(request)
    }

    /// Ends the checkout as paid, if it is paid, whatever the service said about the token.
    fn end_paid(&mut self) -> bool {
        let paid = self.state.paid.clone();
        paid.map(|trans_key| self.end(CheckoutOutcome::Paid { trans_key })).is_some()
    }

    pub(super) fn cancelled(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) {
        let again = match sort_event::<CancelToken, _>(&self.account, event) {
            ExchangeResult::Answer(answer) => {
                let state = &mut self.state;
                state.cancelled = answer.status == Flag::YES;
                let past = state.phase == Phase::Closing && state.expiry.is_some_and(|expiry| expiry <= now);
                let ended = self.account.dialect().checkout.refused_cancel_means_ended;
                state.expired = past && ended && answer.status == Flag::NO;
                false
            }
            ExchangeResult::Refused(_)
            | ExchangeResult::Done(_)
            | ExchangeResult::Shut(_)
            | ExchangeResult::HeldBack => false,
            ExchangeResult::Later(wait) => self.try_again(Some(wait), now, random),
            // Cancelling a token twice is harmless.
            ExchangeResult::NotSent | ExchangeResult::InDoubt => self.try_again(None, now, random),
        };
        if again || self.end_paid() {
            return;
        }
        if self.state.phase == Phase::Closing && !self.state.is_ended() {
            return self.begin_search();
        }
        self.await_late_reports(now);
        self.enter(Phase::Lingering);
        if !self.state.is_ended() && self.state.rounds.failed(None, ROUNDS, now, random) > 1 {
            self.begin_search();
            self.state.early = true;
        }
    }

    /// Returns the search, or continues if there is no reference to search by.
    pub(super) fn search(&mut self) -> Option<http::Request<Bytes>> {
        let Some(reference) = &self.state.reference else {
            self.enter(Phase::Concluding);
            return self.conclude();
        };
        let lookup = TransactionLookup::new().merchant_reference(reference.as_str());
        let request = self.account.request_unchecked(&lookup).ok()?;
        self.flight = Some(Flight::Search);
        Some(request)
    }

    pub(super) fn found(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) {
        if !self.state.news.is_empty() || self.state.phase != Phase::Searching {
            // Reports that arrived meanwhile are looked up first, and a withdrawal comes first too. Then the search is repeated.
            return;
        }
        let again = match Listed::of(&self.account, event) {
            Listed::Transactions { transactions: mut found, complete } => {
                self.unreadable = None;
                // A list that names other references answers another lookup.
                let ours = found.iter().all(|transaction| self.bears_reference(transaction));
                found.retain(|transaction| self.may_be_it(transaction));
                found.sort_by_key(|transaction| self.differs(transaction));
                // A transaction that does not match cannot be checked, so the absence of a match proves nothing. It
                // proves nothing either if it is not known that the service lists all payments.
                let proves = self.account.dialect().proves_nothing_there(EmptyLookup::EmptyList);
                let all_named = found.iter().all(|transaction| !transaction.transaction_key.is_empty());
                self.state.searched =
                    complete && ours && all_named && found.len() <= NEWS && proves && self.finds_hosted_payments();
                let keys = found.into_iter().take(NEWS).map(|found| found.transaction_key.to_string());
                self.state.news.extend(keys.filter(|key| !key.is_empty()));
                false
            }
            Listed::Nothing(nothing) => {
                self.unreadable = None;
                self.state.searched = nothing.proves && self.finds_hosted_payments();
                false
            }
            Listed::Unknown(_) => false,
            Listed::Again(wait) => self.try_again(wait, now, random),
            Listed::Unreadable(why) => {
                self.unreadable = Some(why);
                self.try_again(None, now, random)
            }
        };
        if !again {
            self.enter(Phase::Concluding);
        }
    }

    /// Whether the dialect says that the search finds payments on the hosted page (assumption A100).
    fn finds_hosted_payments(&self) -> bool {
        self.account.dialect().checkout.found_by_reference
    }

    /// Whether the token can no longer be paid. The documents say that a cancelled token cannot be redeemed later, and nothing
    /// of a page that is open already (spec 3 §3.1, assumption A126). The dialect may have been corrected since the service
    /// answered.
    fn is_closed(&self) -> bool {
        let statuses = &self.account.dialect().checkout;
        self.state.cancelled && statuses.cancel_closes_open_pages
            || self.state.expired && statuses.refused_cancel_means_ended
    }

    /// Ends the checkout after all steps found no payment, unless its token may still be paid and has not expired.
    pub(super) fn conclude(&mut self) -> Option<http::Request<Bytes>> {
        if self.end_early_search() {
            return None;
        }
        let outcome = if let Some(key) = self.state.unclear.clone() {
            let why = self.unreadable.take().map_or(UnknownReason::Unclear, UnknownReason::LookupUnreadable);
            self.unknown(Some(key), why)
        } else if !self.is_closed() {
            self.unknown(None, UnknownReason::StillOpen)
        } else if self.state.searched && self.finds_hosted_payments() {
            CheckoutOutcome::Lapsed { cancelled: self.state.cancelled }
        } else {
            let why = self.unreadable.take().map_or(UnknownReason::NotReported, UnknownReason::LookupUnreadable);
            self.unknown(None, why)
        };
        self.end(outcome);
        None
    }

    /// Ends the checkout, because another machine works on it and may have a token.
    pub(super) fn superseded(&mut self) {
        self.flight = None;
        let candidate = self.state.paid.clone().or_else(|| self.state.unclear.clone());
        self.end(self.unknown(candidate, UnknownReason::Superseded));
    }

    /// Returns the unknown outcome. The lookup to make later is by the candidate transaction, otherwise by the
    /// reference.
    pub(super) fn unknown(&self, trans_key: Option<String>, why: UnknownReason) -> CheckoutOutcome {
        let reconcile = match (trans_key, &self.state.reference) {
            (Some(key), _) => Reconcile::Enterprise(EnterpriseTransactionLookup::new(key)),
            (None, Some(reference)) => {
                Reconcile::Transaction(TransactionLookup::new().merchant_reference(reference.as_str()))
            }
            (None, None) => Reconcile::AskOperator,
        };
        CheckoutOutcome::Unknown { reconcile, why }
    }

    /// Whether the list shows another amount or currency than the checkout's. Such a transaction is looked up after the
    /// others: if it has this token, the checkout was paid with other money and has not lapsed.
    fn differs(&self, found: &Transaction) -> bool {
        self.state.money().differs_from_text(found.currency.as_str(), &found.transaction_value).is_some()
    }

    /// Whether a transaction can have the reference of the search. Transactions without a reference can.
    fn bears_reference(&self, found: &Transaction) -> bool {
        let theirs = found.merchant_reference.as_str();
        theirs.is_empty() || self.state.reference.as_deref() == Some(theirs)
    }

    /// References need not be unique, so the list may contain other payments. A missing type or one that the documents
    /// do not list may be that of the payment.
    fn may_be_it(&self, found: &Transaction) -> bool {
        let is_other =
            NO_PAYMENTS.iter().any(|kind| kind.as_str().eq_ignore_ascii_case(found.transaction_type.as_str()));
        !is_other && !matches!(Outcome::read(found.clone(), self.account.dialect()), Outcome::Declined(_))
    }
}
