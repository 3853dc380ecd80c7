//! A payment on the hosted pages (version 5): get a token, send the customer to its page, find out whether it was paid
//! (spec 3 §3.1, §4.1, §4.8, §4.9, §6).
//!
//! ```text
//!  Opening ──token──▶ Waiting ──expiry, time over, Cancel──▶ Cancelling ──▶ Lingering ──▶ Searching ──▶ Lapsed | Unknown
//!     │                │    ▲                                                  │    ▲        │    ▲
//!     ▼            Reported│    │not ours                                      Reported│    │        │    │
//!  NotOpenedReason           ▼    │                                                  ▼    │        ▼    │
//!                     Checking ── ours, Success, amount and currency fit ──▶ Paid   └────────┘ Checking what was found
//!                                                         │                   ▲
//!                                                         └─ more uses left ──┴─ Withdrawing
//! ```
//! **Input:** what is to be paid; a callback or a return that [names a transaction](CheckoutInput::Reported); a
//! [withdrawal](CheckoutInput::Cancel). **Output:** requests, [`CheckoutDemand::Redirect`], a [`CheckoutOutcome`].
//!
//! **Promises:**
//! 1. *Paid is confirmed by the service.* Callbacks and the customer's browser are unsigned and never enough. The
//!    machine has looked the transaction up: its token, amount and currency are those of this checkout, and its status
//!    is `Success`. If the token asks to reserve, the amount may differ: the service returns what was captured.
//! 2. *NotOpened is final.* No customer received an address. None receives one either if the reply to gettoken has another
//!    currency, or lists items of another amount, than the request. After a lost reply the machine requests a token again: a
//!    token that was given to no customer charges nothing, and expires.
//! 3. *A token is valid for one payment*, unless the request says otherwise. *It is withdrawn before the end*, also after
//!    *Paid* if it allows more payments: that payment stays the outcome, whatever the service says about the token. So
//!    nothing can be paid after *Lapsed* and *NotOpened*, nor after *Paid* unless the service did not confirm the
//!    withdrawal within the attempts, or the dialect does not say that it closes a page that is open already (A126). After *Unknown* the token may still be open: the credentials were refused, nothing
//!    may be sent, another machine works on it, or the reason is [`StillOpen`](super::UnknownReason::StillOpen).
//! 4. *Lapsed needs evidence.* All of these hold: the token can no longer be paid, because the service cancelled it and the
//!    dialect says that this closes a page that is open already, or because the service said after its expiry that there
//!    is nothing left to cancel (assumption A126; the local clock alone is not enough); after that, late reports had time to
//!    arrive, which no clock that jumps or is ahead takes away; a search by the request's `trans_reference` found no payment of this token; the
//!    account's dialect says that such a search finds payments on the hosted page
//!    ([`found_by_reference`](pg_model::dialect::CheckoutStatuses::found_by_reference), assumption A100; the documents do
//!    not) and finds them at once ([`Lookup`](pg_model::dialect::Lookup)); no other transaction is a candidate. A
//!    candidate has no type or no token, is listed by the search without a key, has a token of another length and nothing else
//!    that differs, or is unknown to the lookup; but a reported one without a token and with another currency or paid amount
//!    is none (A125). Without a `trans_reference` of at most 32 characters there is no search.
//! 5. *Everything else is Unknown.* There is no lookup by token, the service calls back once, and the customer need not
//!    return. So the machine cannot exclude a payment that no hint named.
//! 6. *It ends.* Attempts and all times are bounded. While the service has not cancelled the token, the machine repeats the
//!    cancellation and a search until the token expires: first after 5 to 10 minutes, later once or twice an hour. A crash grants no new attempts, and does not shorten a pause that the
//!    service asked for. A forged report costs one lookup, at most one per second, and does not end the checkout.
//!
//! **Saved state:** token and address, amount and reference, and reports that were not looked up yet. The saved state
//! contains no customer details. A crash before the reply with the token was saved ends the machine as NotOpened. A
//! driver saves the machine before each send, and **also before it gives the customer the address**: a customer with a
//! forgotten token could pay without the merchant's knowledge. If the driver cannot save then, it reports
//! [`Failure::HeldBack`], and the machine ends as NotOpened.
//!
//! # Example
//!
//! ```
//! use pg_proto::model::{CheckoutItem, GetToken};
//! use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials};
//! use pg_proto::machine::{Action, Event, Machine, Moment, checkout::{Checkout, CheckoutPlan}};
//!
//! let base = BaseUrl::parse("https://gateway.example")?;
//! let account = Account::new(base.clone(), Credentials::new("key", "password", "sha key"))
//!     .enterprise(base, EnterpriseCredentials::new("k".repeat(32), "p".repeat(32)));
//! let request = GetToken::new().item(CheckoutItem::new("Tea", "4.99").quantity(2)).currency("GBP");
//! let mut checkout = Checkout::new(account, request, CheckoutPlan::default())?;
//! // The first request asks for the token.
//! let action = checkout.step(Event::Begin, Moment::from_millis(1_700_000_000_000), 4);
//! assert!(matches!(action, Action::Send(_)) && checkout.token().is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, sync::Arc, time::Duration};

use pg_model::{Amount, ApiRequest, EnterpriseTransactionType, GetToken, TransactionLookup, Url, method::ServiceInfo};
use serde::{Deserialize, Serialize};

use self::lingering::LateReports;
use super::{
    Action, Event, Failure, Machine, Moment, ResumeError, SavedState, attempts::Attempts, books::Services,
    exchange::UNTIL_THE_REPLY, settlement::Money, time_limit::ShortenedLimit,
};
use crate::{Account, Misuse, Unreadable};

mod amount;
mod checking;
mod closing;
mod lingering;
mod opening;
mod outcome;
mod plan;
#[cfg(test)]
mod tests;

pub use outcome::{CheckoutError, CheckoutOutcome, NotOpenedReason};
pub use plan::CheckoutPlan;

/// The [name](super::SavedState::machine) of a checkout in a saved state.
pub const NAME: &str = "checkout";
const VERSION: u32 = 1;
/// Maximum number of transactions of a search that are looked up.
const NEWS: usize = 16;
/// Maximum number of reports that wait for a lookup, besides a candidate. Anyone can send reports, and the first or the
/// last one may be the genuine one.
const REPORTS: usize = 64;

/// The checkout machine. The module lists [its promises](self) and has an [example](self#example).
pub struct Checkout {
    account: Arc<Account>,
    plan: CheckoutPlan,
    state: State,
    request: Option<GetToken>,
    flight: Option<Flight>,
    /// The end of the customer's time in this process.
    until: ShortenedLimit,
    /// Whether the token is new. No customer receives the address until the token is saved.
    untold: bool,
    /// Whether it was withdrawn while the token was requested.
    withdrawn: bool,
    /// The last answer to a lookup, if it could not be read.
    unreadable: Option<Box<Unreadable>>,
    /// Whether the machine takes reports before its first request.
    listens: bool,
    /// The number of reports that the machine takes from the beginning of its search.
    late: usize,
    ended: Option<Box<CheckoutOutcome>>,
}

/// An input of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutInput {
    /// A callback, or the address to which the customer returned, names this `trans_key`.
    Reported(String),
    /// The checkout is withdrawn. Do not send this only because the customer opened the cancel address: another tab may
    /// be paying.
    Cancel,
}

/// A demand of a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutDemand {
    /// Save the machine, then send the customer to this address, and pass on all reports. Report the time `until` with
    /// [`Event::Woken`]. If the machine asks again, the address is the same.
    Redirect {
        /// The page where the customer pays.
        url: Url,
        /// The end of the customer's time.
        until: Moment,
    },
}

/// The saved state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    phase: Phase,
    token: String,
    url: String,
    /// In minor units.
    amount: u64,
    currency: String,
    /// The reference that may find a payment that no hint named.
    reference: Option<String>,
    /// The end of the customer's time.
    until: Moment,
    /// When the token expires, if that is known.
    expiry: Option<Moment>,
    /// The end of the time for late reports, for earlier versions.
    linger: Moment,
    /// What is left of that time. Earlier versions did not save it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late_reports: Option<LateReports>,
    cancelled: bool,
    searched: bool,
    /// Transactions that a hint named and that have not been looked up yet.
    news: Vec<String>,
    /// The payment that was confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    paid: Option<String>,
    /// Whether the token allows one payment. False if an earlier version did not save this.
    #[serde(default)]
    single: bool,
    /// Whether the token asks to reserve. False if an earlier version did not save it.
    #[serde(default)]
    reserves: bool,
    /// Whether the service refused to cancel the token after its expiry.
    #[serde(default)]
    expired: bool,
    /// Cancellations and searches that were repeated because the token was not cancelled.
    #[serde(default)]
    rounds: Attempts,
    /// Whether the search belongs to such a round, so that only a payment that it finds ends the checkout.
    #[serde(default)]
    early: bool,
    /// Whether the machine has waited for reports since its last request, or does. A driver that stops at each wait waits for them once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    listened: bool,
    /// A transaction that is neither paid nor failed, or that could not be looked up.
    unclear: Option<String>,
    /// Further such transactions: those whose replies name no token, then those that were told before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    unclear_before: Vec<String>,
    /// Attempts of this step.
    #[serde(default)]
    attempts: Attempts,
}

/// The phase of a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Opening,
    Waiting,
    Cancelling,
    Lingering,
    /// The token has expired according to the local clock. The service is asked, since clocks jump.
    Closing,
    Searching,
    /// All steps were tried.
    Concluding,
    /// The token is paid, and would allow another payment.
    Withdrawing,
}

/// The reply that the machine waits for.
enum Flight {
    Token,
    Check(String),
    Cancel,
    Search,
}

type CheckoutAction = Action<CheckoutDemand, CheckoutOutcome>;

impl Checkout {
    /// Creates a checkout that has not begun. If the request does not state how many payments its token allows, the
    /// machine asks for one. (The service's default is any number.)
    ///
    /// # Errors
    ///
    /// [`CheckoutError`] if the request breaks a rule, or does not state the amount to pay: currency, and items with
    /// prices.
    pub fn new(
        account: impl Into<Arc<Account>>,
        mut request: GetToken,
        plan: CheckoutPlan,
    ) -> Result<Self, CheckoutError> {
        let account = account.into();
        request.token_uses.get_or_insert(1);
        request.check().into_result().map_err(Misuse::Invalid)?;
        account.request_unchecked(&request)?;
        let amount = amount::total(&request).ok_or(CheckoutError::NoAmount)?;
        let single = request.token_uses == Some(1);
        let kind = request.trans_type.as_ref().map_or("", |kind| kind.as_str());
        let reserves = kind.eq_ignore_ascii_case(EnterpriseTransactionType::REQUEST_PRE_AUTH.as_str());
        let state = State { single, reserves, ..State::new(&amount, closing::searchable(&request)) };
        Ok(Self::with(account, plan, state, Some(request)))
    }

    /// Resumes from the state that was saved last. If the time for late reports is over, the machine takes reports for a second after
    /// [`Event::Begin`], before its first request, since they may have waited for it.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a checkout or was saved for another account, or if the account
    /// has no version 5 credentials.
    pub fn resume(
        saved: &SavedState,
        account: impl Into<Arc<Account>>,
        plan: CheckoutPlan,
    ) -> Result<Self, ResumeError> {
        let account = account.into();
        let state = saved.open_for(NAME, VERSION, &account, Services::Both)?;
        Ok(Self::with(account, plan, state, None))
    }

    /// Looks again, if the checkout was [resumed](Self::resume) after it had ended as unknown. Then the machine looks
    /// up the candidate and the transactions that new reports name, and repeats the search. It takes reports for a
    /// second after [`Event::Begin`], or for the pause that the service asked for, before its first request. [`CheckoutInput::Cancel`] closes a page that may still be open, first.
    #[must_use]
    pub fn look_again(mut self) -> Self {
        self.search_again();
        self.listens = true;
        self
    }

    /// Returns the token, if there is one yet. It tells the owner to which machine a callback belongs.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        Some(self.state.token.as_str()).filter(|token| !token.is_empty())
    }

    /// Returns whether the machine waits for late reports, or for the next attempt to cancel its token. That may take days.
    #[must_use]
    pub fn lingers(&self) -> bool {
        self.state.phase == Phase::Lingering
    }

    fn with(account: Arc<Account>, plan: CheckoutPlan, state: State, request: Option<GetToken>) -> Self {
        let (flight, until, unreadable, ended) = (None, ShortenedLimit::default(), None, None);
        let (untold, withdrawn, listens, late) = (false, false, false, REPORTS);
        Self { account, plan, state, request, flight, until, untold, withdrawn, unreadable, listens, late, ended }
    }

    fn handle_event(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) {
        let untold = std::mem::take(&mut self.untold);
        match event {
            Event::Begin if !self.state.listened => self.listen(now),
            Event::Begin => {}
            Event::Woken => {}
            Event::Input(CheckoutInput::Reported(key)) => self.told(key),
            Event::Input(CheckoutInput::Cancel) => self.withdraw(),
            Event::Failed(Failure::Superseded) => self.superseded(),
            event @ (Event::Reply(_) | Event::Failed(_)) => match self.flight.take() {
                Some(Flight::Token) => self.opened(event, now, random),
                Some(Flight::Check(key)) => self.checked(key, event, now, random),
                Some(Flight::Cancel) => self.cancelled(event, now, random),
                Some(Flight::Search) => self.found(event, now, random),
                None if untold && matches!(event, Event::Failed(Failure::HeldBack)) => {
                    self.end(CheckoutOutcome::NotOpened(NotOpenedReason::HeldBack));
                }
                None => {}
            },
        }
    }

    fn told(&mut self, key: String) {
        let right = !key.is_empty() && key.len() <= 32 && key.bytes().all(|byte| byte.is_ascii_graphic());
        if !right || self.state.news.contains(&key) {
            return;
        }
        match self.state.phase {
            Phase::Opening | Phase::Withdrawing => return,
            Phase::Waiting | Phase::Cancelling | Phase::Lingering | Phase::Closing => {}
            // A search may prove nothing, but reports must delay neither the end nor the next round for ever.
            Phase::Searching | Phase::Concluding if self.late == 0 => {
                if !self.end_early_search() {
                    return;
                }
            }
            Phase::Searching => self.late -= 1,
            Phase::Concluding => {
                self.late -= 1;
                // The search is repeated, and finds these transactions again.
                self.state.news.clear();
                self.state.searched = false;
                self.enter(Phase::Searching);
            }
        }
        if self.state.news.len() > REPORTS {
            // Neither the oldest nor the newest.
            self.state.news.remove(REPORTS / 2);
        }
        self.state.news.push(key);
    }

    fn time_passed(&mut self, now: Moment) {
        if self.state.phase == Phase::Waiting && now >= self.waits_until(now) {
            self.withdraw();
        }
        if self.state.phase == Phase::Lingering && self.is_time_for_reports_over(now) {
            if self.state.is_ended() { self.begin_search() } else { self.enter(Phase::Closing) }
        }
        if self.state.phase == Phase::Lingering && !self.state.is_ended() && self.state.rounds.held(now).is_none() {
            self.enter(Phase::Cancelling);
        }
    }

    /// Returns the end of the customer's time.
    fn waits_until(&mut self, now: Moment) -> Moment {
        self.until.end(&mut self.state.until, self.plan.wait, now)
    }

    /// Returns what the machine waits for, or the next request.
    fn advance(&mut self, now: Moment) -> CheckoutAction {
        if let Some(request) = self.next_request(now) {
            self.state.listened = false;
            return Action::Send(request);
        }
        if let Some(outcome) = &self.ended {
            return Action::Done((**outcome).clone());
        }
        if self.flight.is_some() {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        if let Some(until) = self.state.attempts.held(now) {
            return Action::WaitUntil(until);
        }
        match self.state.phase {
            Phase::Waiting => {
                let (url, until) = (self.state.url.as_str().into(), self.waits_until(now));
                Action::Ask(CheckoutDemand::Redirect { url, until })
            }
            _ => Action::WaitUntil(self.lingers_until(now).max(now.after(Duration::from_millis(1)))),
        }
    }

    fn next_request(&mut self, now: Moment) -> Option<http::Request<bytes::Bytes>> {
        if self.ended.is_some() || self.flight.is_some() || self.state.attempts.held(now).is_some() {
            return None;
        }
        match self.state.phase {
            Phase::Opening => self.open(),
            Phase::Cancelling | Phase::Closing | Phase::Withdrawing => self.cancel(),
            _ if !self.state.news.is_empty() => self.check(),
            Phase::Searching => self.search(),
            Phase::Concluding => self.conclude(),
            Phase::Waiting | Phase::Lingering => None,
        }
    }

    fn enter(&mut self, phase: Phase) {
        self.state.phase = phase;
        self.state.attempts.begin_anew();
    }

    /// Waits before the next attempt of this step; false if no attempt is left.
    fn try_again(&mut self, told: Option<Duration>, now: Moment, random: u64) -> bool {
        self.state.attempts.failed(told, self.plan.pauses, now, random) < self.plan.attempts
    }

    fn end(&mut self, outcome: CheckoutOutcome) {
        (self.request, self.ended) = (None, Some(Box::new(outcome)));
        self.state.listened = false;
    }
}

impl State {
    fn money(&self) -> Money<'_> {
        Money { currency: &self.currency, total: Some(self.amount) }
    }

    fn new(amount: &Amount, reference: Option<String>) -> Self {
        Self {
            phase: Phase::Opening,
            token: String::new(),
            url: String::new(),
            amount: amount.minor(),
            currency: amount.currency().to_string(),
            reference,
            until: Moment::default(),
            expiry: None,
            linger: Moment::default(),
            late_reports: None,
            cancelled: false,
            searched: false,
            paid: None,
            single: false,
            reserves: false,
            expired: false,
            rounds: Attempts::default(),
            early: false,
            listened: false,
            news: Vec::new(),
            unclear: None,
            unclear_before: Vec::new(),
            attempts: Attempts::default(),
        }
    }
}

impl Machine for Checkout {
    type Input = CheckoutInput;
    type Demand = CheckoutDemand;
    type Outcome = CheckoutOutcome;

    fn step(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) -> CheckoutAction {
        if self.ended.is_none() {
            // After any event, since many reports must not stop the time.
            self.time_passed(now);
            self.handle_event(event, now, random);
        }
        self.advance(now)
    }

    fn save(&self) -> SavedState {
        SavedState::bound(NAME, VERSION, &self.account, &self.state)
    }

    fn service(&self) -> &'static ServiceInfo {
        match self.flight {
            Some(Flight::Search) => TransactionLookup::INFO.service,
            _ => GetToken::INFO.service,
        }
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn subject(&self) -> Option<&str> {
        self.state.reference.as_deref().or_else(|| self.token())
    }

    fn label(outcome: &CheckoutOutcome) -> &'static str {
        outcome.label()
    }
}

impl fmt::Debug for Checkout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checkout")
            .field("token", &self.state.token)
            .field("phase", &self.state.phase)
            .finish_non_exhaustive()
    }
}
