//! A 3-D Secure payment: initiate, lead the customer through the challenge, ask how it went, pay once (spec 2 §3.3).
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
//! **In:** the initiation with its `uniqueMerchantReference`; that the customer [came back](ThreeDSecureInput::Returned) or
//! [left](ThreeDSecureInput::Closed); the merchant's [decision](ThreeDSecureInput::Proceed). **Out:** requests;
//! [`ThreeDSecureDemand::Challenge`] and [`ThreeDSecureDemand::Decide`]; at the end a [`ThreeDSecureOutcome`].
//!
//! **It promises:**
//! 1. *At most one request for the payment is ever executed.* It is sent again only after it certainly was not executed:
//!    it never left, or the service refused to look at it (121, 122, throttled). After a lost reply, after an answer that
//!    the bank did not answer (119), and after a crash behind the point where the machine was stored for sending it, only
//!    lookups follow, however empty they are: the documents do not say what becomes of an authentication key that is used
//!    twice. (The sandbox refuses it, assumption A108: so copies that the network makes are refused as well.)
//! 2. *No return can charge.* That the customer came back is only a reason to ask for the status. A second return, another
//!    tab and the back button find the machine past that, and change nothing.
//! 3. *Approved and Declined are what the ledger holds*: the reply to the payment, or the payment that a lookup finds under
//!    the reference, which the initiation had for itself (assumption A109). One of another type, amount or currency is not
//!    taken for it.
//!    An initiation that is refused because its reference was used (125, 950) leads to lookups as well: a payment may have been
//!    made under it before. Then only a payment that is found, or Unknown, is an end.
//! 4. *Abandoned, Failed, TimedOut, NotShifted, NotInitiated and NotSent are for ever*: no request for the payment left.
//!    Initiations and status requests charge nothing, however often and late their copies arrive. Nor does a machine that is
//!    resumed although it had ended so, if its end was stored.
//! 5. *Refused, of the payment*, is said at once for a reason that lies in the request or the credentials; for any other
//!    after a lookup that found nothing, and when every request was answered. For a reason that may pass it rests on the
//!    network not delivering a second copy later: see [`Refused::scope`].
//! 6. *Nothing found proves nothing*: else it ends as Unknown, with the lookup to make later.
//! 7. It ends: attempts, lookups and the time of customer and merchant are bounded. A crash grants new lookups and new
//!    questions for the status, no new attempts to pay, and cuts no pause short that the service asked for.
//!
//! **It does not promise** that an initiation succeeds after a lost reply: its authentication key can't be had again, so
//! that it has to begin anew, under another reference. No money has moved then.
//!
//! **Stored:** reference, authentication key and address, how far it is. No card data, no session key; so a crash before
//! the reply to the initiation was stored ends it as NotSent. A driver stores the machine before each send; if it also
//! stores it before it leads the customer to the challenge, that crash is harmless too.

use std::{fmt, time::Duration};

use pg_model::{ApiRequest, AuthenticationStatus, InitiateThreeDSecureSessionKey, Url, method::ServiceInfo};

use self::{
    plan::Initiation as Request,
    state::{Phase, State},
};
use super::{
    Action, Event, Machine, Moment, Reconcile, ResumeError, SavedState, UnknownReason, books::Services,
    exchange::UNTIL_THE_REPLY, settlement::Unsettled,
};
use crate::{Account, Misuse, Refused};

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

const NAME: &str = "3-D Secure";
const VERSION: u32 = 1;

/// The 3-D Secure machine; see [the module](self).
pub struct ThreeDSecure {
    account: Account,
    state: State,
    /// Dropped once it was answered: it may hold a security code.
    initiation: Option<Request>,
    in_flight: bool,
    /// When the customer's status was asked for last.
    checked: Moment,
    /// What is to be decided about, and until when.
    status: Option<(AuthenticationStatus, Moment)>,
    /// A refusal of the payment that a lookup has to confirm.
    refusal: Option<Refused>,
    /// A payment with a status that is pending or not listed.
    unsettled: Unsettled,
    /// Whether a lookup has answered that there is no payment.
    looked: bool,
    ended: Option<Box<ThreeDSecureOutcome>>,
}

/// What the owner tells a 3-D Secure payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThreeDSecureInput {
    /// The customer came back from the challenge, or so it seems.
    Returned,
    /// The customer has left, and will not come back.
    Closed,
    /// The payment is to be made without liability shift.
    Proceed,
    /// The payment is not to be made.
    Stop,
}

/// What a 3-D Secure payment asks of its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreeDSecureDemand {
    /// Lead the customer to this address, in a new window or a frame, and say when they come back, or with
    /// [`Event::Woken`] that it is past `until`.
    Challenge {
        /// Where the customer proves who they are.
        url: Url,
        /// Until when they may take.
        until: Moment,
    },
    /// Decide whether to pay without liability shift: [`ThreeDSecureInput::Proceed`] or [`ThreeDSecureInput::Stop`].
    /// Past `until`, which [`Event::Woken`] tells, it ends without.
    Decide {
        /// What the service says of the customer.
        status: AuthenticationStatus,
        /// Until when to decide.
        until: Moment,
    },
}

type ThreeDSecureAction = Action<ThreeDSecureDemand, ThreeDSecureOutcome>;

impl ThreeDSecure {
    /// A payment that has not begun.
    ///
    /// # Errors
    /// When the initiation breaks a rule or carries no `uniqueMerchantReference`. Nothing was sent.
    pub fn new(account: Account, initiation: impl Into<Initiation>, plan: ThreeDSecurePlan) -> Result<Self, Misuse> {
        let initiation = initiation.into();
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

    /// Resumes from the state that was stored last. A state of an earlier version has no [`amount`](Self::amount).
    ///
    /// # Errors
    /// When `saved` is not of a 3-D Secure payment, or was saved for another account.
    pub fn resume(saved: &SavedState, account: Account) -> Result<Self, ResumeError> {
        let state: State = saved.open_for(NAME, VERSION, &account, Services::Gateway)?;
        let over = state.over && !state.exposed;
        let mut resumed = Self::with(account, state.resumed(), None);
        if over {
            resumed.end(ThreeDSecureOutcome::NotSent(NotSentReason::Over));
        }
        Ok(resumed)
    }

    /// The reference that it pays under.
    #[must_use]
    pub fn reference(&self) -> &str {
        &self.state.reference
    }

    /// The amount of the payment in minor units, which a transaction must have to settle it. `None` if the initiation has no items, or
    /// if an earlier version saved the state without it: then a transaction is recognised by its reference, type and currency.
    #[must_use]
    pub const fn amount(&self) -> Option<u64> {
        self.state.total
    }

    /// States the amount of a payment whose state has none. An [`amount`](Self::amount) that is there stays.
    #[must_use]
    pub fn compare_amount(mut self, minor_units: u64) -> Self {
        self.state.total.get_or_insert(minor_units);
        self
    }

    fn with(account: Account, state: State, initiation: Option<Initiation>) -> Self {
        Self {
            account,
            state,
            initiation,
            in_flight: false,
            checked: Moment::default(),
            status: None,
            refusal: None,
            unsettled: Unsettled::default(),
            looked: false,
            ended: None,
        }
    }

    fn handle_event(&mut self, event: Event<ThreeDSecureInput>, now: Moment, random: u64) {
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(input) => match self.state.phase {
                Phase::Challenged => self.customer(input, now),
                Phase::Deciding => self.decided(input),
                Phase::Checking => self.state.closed |= input == ThreeDSecureInput::Closed,
                _ => {}
            },
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
        match self.state.phase {
            Phase::Challenged => self.challenge_over(now),
            Phase::Deciding => self.decision_over(now),
            _ => {}
        }
    }

    /// Says what it waits for, or sends what is to be sent.
    fn go_on(&mut self, now: Moment) -> ThreeDSecureAction {
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

    /// Waits before this step is tried again, as the service wants it or by itself; false when it was tried often enough.
    fn try_again(&mut self, told: Option<Duration>, at_most: u32, now: Moment, random: u64) -> bool {
        self.state.attempts.failed(told, self.state.plan.pauses, now, random) < at_most
    }

    fn end(&mut self, outcome: ThreeDSecureOutcome) {
        (self.initiation, self.state.sending, self.state.over) = (None, false, true);
        self.ended = Some(Box::new(outcome));
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
        self.go_on(now)
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
