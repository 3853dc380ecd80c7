//! A payment on the hosted pages (version 5): get a token, lead the customer there, find out whether it was paid
//! (spec 3 §3.1, §4.1, §4.8, §4.9, §6).
//!
//! ```text
//!  Opening ──token──▶ Waiting ──expiry, time over, Cancel──▶ Cancelling ──▶ Lingering ──▶ Searching ──▶ Lapsed | Unknown
//!     │                │    ▲                                                  │    ▲        │    ▲
//!     ▼            Reported│    │not ours                                      Reported│    │        │    │
//!  NotOpenedReason           ▼    │                                                  ▼    │        ▼    │
//!                     Checking ── ours, Success, amount and currency fit ──▶ Paid   └────────┘ Checking what was found
//! ```
//!
//! **In:** what is to be paid; that a callback or a return [names a transaction](CheckoutInput::Reported); that the
//! merchant [withdraws](CheckoutInput::Cancel). **Out:** requests; [`CheckoutDemand::Redirect`]; at the end a [`CheckoutOutcome`].
//!
//! **It promises:**
//! 1. *Paid is what the service says*, never what a callback or a customer's browser says: both are unsigned. The
//!    transaction was looked up, and token, amount and currency are those of this checkout, and its status is `Success`.
//! 2. *NotOpened is for ever.* No address was given to a customer. The token is asked for again after a lost reply: one that
//!    no customer was led to charges nothing, and expires.
//! 3. *A token is good for one payment*, unless the request says otherwise, and is withdrawn at the end. So the end is one:
//!    nothing can be paid later.
//! 4. *Lapsed is said only with evidence*: the token can't be paid any more, since the service has cancelled it, or says
//!    after its time that there is nothing left to cancel (assumption A126), which no clock of this side decides; time was
//!    given for late news; a search by the request's `trans_reference` found no payment of this token; and no transaction
//!    is left that could be one. No document says that version 5 payments are found so: it is assumption A100, and without
//!    a `trans_reference` of at most 32 characters there is no search.
//! 5. *Everything else is Unknown*: there is no lookup by token, the service calls back once, and a customer need not
//!    come back. A payment that no hint named cannot be excluded then, and is not.
//! 6. It ends: attempts, and all times, are bounded; a crash grants no new attempts, and cuts no pause short that the service
//!    asked for. Forged news cost a lookup a second at most.
//!
//! **Stored:** token and address, amount and reference, news that were not looked up yet; no customer's details. So a crash
//! before the reply with the token was stored ends it as NotOpened. A driver stores the machine before each send, and
//! **also before it hands out the address**: a customer who was led to a forgotten token could pay unseen. When
//! that fails, it says so with [`Failure::HeldBack`], and the machine ends as NotOpened.

use std::{fmt, time::Duration};

use pg_model::{Amount, ApiRequest, GetToken, TransactionLookup, Url, method::ServiceInfo};
use serde::{Deserialize, Serialize};

use super::{
    Action, Backoff, Event, Failure, Machine, Moment, ResumeError, SavedState, attempts::Attempts, books::Services,
    exchange::UNTIL_THE_REPLY, settlement::Money,
};
use crate::{Account, Misuse};

mod amount;
mod checking;
mod closing;
mod opening;
mod outcome;
#[cfg(test)]
mod tests;

pub use outcome::{CheckoutError, CheckoutOutcome, NotOpenedReason};

const NAME: &str = "checkout";
const VERSION: u32 = 1;
/// News that wait to be looked up.
const NEWS: usize = 16;

/// The checkout machine; see [the module](self).
pub struct Checkout {
    account: Account,
    plan: CheckoutPlan,
    state: State,
    request: Option<GetToken>,
    flight: Option<Flight>,
    /// The token is new: no customer is led to it until it is stored.
    untold: bool,
    ended: Option<Box<CheckoutOutcome>>,
}

/// The bounds of a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckoutPlan {
    /// How long the customer has at most, if the token does not expire before. Default: 7 days, as long as tokens live.
    pub wait: Duration,
    /// How long news of a payment are waited for when the token can't be paid any more. Default: 20 minutes.
    pub linger: Duration,
    /// How often each request is tried at most. Default: 8.
    pub attempts: u32,
    /// The pauses between attempts. Default: one second, doubling up to 30.
    pub pauses: Backoff,
}

impl CheckoutPlan {
    /// How long the customer has at most, if the token does not expire before.
    #[must_use]
    pub const fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// How long news of a payment are waited for when the token can't be paid any more.
    #[must_use]
    pub const fn linger(mut self, linger: Duration) -> Self {
        self.linger = linger;
        self
    }

    /// How often each request is tried at most.
    #[must_use]
    pub const fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// The pauses between attempts.
    #[must_use]
    pub const fn pauses(mut self, pauses: Backoff) -> Self {
        self.pauses = pauses;
        self
    }
}

/// What the owner tells a checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutInput {
    /// A callback, or the address that the customer came back to, names this `trans_key`.
    Reported(String),
    /// It is not to be paid any more. That a customer was led to the cancel address is no reason by itself: another tab
    /// may be paying.
    Cancel,
}

/// What a checkout asks of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutDemand {
    /// Store the machine, then lead the customer to this address, and pass on all news; say with [`Event::Woken`] that it
    /// is past `until`. Asked again, it is the same address.
    Redirect {
        /// The page where the customer pays.
        url: Url,
        /// Until when.
        until: Moment,
    },
}

/// What is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    phase: Phase,
    token: String,
    url: String,
    /// Whole minor units.
    amount: u64,
    currency: String,
    /// By which a payment may be found that no hint named.
    reference: Option<String>,
    /// Until when the customer may take.
    until: Moment,
    /// When the token stops working by itself, if that is known.
    expiry: Option<Moment>,
    linger: Moment,
    cancelled: bool,
    searched: bool,
    /// Transactions that a hint named and that were not looked up yet.
    news: Vec<String>,
    /// It was to expire, and after that the service would not cancel it.
    #[serde(default)]
    expired: bool,
    /// A transaction of this token that is neither paid nor failed, or one that could not be looked up.
    unclear: Option<String>,
    /// Attempts of this step.
    #[serde(default)]
    attempts: Attempts,
}

/// Where a checkout is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Phase {
    Opening,
    Waiting,
    Cancelling,
    Lingering,
    /// By the clock the token has expired; the service is asked, since clocks jump.
    Closing,
    Searching,
    /// Everything was tried.
    Concluding,
}

/// Which reply is awaited.
enum Flight {
    Token,
    Check(String),
    Cancel,
    Search,
}

type CheckoutAction = Action<CheckoutDemand, CheckoutOutcome>;

impl Checkout {
    /// A checkout that has not begun. A request that does not say how many payments its token is good for asks for one,
    /// not for any number, which is the service's default.
    ///
    /// # Errors
    /// When the request breaks a rule, or does not say what is to be paid: currency, and items with prices.
    pub fn new(account: Account, mut request: GetToken, plan: CheckoutPlan) -> Result<Self, CheckoutError> {
        request.token_uses.get_or_insert(1);
        request.check().into_result().map_err(Misuse::Invalid)?;
        account.request_unchecked(&request)?;
        let amount = amount::total(&request).ok_or(CheckoutError::NoAmount)?;
        let state = State::new(&amount, searchable(&request));
        Ok(Self::with(account, plan, state, Some(request)))
    }

    /// Goes on from what was stored last.
    ///
    /// # Errors
    /// When `saved` is not of a checkout, or was saved for another account, or the account has no version 5 credentials.
    pub fn resume(saved: &SavedState, account: Account, plan: CheckoutPlan) -> Result<Self, ResumeError> {
        let state = saved.open_for(NAME, VERSION, &account, Services::Both)?;
        Ok(Self::with(account, plan, state, None))
    }

    /// The token, once there is one: by it the owner finds the machine that a callback belongs to.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        Some(self.state.token.as_str()).filter(|token| !token.is_empty())
    }

    fn with(account: Account, plan: CheckoutPlan, state: State, request: Option<GetToken>) -> Self {
        Self { account, plan, state, request, flight: None, untold: false, ended: None }
    }

    fn handle_event(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) {
        let untold = std::mem::take(&mut self.untold);
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(CheckoutInput::Reported(key)) => self.told(key),
            Event::Input(CheckoutInput::Cancel) => self.withdraw(),
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
        let news = &mut self.state.news;
        // Afterwards it is too late: a search finds what there is.
        let open = matches!(self.state.phase, Phase::Waiting | Phase::Cancelling | Phase::Lingering | Phase::Closing);
        let right = !key.is_empty() && key.len() <= 32 && key.bytes().all(|byte| byte.is_ascii_graphic());
        if open && right && news.len() < NEWS && !news.contains(&key) {
            news.push(key);
        }
    }

    fn time_passed(&mut self, now: Moment) {
        self.no_longer(now);
        if self.state.phase == Phase::Waiting && now >= self.state.until {
            self.withdraw();
        }
        if self.state.phase == Phase::Lingering && now >= self.state.linger {
            self.enter(if self.state.cancelled { Phase::Searching } else { Phase::Closing });
        }
    }

    /// A clock that was set back extends no time limit.
    fn no_longer(&mut self, now: Moment) {
        let (state, plan) = (&mut self.state, &self.plan);
        let open = if state.cancelled { Duration::ZERO } else { plan.wait };
        state.until = state.until.min(now.after(plan.wait));
        state.linger = state.linger.min(now.after(open).after(plan.linger));
    }

    /// Says what it waits for, or sends what is to be sent.
    fn go_on(&mut self, now: Moment) -> CheckoutAction {
        if let Some(request) = self.next_request(now) {
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
                let url = self.state.url.as_str().into();
                Action::Ask(CheckoutDemand::Redirect { url, until: self.state.until })
            }
            _ => Action::WaitUntil(self.state.linger.max(now.after(Duration::from_millis(1)))),
        }
    }

    fn next_request(&mut self, now: Moment) -> Option<http::Request<bytes::Bytes>> {
        if self.ended.is_some() || self.flight.is_some() || self.state.attempts.held(now).is_some() {
            return None;
        }
        match self.state.phase {
            Phase::Opening => self.open(),
            Phase::Cancelling | Phase::Closing => self.cancel(),
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

    /// Waits before this step is tried again; false when it was tried often enough.
    fn try_again(&mut self, told: Option<Duration>, now: Moment, random: u64) -> bool {
        self.state.attempts.failed(told, self.plan.pauses, now, random) < self.plan.attempts
    }

    fn end(&mut self, outcome: CheckoutOutcome) {
        (self.request, self.ended) = (None, Some(Box::new(outcome)));
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
            cancelled: false,
            searched: false,
            expired: false,
            news: Vec::new(),
            unclear: None,
            attempts: Attempts::default(),
        }
    }
}

/// The reference of version 3 that version 5 payments are found by has at most 32 characters (assumption A100).
fn searchable(request: &GetToken) -> Option<String> {
    let reference = request.trans_reference.as_ref()?.as_str();
    (!reference.is_empty() && reference.chars().count() <= 32).then(|| reference.to_owned())
}

impl Default for CheckoutPlan {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(7 * 24 * 60 * 60),
            linger: Duration::from_secs(20 * 60),
            attempts: 8,
            pauses: Backoff::default(),
        }
    }
}

impl Machine for Checkout {
    type Input = CheckoutInput;
    type Demand = CheckoutDemand;
    type Outcome = CheckoutOutcome;

    fn step(&mut self, event: Event<CheckoutInput>, now: Moment, random: u64) -> CheckoutAction {
        if self.ended.is_none() {
            // Whatever comes, so that many news can't keep the time from passing.
            self.time_passed(now);
            self.handle_event(event, now, random);
        }
        self.go_on(now)
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
