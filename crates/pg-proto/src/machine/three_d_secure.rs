//! A 3-D Secure payment: initiate, send the customer to the challenge, request its result, pay once (spec 2 §3.3).
//!
//! ```text
//!  Initiating ──607──▶ Challenged ──returned, closed, time over──▶ Checking ──Y──▶ Authorising ──▶ Approved | Declined
//!    │  │ 608             ▲                                         │  │ │            │ ▲  │          | Refused
//!    │  └▶ NotInitiated   └──────────────── pending ────────────────┘  │ N            │ │  └ reply lost, 119, 962 …
//!    ▼                        Failed | Abandoned | TimedOut ◀──────────┘ ▼            │ │            ▼
//!  Refused | NotSent                                                  Deciding ───────┼─┘        LookingUp
//!                                                        NotShifted ◀────┘            ▼              │
//!                                                                                  NotSent           ▼
//!                                                                        Approved | Declined | Refused | Unknown
//! ```
//!
//! **Input:** the initiation with its `uniqueMerchantReference`; the customer's [return](ThreeDSecureInput::Returned) or
//! [leaving](ThreeDSecureInput::Closed); the merchant's [decision](ThreeDSecureInput::Proceed). **Output:** requests,
//! [`ThreeDSecureDemand::Challenge`] and [`ThreeDSecureDemand::Decide`], and finally a [`ThreeDSecureOutcome`].
//!
//! **Promises:**
//! 1. *At most one request for the payment is ever executed.* It is sent again only if it was certainly not executed:
//!    it never left; or the service refused to examine it (121, 122, throttled), and a lookup proves that no other copy
//!    was executed. That proof needs the account's dialect: `immediate` and
//!    [`found_by_initiation`](pg_model::dialect::Lookup::found_by_initiation). After a lost
//!    reply, a reply that the bank did not answer (119), or a crash after the machine was saved for sending the payment,
//!    the machine only looks it up, even if the lookups find nothing. The documents do not say what happens to an
//!    authentication key that is used twice. (The sandbox refuses it, assumption A108, and so refuses copies that the
//!    network makes.)
//! 2. *A return cannot charge.* The customer's return is only a reason to request the status. A second return, another
//!    tab and the back button find the machine in a later phase, and change nothing. This requires that only one machine
//!    works on the payment at a time, and that it resumes from the state that was saved last. Otherwise two returns that
//!    are handled at once may pay twice.
//!    A status with neither `Y` nor `N` is no result either, unless the dialect lists its code: it may be the reply to the
//!    initiation, delivered twice. It is requested again.
//! 3. *Approved and Declined match the ledger.* They come from the reply to the payment, or from a payment that a lookup
//!    finds under the reference, which belonged to this initiation alone (assumption A109). A payment with another type,
//!    amount or currency is not accepted. A reply without a type is that to the status request, delivered again.
//!    A decline may be that of a second copy of the request: it counts if the dialect
//!    [names the error](pg_model::Dialect::refuses_used_authentications) of a used authentication, and, for a decline that a
//!    lookup lists, [that of a used reference](pg_model::Dialect::refuses_used_references): it may be that of a second copy of the
//!    initiation. Otherwise three lookups in a row must list it, the request must have been answered, and the key must be that
//!    in the reply, if there was one; else the outcome is Unknown. An approved transaction of an unknown
//!    type may be the payment: then the outcome is Unknown, too. If an initiation or a status request is refused because its
//!    reference was used (125, 950), or with an unlisted code, lookups follow as well: an earlier machine may have paid under it.
//!    Then the outcome is a payment that is
//!    found, or Unknown. The same holds for an initiation that is answered like a payment: with 600 or with a payment's type,
//!    and without 607 and an address to authenticate at, or with a decline if the dialect names no error of used references.
//! 4. *Abandoned, Failed, TimedOut, NotShifted, NotInitiated and NotSent are final.* No request for the payment left.
//!    Initiations and status requests charge nothing, however many copies arrive, and however late. A machine that is
//!    resumed after such an end does not pay, if its end was saved.
//! 5. *Refused, for an earlier step*, is reported at once if no earlier payment can be the reason: it is in the request (101,
//!    103, 104, 107 to 110, 120), in the credentials (102, 105, 123), or in what a payment does not change (106, 111). For
//!    any other reason, such as a session that may have ended with its payment (129, 136), it is reported after a lookup that
//!    proves that there is no payment.
//!    *Refused, for the payment itself*, is reported at once if the reason is in the request and no earlier request for the
//!    payment was sent. After refused credentials (102, 105, 123) the outcome is Unknown. For any other reason it is reported
//!    after a lookup that proves that there is no payment, if every request was answered. If
//!    the reason is temporary, it assumes that the network does not deliver a second copy later: see [`Refused::scope`].
//!    The same holds for a request that is sent again.
//! 6. *An empty lookup proves nothing* in all other cases: the outcome is Unknown, with the lookup to make later.
//! 7. *It ends.* Attempts, lookups, and the time of customer and merchant are bounded. A crash grants new lookups and
//!    new status requests, but no new attempts to pay, and does not shorten a pause that the service asked for.
//!
//! **Limits:** an initiation cannot succeed after a lost reply, since its authentication key cannot be requested again.
//! Start again with another reference; no money has moved.
//!
//! **Saved state:** reference, authentication key and address, and the phase. It contains no card data and no session
//! key. A crash before the reply to the initiation was saved ends the machine as NotSent. A driver saves the machine
//! before each send. If the driver also saves it before it sends the customer to the challenge, a crash after that is
//! harmless too.
//!
//! # Example
//!
//! ```
//! use pg_proto::model::{Currency, InitiateThreeDSecureCardKey, Item, Order};
//! use pg_proto::{Account, BaseUrl, Credentials};
//! use pg_proto::machine::{Action, Event, Machine, Moment};
//! use pg_proto::machine::three_d_secure::{ThreeDSecure, ThreeDSecurePlan};
//!
//! let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! let plan = ThreeDSecurePlan::default();
//! let mut payment = ThreeDSecure::new(account, InitiateThreeDSecureCardKey::new("a-card-key", order), plan)?;
//! let action = payment.step(Event::Begin, Moment::from_millis(1_700_000_000_000), 4);
//! assert!(matches!(action, Action::Send(_)));
//! assert_eq!((payment.reference(), payment.amount()), ("order-7", Some(499)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::{fmt, sync::Arc, time::Duration};

use pg_model::{ApiRequest, AuthenticationStatus, InitiateThreeDSecureSessionKey, Url, method::ServiceInfo};

use self::{
    plan::Initiation as Request,
    state::{Phase, State},
};
use super::{
    Action, Event, Failure, Machine, Moment, Reconcile, ResumeError, SavedState, UnknownReason, books::Services,
    exchange::UNTIL_THE_REPLY, settlement::Unsettled, time_limit::ShortenedLimit,
};
use crate::{Account, Misuse, Refused, Unreadable};

mod authorising;
mod challenged;
mod checking;
mod deciding;
mod initiating;
mod looking_up;
mod outcome;
mod plan;
mod state;
#[cfg(test)]
mod tests;

pub use outcome::{NotSentReason, ThreeDSecureOutcome};
pub use plan::{Initiation, NoLiabilityShift, PaymentType, ThreeDSecurePlan};

/// The [name](super::SavedState::machine) of a 3-D Secure payment in a saved state.
pub const NAME: &str = "3-D Secure";
const VERSION: u32 = 1;

/// The 3-D Secure machine. The module lists [its promises](self) and has an [example](self#example).
pub struct ThreeDSecure {
    account: Arc<Account>,
    state: State,
    /// Dropped after its reply, since it may contain a security code.
    initiation: Option<Request>,
    in_flight: bool,
    /// When the status was last requested.
    checked: Moment,
    /// The end of the customer's time in this process.
    challenge_until: ShortenedLimit,
    /// The status to decide about, and the end of the time for the decision.
    status: Option<(AuthenticationStatus, Moment)>,
    /// A refusal of the payment that a lookup has to confirm.
    refusal: Option<Refused>,
    /// The service refused to examine the request for the payment, after this many attempts. It is sent again if a lookup
    /// proves that no copy was executed.
    unexamined: Option<u32>,
    /// A payment whose status is pending or unlisted.
    unsettled: Unsettled,
    /// Whether a lookup found no payment.
    looked: bool,
    /// The answer to the last lookup that was answered, if it cannot be read.
    unreadable: Option<Box<Unreadable>>,
    ended: Option<Box<ThreeDSecureOutcome>>,
}

/// An input of a 3-D Secure payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreeDSecureInput {
    /// The customer seems to have returned from the challenge.
    Returned,
    /// The customer has left and will not return.
    Closed,
    /// Pay without liability shift.
    Proceed,
    /// Do not pay.
    Stop,
}

/// A demand of a 3-D Secure payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreeDSecureDemand {
    /// Send the customer to this address, in a new window or a frame. Report their return, or the time `until` with
    /// [`Event::Woken`].
    Challenge {
        /// The page where the customer authenticates.
        url: Url,
        /// The end of the customer's time.
        until: Moment,
    },
    /// Decide whether to pay without liability shift: [`ThreeDSecureInput::Proceed`] or [`ThreeDSecureInput::Stop`].
    /// Report the time `until` with [`Event::Woken`]: then it ends without a payment.
    Decide {
        /// The status that the service returned for the customer.
        status: AuthenticationStatus,
        /// The end of the time to decide.
        until: Moment,
    },
}

type ThreeDSecureAction = Action<ThreeDSecureDemand, ThreeDSecureOutcome>;

impl ThreeDSecure {
    /// Creates a payment that has not begun.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the initiation breaks a rule or has no `uniqueMerchantReference`. Nothing was sent.
    pub fn new(
        account: impl Into<Arc<Account>>,
        initiation: impl Into<Initiation>,
        plan: ThreeDSecurePlan,
    ) -> Result<Self, Misuse> {
        let (account, initiation) = (account.into(), initiation.into());
        let violations = match &initiation {
            Initiation::SessionKey(request) => request.check(),
            Initiation::CardKey(request) => request.check(),
        };
        violations.into_result().map_err(Misuse::Invalid)?;
        let state = State::new(plan, &initiation);
        if state.reference.is_empty() {
            return Err(Misuse::NoUniqueReference);
        }
        Ok(Self::with(account, state, Some(initiation)))
    }

    /// Resumes from the state that was saved last. A state of an earlier version has no [`amount`](Self::amount).
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a 3-D Secure payment, or was saved for another account.
    pub fn resume(saved: &SavedState, account: impl Into<Arc<Account>>) -> Result<Self, ResumeError> {
        let account = account.into();
        let state: State = saved.open_for(NAME, VERSION, &account, Services::Gateway)?;
        let over = state.over && !state.exposed;
        let mut resumed = Self::with(account, state.resumed(), None);
        if over {
            resumed.end(ThreeDSecureOutcome::NotSent(NotSentReason::Over));
        }
        Ok(resumed)
    }

    /// Returns the reference under which it pays.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.state.reference
    }

    /// Returns the amount of the payment in minor units. A transaction with another amount is not accepted. `None` if
    /// the initiation has no items, or if an earlier version saved the state without it: then a transaction is
    /// recognised by reference, type and currency.
    #[must_use]
    pub const fn amount(&self) -> Option<u64> {
        self.state.total
    }

    /// Sets the amount of a payment whose state has none. An existing [`amount`](Self::amount) does not change.
    #[must_use]
    pub fn compare_amount(mut self, minor_units: u64) -> Self {
        self.state.total.get_or_insert(minor_units);
        self
    }

    fn with(account: Arc<Account>, state: State, initiation: Option<Initiation>) -> Self {
        Self {
            account,
            state,
            initiation,
            in_flight: false,
            checked: Moment::default(),
            challenge_until: ShortenedLimit::default(),
            status: None,
            refusal: None,
            unexamined: None,
            unsettled: Unsettled::default(),
            looked: false,
            unreadable: None,
            ended: None,
        }
    }

    fn handle_event(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(input) => match self.state.phase {
                Phase::Challenged => self.customer(input, now),
                Phase::Deciding => self.decided(input),
                Phase::Checking => self.heard_early(input, now),
                _ => {}
            },
            Event::Failed(Failure::Superseded) => self.superseded(),
            Event::Reply(_) | Event::Failed(_) if !self.in_flight => {}
            event @ (Event::Reply(_) | Event::Failed(_)) => {
                self.in_flight = false;
                match self.state.phase {
                    Phase::Initiating => self.initiated(event, now, random),
                    Phase::Checking => self.checked(event, now, random),
                    Phase::Authorising => self.authorised(event, now, random),
                    Phase::LookingUp => self.looked_up(event, now, random),
                    Phase::Challenged | Phase::Deciding => {}
                }
            }
        }
    }

    fn time_passed(&mut self, now: Moment) {
        self.shorten_decision(now);
        match self.state.phase {
            Phase::Challenged => self.challenge_over(now),
            Phase::Deciding => self.decision_over(now),
            _ => {}
        }
    }

    /// Returns what the machine waits for, or the next request.
    fn advance(&mut self, now: Moment) -> ThreeDSecureAction {
        if let Some(outcome) = &self.ended {
            return Action::Done((**outcome).clone());
        }
        if self.in_flight {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        let asks = matches!(self.state.phase, Phase::Challenged | Phase::Deciding);
        if let Some(until) = self.state.attempts.held(now).filter(|_| !asks) {
            return Action::WaitUntil(until);
        }
        match self.state.phase {
            Phase::Challenged => self.challenge(now),
            Phase::Deciding => self.decide(now),
            Phase::Initiating => self.initiate(),
            Phase::Checking => self.check(now),
            Phase::Authorising => self.authorise(now),
            Phase::LookingUp => self.look_up(now),
        }
    }

    fn send(&mut self, request: http::Request<bytes::Bytes>) -> ThreeDSecureAction {
        self.in_flight = true;
        Action::Send(request)
    }

    fn enter(&mut self, phase: Phase) {
        self.state.enter(phase);
    }

    /// Waits before the next attempt of this step; false if no attempt is left.
    fn try_again(&mut self, told: Option<Duration>, at_most: u32, now: Moment, random: u64) -> bool {
        self.state.attempts.failed(told, self.state.plan.pauses, now, random) < at_most
    }

    fn end(&mut self, outcome: ThreeDSecureOutcome) {
        (self.initiation, self.state.sending, self.state.over) = (None, false, true);
        self.ended = Some(Box::new(outcome));
    }

    /// Ends the payment, because another machine works on it. Its own state must not say that nothing left.
    fn superseded(&mut self) {
        (self.in_flight, self.state.exposed, self.state.open) = (false, true, true);
        self.unknown(UnknownReason::Superseded);
    }

    fn unknown(&mut self, why: UnknownReason) {
        let reconcile = Reconcile::Transaction(self.state.expected().lookup());
        self.end(ThreeDSecureOutcome::Unknown { reconcile, why });
    }
}

impl Machine for ThreeDSecure {
    type Input = ThreeDSecureInput;
    type Demand = ThreeDSecureDemand;
    type Outcome = ThreeDSecureOutcome;

    fn step(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) -> ThreeDSecureAction {
        if self.ended.is_none() {
            self.time_passed(now);
            self.handle_event(event, now, random);
        }
        self.advance(now)
    }

    fn save(&self) -> SavedState {
        SavedState::bound(NAME, VERSION, &self.account, &self.state)
    }

    fn service(&self) -> &'static ServiceInfo {
        InitiateThreeDSecureSessionKey::INFO.service
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn subject(&self) -> Option<&str> {
        Some(self.reference())
    }

    fn label(outcome: &ThreeDSecureOutcome) -> &'static str {
        outcome.label()
    }
}

impl fmt::Debug for ThreeDSecure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ThreeDSecure");
        shown.field("reference", &self.state.reference).field("phase", &self.state.phase).finish_non_exhaustive()
    }
}
