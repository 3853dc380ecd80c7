//! Sends one request, and sends it again only if the retry class of its method allows that.
//!
//! **Input:** an account, a request, bounds. Then, for each request, its reply or the information that there was no
//! reply, with the time and a random number.
//!
//! **Output:** requests to send, times to wait until, and finally a [`RetryOutcome`]. [`Retry`] has an example.
//!
//! ```text
//!                        its result, or a refusal that holds for every copy
//!  Ready ──▶ Sending ───────────────────────────────────────────────────────▶ Answered | Refused
//!              │  ▲
//!              │  └──────────── Resting ◀─┐ within the bounds:
//!              │                          │   any class    not sent
//!              ├──────────────────────────┘   safe         no reply, unreadable, refused for now
//!              └────────────────────────────────────────────────────────────▶ NotSent | Unknown | Refused
//!                        otherwise
//! ```
//!
//! # Promises
//!
//! - A method of class [`Safe`](Class::Safe) may be sent several times. The machine waits as long as the service asks
//!   for: a minute after 121 and 429, five after 122.
//! - A request of any other class is sent again only after a request that certainly never left. So at most one request
//!   leaves. After a crash, a request that was about to be sent counts as sent.
//! - **NotSent** is final: nothing left. If another machine [has stored its state](Failure::Superseded), the outcome is
//!   Unknown.
//! - **Answered** is the reply to this request. If a reply describes a transaction, it is compared with the request:
//!   type, amount, currency, `uniqueMerchantReference`, and in version 5 `system_action` and `prev_trans_key`. A field
//!   that either side lacks does not count as a difference. A reply that differs answers another request, and counts as
//!   no reply.
//! - **Refused**: the service answered every request that left, and refused it. For a method of another class than
//!   [`Safe`](Class::Safe), it also means that no copy of the request was executed. The network may deliver a request
//!   twice: then the refusal of one copy may come back although the other copy was executed. So only these refusals of
//!   such methods end as Refused:
//!   - a reason in the request itself ([`RefusalScope::Always`](pg_model::dialect::RefusalScope)), but not 107: the
//!     service checks the amount against what is left (spec 2 §3.2);
//!   - invalid credentials, a missing permission (106), or a currency that is not supported (111), but not "no data" (101,
//!     in version 5: 1): a proxy may have repeated the request without its body;
//!   - a code that the dialect uses for unknown transactions and for nothing else.
//! - A capture, cancellation or refund with a **status of failure** (`status` 0 in version 5, a declined status in version
//!   3) ends as Unknown for the same reason, never as Answered. So does the decline of a payment with a
//!   `uniqueMerchantReference`, unless the dialect [names the error](pg_model::Dialect::refuses_used_references) of a used one.
//! - **Unknown**: a request may have been executed, or may be executed later. This includes every other refusal of a
//!   method that must not be executed twice. Look at the payment before you send the request again.
//! - If [`RetryBounds::again`] is zero, at most one request is sent in every case.
//! - **It ends**: attempts and time are bounded over all resumptions.
//!
//! # Limits
//!
//! - The machine does not resolve an Unknown outcome. For payments with a reference, use
//!   [`Charge`](super::charge::Charge), which looks them up, and sends them again under the same reference.
//! - The machine cannot promise that the network delivers a request once. A second copy of a capture, cancellation or
//!   refund of a part, of a repeat or of a text message may be executed too, unless the request carries a
//!   `uniqueMerchantReference`, which the service accepts once.
//! - A decline of a repeat, of a payment without a `uniqueMerchantReference`, or of an authentication may answer one copy while the bank
//!   approved the other one. It ends as Answered, since declines of the first copy are far more frequent.
//! - *Refused* assumes that credentials, permissions and currencies of the account do not change between two copies,
//!   and that the service executes no later copy of a request that it refused for a reason in the request.
//! - For a method of class [`Safe`](Class::Safe), a refusal may answer one copy although another one was executed: a
//!   second deletion is refused because the first one was executed. Nothing is charged by these methods.

use std::{fmt, sync::Arc, time::Duration};

use pg_model::{
    ApiRequest, FromReply as _, Remedy,
    method::{MethodInfo, RetrySafety as Class, ServiceInfo},
};
use serde::{Deserialize, Serialize};

use crate::{
    Account, Misuse, Refused, ReplyError,
    machine::{
        Action, Event, Failure, Machine, Moment, Never, Reconcile, ResumeError, SavedState, UnknownReason,
        books::Services, exchange::UNTIL_THE_REPLY, exchange::wait, settlement::Expected, time_limit,
    },
};

mod answer;
mod copies;
mod digest;
mod outcome;
#[cfg(test)]
mod tests;

pub use answer::{Repeated, described, differs};
pub use outcome::{RetryBounds, RetryOutcome};

/// The [name](super::SavedState::machine) of a retry in a saved state.
pub const NAME: &str = "retry";
const VERSION: u32 = 1;

/// Sends one request, and sends it again only if its retry class allows that. [The module](self) lists what it
/// promises.
///
/// ```
/// use pg_proto::model::TokenLookup;
/// use pg_proto::{Account, BaseUrl, Credentials};
/// use pg_proto::machine::{Action, Event, Failure, Machine, Moment, retry::{Retry, RetryBounds}};
///
/// let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
/// let mut lookup = Retry::new(account, TokenLookup::new().card_key("a-card-key"), RetryBounds::default())?;
/// let now = Moment::from_millis(1_700_000_000_000);
/// assert!(matches!(lookup.step(Event::Begin, now, 4), Action::Send(_)));
/// // A lookup is safe to send again.
/// let Action::WaitUntil(then) = lookup.step(Event::Failed(Failure::MaybeSent), now, 4) else { panic!() };
/// assert!(matches!(lookup.step(Event::Woken, then, 4), Action::Send(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Retry<M: ApiRequest> {
    account: Arc<Account>,
    request: M,
    state: State,
    in_flight: bool,
    /// The time limit of an earlier run, until the first event of this run.
    earlier_within: Option<Duration>,
    /// The result of the last request that left.
    last: Option<Last>,
    ended: Option<RetryOutcome<M::Output>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    method: String,
    /// The digest of the request. States of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    bounds: RetryBounds,
    deadline: Option<Moment>,
    sends: u32,
    /// Whether a request may have been sent.
    left: bool,
    /// Whether the result of a request is unknown.
    open: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Phase {
    /// The request may be sent now.
    Ready,
    Sending,
    Resting {
        until: Moment,
        length: Duration,
    },
    Ended,
}

/// Why a request that was sent has no result.
#[derive(Clone, Debug)]
enum Last {
    Unanswered(UnknownReason),
    Refused(Refused),
}

type RetryAction<M> = Action<Never, RetryOutcome<<M as ApiRequest>::Output>>;

impl<M: ApiRequest<Output: Clone>> Retry<M> {
    /// Creates a request that has not been sent yet.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if it breaks a rule, or if the account lacks the credentials for it. Nothing was sent.
    pub fn new(account: impl Into<Arc<Account>>, request: M, bounds: RetryBounds) -> Result<Self, Misuse> {
        let account = account.into();
        account.request(&request)?;
        let method = path(M::INFO);
        let state = State {
            method,
            request: Some(digest::digest(&request)),
            bounds,
            deadline: None,
            sends: 0,
            left: false,
            open: false,
            phase: Phase::Ready,
        };
        Ok(Self { account, request, state, in_flight: false, earlier_within: None, last: None, ended: None })
    }

    /// Resumes after a crash, with the request from which it was created.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of this request or was saved for another account, or if the request
    /// breaks a rule. Card data and other values that are never shown are not compared.
    pub fn resume(saved: &SavedState, account: impl Into<Arc<Account>>, request: M) -> Result<Self, ResumeError> {
        let account = account.into();
        let services = Services::of_version(M::INFO.service.version);
        let mut state: State = saved.open_for(NAME, VERSION, &account, services)?;
        if state.method != path(M::INFO) {
            return Err(ResumeError::Mismatch("method"));
        }
        if state.phase == Phase::Sending {
            (state.left, state.open) = (true, true);
        }
        let bounds = state.bounds;
        let new = Self::new(account, request, bounds).map_err(|_| ResumeError::Mismatch("request"))?;
        if state.request.is_some() && state.request != new.state.request {
            return Err(ResumeError::Mismatch("request"));
        }
        Ok(Self { earlier_within: Some(bounds.within), state, ..new })
    }

    fn is_safe(&self) -> bool {
        M::INFO.retry == Class::Safe
    }

    fn handle_event(&mut self, event: Event, now: Moment, random: u64) {
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(never) => match never {},
            Event::Failed(Failure::Superseded) => self.superseded(),
            Event::Reply(_) | Event::Failed(_) if !self.in_flight => {}
            Event::Reply(response) => {
                (self.in_flight, self.state.left) = (false, true);
                match self.account.reply_as::<M::Reply>(M::INFO.service, &response) {
                    Ok(reply) => self.answered(reply, now, random),
                    Err(error) => self.without_result(Last::of(error, M::INFO.retry), now, random),
                }
            }
            Event::Failed(failure) => {
                self.in_flight = false;
                match failure {
                    Failure::MaybeSent | Failure::Superseded => {
                        self.without_result(Last::Unanswered(UnknownReason::NoReply), now, random)
                    }
                    // A request of any method may be sent again.
                    Failure::NotSent => self.rest(None, now, random),
                    Failure::HeldBack if self.state.left => self.unknown(UnknownReason::HeldBack),
                    Failure::HeldBack => self.bounds_ended(),
                }
            }
        }
    }

    fn answered(&mut self, reply: M::Reply, now: Moment, random: u64) {
        let unanswered = match differs(&self.request, &reply) {
            Some(field) => Some(UnknownReason::OtherReply(field, described(&reply))),
            None => copies::failed(&self.request, &answer::status(&reply), self.account.dialect())
                .map(|status| UnknownReason::Failed(status, described(&reply))),
        };
        match unanswered {
            Some(why) => self.without_result(Last::Unanswered(why), now, random),
            None => {
                let output = M::Output::from_reply(reply, self.account.dialect());
                self.end(RetryOutcome::Answered(output));
            }
        }
    }

    fn time_passed(&mut self, now: Moment) {
        let Phase::Resting { until, length } = self.state.phase else { return };
        self.state.phase = if now < until {
            // A clock that was set back must not make the pause longer.
            Phase::Resting { until: until.min(now.after(length)), length }
        } else {
            Phase::Ready
        };
    }

    /// Returns what the machine waits for, or the next request.
    fn advance(&mut self, now: Moment) -> RetryAction<M> {
        if let Some(outcome) = &self.ended {
            return Action::Done(outcome.clone());
        }
        if self.in_flight {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        match self.state.phase {
            Phase::Resting { until, .. } => Action::WaitUntil(until),
            // The machine was resumed: a request that was saved for sending counts as sent.
            Phase::Sending | Phase::Ended if !self.is_safe() => {
                self.bounds_ended();
                self.advance(now)
            }
            Phase::Ready | Phase::Sending | Phase::Ended => self.send(now),
        }
    }

    fn send(&mut self, now: Moment) -> RetryAction<M> {
        let late = self.state.sends > 0 && self.state.deadline.is_some_and(|deadline| now > deadline);
        match self.account.request_unchecked(&self.request) {
            Ok(request) if self.state.sends <= self.state.bounds.again && !late => {
                self.state.sends = self.state.sends.saturating_add(1);
                self.state.phase = Phase::Sending;
                self.in_flight = true;
                Action::Send(request)
            }
            // The bounds end the machine, or the account no longer has the credentials that it had before.
            _ => {
                self.bounds_ended();
                self.advance(now)
            }
        }
    }

    /// Handles a request that was sent and has no result.
    fn without_result(&mut self, last: Last, now: Moment, random: u64) {
        self.state.left = true;
        self.state.open |= matches!(last, Last::Unanswered(_));
        let pause = match &last {
            Last::Unanswered(_) => Some(None),
            Last::Refused(refused) if refused.remedy() == Remedy::Retry => Some(None),
            Last::Refused(refused) => wait(refused.remedy()).map(Some),
        };
        self.last = Some(last);
        match pause {
            Some(told) if self.is_safe() => self.rest(told, now, random),
            _ => self.bounds_ended(),
        }
    }

    /// Pauses for its own time, or for the time that the service asked for plus a random part of the first pause.
    fn rest(&mut self, told: Option<Duration>, now: Moment, random: u64) {
        let bounds = &self.state.bounds;
        let length = bounds.pauses.pause(told, self.state.sends.saturating_sub(1), random);
        let until = now.after(length);
        if self.state.sends > bounds.again || self.state.deadline.is_some_and(|deadline| until > deadline) {
            self.bounds_ended();
        } else {
            self.state.phase = Phase::Resting { until, length };
        }
    }

    fn bounds_ended(&mut self) {
        let outcome = match self.last.take() {
            _ if !self.state.left => RetryOutcome::NotSent,
            Some(Last::Refused(refused)) if !self.state.open => RetryOutcome::Refused(refused),
            // For example, the service refuses a second deletion because the first was executed.
            Some(Last::Refused(refused)) => return self.unknown(UnknownReason::Refused(refused)),
            Some(Last::Unanswered(why)) => return self.unknown(why),
            None => return self.unknown(UnknownReason::NoReply),
        };
        self.end(outcome);
    }

    /// Ends the request, because another machine sends it. Its own state must not say that nothing left.
    fn superseded(&mut self) {
        (self.in_flight, self.state.left, self.state.open) = (false, true, true);
        self.unknown(UnknownReason::Superseded);
    }

    fn unknown(&mut self, why: UnknownReason) {
        let reconcile = Reconcile::by_unique_reference(Some(&Expected::of(&self.request).reference));
        self.end(RetryOutcome::Unknown { reconcile, why });
    }

    fn end(&mut self, outcome: RetryOutcome<M::Output>) {
        self.state.phase = Phase::Ended;
        self.ended = Some(outcome);
    }
}

impl<M: ApiRequest<Output: Clone>> Machine for Retry<M> {
    type Input = Never;
    type Demand = Never;
    type Outcome = RetryOutcome<M::Output>;

    fn step(&mut self, event: Event, now: Moment, random: u64) -> RetryAction<M> {
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
        Some(&self.state.method)
    }

    fn label(outcome: &RetryOutcome<M::Output>) -> &'static str {
        outcome.label()
    }
}

impl Last {
    fn of(error: ReplyError, method: Class) -> Self {
        let is_safe = method == Class::Safe;
        match error {
            ReplyError::Unreadable(unreadable) => Self::Unanswered(UnknownReason::Unreadable(unreadable)),
            ReplyError::Refused(refused) if refused.leaves_it_open() => {
                Self::Unanswered(UnknownReason::MayBeExecuted(refused))
            }
            // A copy of the request may have been executed, which matters if the request must not be executed twice. An
            // unlisted code may mean that.
            ReplyError::Refused(refused) if (refused.may_be_executed() || !refused.is_known()) && !is_safe => {
                Self::Unanswered(UnknownReason::MayBeExecuted(refused))
            }
            ReplyError::Refused(refused) if !is_safe && !refused.refuses_every_copy(method) => {
                Self::Unanswered(UnknownReason::Refused(refused))
            }
            ReplyError::Refused(refused) => Self::Refused(refused),
        }
    }
}

impl<M: ApiRequest> fmt::Debug for Retry<M> {
    /// Shows only the state, since the request may contain a card.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry").field("state", &self.state).field("last", &self.last).finish_non_exhaustive()
    }
}

fn path(info: &MethodInfo) -> String {
    format!("{}/{}", info.service.name, info.name)
}
