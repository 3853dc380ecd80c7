//! Charges once. At most one payment exists whatever the network does, and the caller learns its outcome.
//!
//! **Input:** an account, bounds, and a payment with a `uniqueMerchantReference`, called R below. Then, for each
//! request, its reply or the information that there was no reply, with the time and a random number.
//!
//! **Output:** requests to send, times to wait until, and finally a [`ChargeOutcome`]. [`Charge`] has an example; any
//! loop over [`Machine::step`] can drive it, such as the one in the documentation of
//! [`Machine`].
//!
//! ```text
//!            Begin                        a transaction came back
//!  Ready ─────────────▶ Paying ───────────────────────────────────────────▶ Approved | Declined
//!                       ▲ │  │ refused for a reason in the request itself,
//!    not sent, and only │ │  └─ and every request before was answered ─────▶ Refused
//!    such sends before; │ │
//!    told to wait       │ ├─ no reply, unreadable, 5xx, 119 ──▶ Resting ┐
//!                       │ └─ 950, 125, any other refusal ─────────────┐ │
//!                    Resting                                          ▼ ▼
//!                       ▲          nothing found; no 119, no 950    Looking ──▶ Approved | Declined
//!                       └──────────────────────────────────────────┘ │ ▲ │
//!                        (under the same R, from a request at hand)  │ │ └─ nothing found after a refusal
//!                                           Resting ◀────────────────┘ │    that holds for every copy ──▶ Refused
//!                                              └───────────────────────┘
//!  when the bounds end: NotSent if nothing ever left, else Unknown
//! ```
//!
//! # Promises
//!
//! They rest on two facts: the service accepts a reference once (spec 2 §4.3), and it executes a request at one moment.
//! Everything else that is assumed about the service is in the account's [`Dialect`](pg_model::Dialect): which statuses
//! are declines, what the codes mean, and whether an empty lookup proves anything (`lookup.immediate`, assumption
//! A140). The network may turn each sent request into any number of copies, and each copy may be executed at any later
//! time. No other payment may use the reference, and only one machine may work on it at a time. Then:
//!
//! 1. **At most one payment exists.** The payment is only ever sent under R. After a request with an unknown result, it
//!    is sent again only once a lookup has found nothing. A list that names only other references answers another lookup,
//!    and is no such lookup. It is never sent again if the bank did not answer (119) or if R was already used: then only
//!    lookups follow.
//! 2. **Approved and Declined match the ledger.** Both come from a transaction that was returned under R, by the reply
//!    or by a lookup. A transaction with another reference, type, amount or currency is not accepted. A decline in the reply
//!    may answer a second copy, which the network made or the machine sent, after the first one was approved, and lookups
//!    may list that rejection while the bank decides on the first copy. So it counts if the dialect
//!    [names the error](pg_model::Dialect::refuses_used_references) that the service gives a used reference instead.
//!    Otherwise three lookups in a row must list it, every request must have been answered, and the key must be that in
//!    the reply, if there was one; else the outcome is Unknown.
//! 3. **NotSent is final.** It is reported only if every send failed before the request left. After a crash, a request
//!    that was about to be sent counts as sent. If another machine [has stored its state](Failure::Superseded), the outcome
//!    is Unknown.
//! 4. **Refused is never reported while a copy can still be executed**, within [`Refused::scope`](crate::Refused::scope):
//!    - [`RefusalScope::Always`]: no copy is ever executed. It is reported at once if every earlier request was answered,
//!      otherwise after a lookup: a lookup is a cheap check of an assumption about the service.
//!    - [`RefusalScope::FromNowOn`]: always after a lookup that was sent after the refusal arrived. Let the refused
//!      copy be executed at time *r* and the lookup at *l > r*. The lookup would have found any copy executed before
//!      *l*, and found none. Copies executed after *l* are executed after *r*, and are refused.
//!    - [`RefusalScope::WhileItLasts`]: after such a lookup, and only if every request was answered. This rests on one
//!      of two conditions: the reason lasts, or the network does not send a request twice by itself. If the result of
//!      an earlier request is unknown, the outcome is Unknown.
//!
//!    Invalid credentials (102, 105, 123, or a code that the dialect lists as such) end it as Unknown, and nothing more is
//!    sent: credentials can be replaced between two copies, and a lookup would be refused too. Correct them, then resume.
//!
//!    A refused payment uses its reference up ([`Refused::spends_reference`](crate::Refused::spends_reference),
//!    assumption A92), so the corrected payment needs a new one. A new reference is safe after *Refused*, and after no
//!    other outcome: nothing was or will be charged under the old one. Where the service accepts a reference once in
//!    every case, a late copy cannot pay either. Waits (121, 122, throttled) do not use the reference up: the same
//!    request is sent again. After a lost reply, a refusal that used the reference up looks the same as a payment that
//!    lookups do not show yet: the outcome is Unknown.
//! 5. **An empty lookup proves nothing** in all other cases: the outcome is Unknown, with the lookup to make later.
//! 6. **It ends.** Attempts, lookups and time are bounded. Resuming grants new lookups but no new attempts.
//!
//! The saved state contains no request. A charge that is resumed with the request may send it again. The machine cannot
//! check that the two requests have the same card, so a refusal proves nothing about copies from before the crash: the
//! outcome is Unknown unless the transaction is found. A charge that is resumed without the request only looks up.
//!
//! # Limits
//!
//! - The machine cannot distinguish two payments with the same reference, type, amount and currency. A reference
//!   belongs to one intent to pay, forever.
//! - A payment that is still being executed during the lookup, for instance while the bank decides, counts as not
//!   executed: the documents do not say when lookups start to show it. Only [`RefusalScope::FromNowOn`] and
//!   [`RefusalScope::WhileItLasts`] depend on this, and a decline if the dialect does not name the error of a used
//!   reference: the network may have delivered an answered request twice, and the service may have answered and recorded
//!   the second copy like a decline, while the bank decides on the first one for longer than three lookups take.
//! - The machine does not resolve an Unknown outcome itself. Repeat the lookup later until it finds something.
//! - A machine that is resumed after it ended sends lookups again, and may know less than before. If it had ended as
//!   *NotSent*, and is resumed with its request from an earlier saved state, it may pay.

use std::{fmt, sync::Arc, time::Duration};

use pg_model::{
    ApiRequest, Outcome, Transaction,
    method::{RetrySafety, ServiceInfo},
};

use crate::{
    Account, Misuse, Unreadable,
    machine::{
        Action, Event, Failure, Machine, Moment, Never, Reconcile, ResumeError, SavedState,
        books::Services,
        exchange::UNTIL_THE_REPLY,
        settlement::{Expected, Unsettled},
        time_limit,
    },
};

mod bounds;
mod looking;
#[cfg(test)]
mod model_tests;
mod outcome;
mod paying;
mod state;
#[cfg(test)]
mod tests;

pub use super::settlement::UnknownReason;
pub use bounds::ChargeBounds;
pub use outcome::ChargeOutcome;
pub use pg_model::dialect::RefusalScope;

use state::{Aim, Exposure, Phase, State, Then, UsedUp};

/// The [name](super::SavedState::machine) of a charge in a saved state.
pub const NAME: &str = "charge";
const VERSION: u32 = 1;

/// Charges once. [The module](self) lists what it promises.
///
/// ```
/// use pg_proto::model::{AuthSessionKey, Currency, Item, Order};
/// use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::machine::{Action, Event, Machine, Moment, charge::{ChargeBounds, Charge}};
///
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
/// let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
/// let auth = AuthSessionKey::new("0123456789abcdef0123456789abcdef", order);
///
/// let mut charge = Charge::new(account, auth, ChargeBounds::default())?;
/// let action = charge.step(Event::Begin, Moment::from_millis(1_700_000_000_000), 4);
/// let Action::Send(request) = action else { panic!() };
/// // Store this text before you send the request.
/// assert!(charge.save().text().starts_with(r#"{"machine":"charge","version":1,"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Charge<M> {
    account: Arc<Account>,
    /// Dropped at the end, since it may contain a card.
    request: Option<M>,
    state: State,
    /// Whether this machine sent the request of this phase. False after a crash.
    in_flight: bool,
    /// The time limit of an earlier run, until the first event of this run.
    earlier_within: Option<Duration>,
    /// The payment, if its status is pending or not listed.
    unsettled: Unsettled,
    /// The answer to the last lookup that was answered, if it cannot be read.
    unreadable: Option<Box<Unreadable>>,
    ended: Option<ChargeOutcome>,
}

type ChargeAction = Action<Never, ChargeOutcome>;

impl<M: ApiRequest<Output = Outcome<Transaction>>> Charge<M> {
    /// Creates a charge that has not begun.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the request breaks a rule, has no `uniqueMerchantReference`, or uses a method that cannot be
    /// looked up. Nothing was sent.
    pub fn new(account: impl Into<Arc<Account>>, request: M, bounds: ChargeBounds) -> Result<Self, Misuse> {
        let account = account.into();
        let expected = expected_of(&account, &request)?;
        Ok(Self::with(account, Some(request), State::new(expected, bounds)))
    }

    /// Resumes from the state that was saved last, after a crash or after the charge was dropped.
    ///
    /// Pass the `request` from which the charge was created, if you still have it. Without the request, the charge only
    /// looks up.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a charge or was saved for another account, or if the request has
    /// another method, reference, currency or amount.
    pub fn resume(
        saved: &SavedState,
        account: impl Into<Arc<Account>>,
        request: Option<M>,
    ) -> Result<Self, ResumeError> {
        let account = account.into();
        let state: State = saved.open_for(NAME, VERSION, &account, Services::Gateway)?;
        if state.expected.method != M::INFO.name {
            return Err(ResumeError::Mismatch("method"));
        }
        if let Some(request) = &request {
            // Unchecked: the rules may have changed since it was sent.
            let expected = Expected::of(request);
            let known = &state.expected;
            for (same, what) in [
                (expected.reference == known.reference, "uniqueMerchantReference"),
                (expected.currency == known.currency, "currency"),
                (expected.total == known.total, "amount"),
            ] {
                if !same {
                    return Err(ResumeError::Mismatch(what));
                }
            }
        }
        let not_sent = state.phase == Phase::Ended && state.exposure == Exposure::Never;
        let within = state.bounds.within;
        let mut resumed = Self { earlier_within: Some(within), ..Self::with(account, request, state.resumed()) };
        if not_sent {
            resumed.end(ChargeOutcome::NotSent);
        }
        Ok(resumed)
    }

    /// Sets other bounds. A deadline that is already running becomes no later.
    #[must_use]
    pub fn bounds(mut self, bounds: ChargeBounds) -> Self {
        self.state.bounds = bounds;
        self
    }

    /// Returns the reference under which it charges.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.state.expected.reference
    }

    fn with(account: Arc<Account>, request: Option<M>, state: State) -> Self {
        Self {
            account,
            request,
            state,
            in_flight: false,
            earlier_within: None,
            unsettled: Unsettled::default(),
            unreadable: None,
            ended: None,
        }
    }

    fn handle_event(&mut self, event: Event, now: Moment, random: u64) {
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(never) => match never {},
            Event::Failed(Failure::Superseded) => self.superseded(),
            Event::Reply(_) | Event::Failed(_) if !self.in_flight => {}
            event @ (Event::Reply(_) | Event::Failed(_)) => {
                self.in_flight = false;
                match self.state.phase {
                    Phase::Paying => self.paid(event, now, random),
                    Phase::Looking => self.looked_up(event, now, random),
                    Phase::Ready | Phase::Resting { .. } | Phase::Ended => {}
                }
            }
        }
    }

    fn time_passed(&mut self, now: Moment) {
        let Phase::Resting { until, length, then } = self.state.phase else { return };
        if now < until {
            // The pause must not become longer because the clock was set back.
            let until = until.min(now.after(length));
            self.state.phase = Phase::Resting { until, length, then };
        } else if then == Then::Pay {
            self.state.phase = Phase::Ready;
        } else if self.state.last_lookup && self.state.is_over(now) {
            self.bounds_ended();
        } else {
            self.state.phase = Phase::Looking;
        }
    }

    /// Returns what the machine waits for, or the next request.
    fn advance(&mut self, now: Moment) -> ChargeAction {
        if let Some(outcome) = &self.ended {
            return Action::Done(outcome.clone());
        }
        if self.in_flight {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        match self.state.phase {
            Phase::Ready => self.pay(now),
            // A payment that was saved for sending counts as sent.
            Phase::Paying | Phase::Looking | Phase::Ended => self.look(now),
            Phase::Resting { until, .. } => Action::WaitUntil(until),
        }
    }

    fn may_pay(&self, now: Moment) -> bool {
        self.request.is_some() && self.state.sends < self.state.bounds.attempts && !self.state.is_over(now)
    }

    fn pay(&mut self, now: Moment) -> ChargeAction {
        let may_pay = self.may_pay(now);
        match self.request.as_ref().filter(|_| may_pay).map(|request| self.account.request_unchecked(request)) {
            Some(Ok(request)) => {
                self.state.sends += 1;
                self.state.looked = false;
                self.state.last_lookup = false;
                return self.send(Phase::Paying, request);
            }
            Some(Err(_)) => self.cannot_send(),
            None if self.state.exposure == Exposure::Never => self.end(ChargeOutcome::NotSent),
            None => self.state.phase = Phase::Looking,
        }
        self.advance(now)
    }

    fn look(&mut self, now: Moment) -> ChargeAction {
        if self.state.lookups >= self.state.bounds.lookups {
            self.bounds_ended();
            return self.advance(now);
        }
        match self.account.request(&self.state.expected.lookup()) {
            Ok(request) => {
                self.state.lookups += 1;
                self.state.last_lookup |= self.state.is_over(now);
                self.send(Phase::Looking, request)
            }
            Err(_) => {
                self.cannot_send();
                self.advance(now)
            }
        }
    }

    fn send(&mut self, phase: Phase, request: http::Request<bytes::Bytes>) -> ChargeAction {
        self.state.phase = phase;
        self.in_flight = true;
        Action::Send(request)
    }

    /// Pauses before the next request, if the bounds allow both. A pause never exceeds the remaining time.
    fn rest(&mut self, told: Option<Duration>, then: Then, now: Moment, random: u64) {
        let state = &mut self.state;
        let then = match then {
            Then::Pay if state.exposure == Exposure::Never && state.sends >= state.bounds.attempts => {
                return self.bounds_ended();
            }
            Then::Pay if state.sends >= state.bounds.attempts => Then::Look,
            Then::Look if state.lookups >= state.bounds.lookups => return self.bounds_ended(),
            then => then,
        };
        let length = state.bounds.pauses.pause(told, state.pauses, random);
        let until = now.after(length);
        if !state.is_over(until) {
            state.pauses = state.pauses.saturating_add(1);
            state.phase = Phase::Resting { until, length, then };
        } else if state.exposure == Exposure::Never || state.looked || state.last_lookup || told.is_some() {
            self.bounds_ended();
        } else {
            // There is no time for a pause, but one lookup is better than none. If the service forbids requests now, no
            // lookup is sent.
            state.last_lookup = true;
            state.phase = Phase::Looking;
        }
    }

    fn bounds_ended(&mut self) {
        if self.state.exposure == Exposure::Never {
            return self.end(ChargeOutcome::NotSent);
        }
        if let Some(why) = self.unreadable.take() {
            return self.unknown(UnknownReason::LookupUnreadable(why));
        }
        let unseen = if self.state.looked { UnknownReason::NothingFound } else { UnknownReason::NotLookedUp };
        let why = match self.state.aim.clone() {
            Aim::Resend => unseen,
            Aim::Refuse { refusal, .. } => UnknownReason::Refused(refusal.refused(self.account.dialect())),
            Aim::Settle(UsedUp::NoResponse(refusal)) => {
                UnknownReason::NoResponse(refusal.refused(self.account.dialect()))
            }
            Aim::Settle(UsedUp::Duplicate(refusal)) => {
                UnknownReason::ReferenceUsed(refusal.refused(self.account.dialect()))
            }
            Aim::Settle(UsedUp::UnknownStatus) => self.unsettled.reason(self.account.dialect()).unwrap_or(unseen),
        };
        self.unknown(why);
    }

    /// The account no longer has the credentials that it had before.
    fn cannot_send(&mut self) {
        if self.state.exposure == Exposure::Never {
            self.end(ChargeOutcome::NotSent);
        } else {
            self.unknown(UnknownReason::NoRequest);
        }
    }

    /// Ends the charge, because another machine works on it. Its own state must not say that nothing left.
    fn superseded(&mut self) {
        self.in_flight = false;
        self.state.expose(Exposure::Open);
        self.unknown(UnknownReason::Superseded);
    }

    fn unknown(&mut self, why: UnknownReason) {
        let reconcile = Reconcile::Transaction(self.state.expected.lookup());
        self.end(ChargeOutcome::Unknown { reconcile, why });
    }

    fn end(&mut self, outcome: ChargeOutcome) {
        self.state.phase = Phase::Ended;
        (self.request, self.ended) = (None, Some(outcome));
    }
}

impl<M: ApiRequest<Output = Outcome<Transaction>>> Machine for Charge<M> {
    type Input = Never;
    type Demand = Never;
    type Outcome = ChargeOutcome;

    fn step(&mut self, event: Event, now: Moment, random: u64) -> ChargeAction {
        if self.ended.is_none() {
            let (within, earlier) = (self.state.bounds.within, self.earlier_within.take());
            self.state.deadline = Some(time_limit::deadline(self.state.deadline, within, earlier, now));
            self.time_passed(now);
            self.handle_event(event, now, random);
        }
        self.advance(now)
    }

    fn save(&self) -> SavedState {
        SavedState::bound(NAME, VERSION, &self.account, &self.state)
    }

    fn service(&self) -> &'static ServiceInfo {
        M::INFO.service
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn subject(&self) -> Option<&str> {
        Some(self.reference())
    }

    fn label(outcome: &ChargeOutcome) -> &'static str {
        outcome.label()
    }
}

impl<M> fmt::Debug for Charge<M> {
    /// Shows only the state, since the request may contain a card.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge").field("state", &self.state).field("ended", &self.ended).finish_non_exhaustive()
    }
}

fn expected_of<M: ApiRequest>(account: &Account, request: &M) -> Result<Expected, Misuse> {
    if M::INFO.retry != RetrySafety::LookupFirst {
        return Err(Misuse::NotLookedUpFirst(M::INFO.name));
    }
    account.request(request)?;
    let expected = Expected::of(request);
    if expected.reference.is_empty() { Err(Misuse::NoUniqueReference) } else { Ok(expected) }
}
