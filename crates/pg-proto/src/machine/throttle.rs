//! Throttle: the account's requests stay within what the service allows, and never reach a lockout.
//!
//! **Goes in:** before each request of an account, a question; after it, its reply, or that there is none. Time as an
//! argument.
//!
//! **Comes out:** a [`Permit`]: go, wait until then, or stop until the credentials were checked.
//!
//! ```text
//!              ask                    102, 105, 123, or any 401
//!   Open ──────────────▶ Go(ticket) ───────────────────────────▶ Stopped ── resume_sending ──▶ Open
//!    ▲ │ all slots or places taken         │ 121, 429: a minute; 122: five
//!    │ ▼                                   ▼
//!   WaitUntil ◀──────────────────────── Closed
//!
//!   a slot   taken ─── sent ······ executed ······ reply ──── 61 s ──── free
//!   a place  taken ─── sent ······················ reply  free, or lost for the day after a failure
//! ```
//!
//! # Promises
//!
//! - **At most [`ThrottleLimits::per_minute`] requests in any 60 seconds as the service sees them** (spec 1 §8). A request holds a slot
//!   from before it is sent until 60 seconds after its reply came; it was executed in between, at *e*. Take any minute of the
//!   service, from *t* - 60 s (exclusive) to *t*. Each request executed in it has *e* > *t* - 60 s, so its slot is free
//!   again only after *e* + 60 s > *t*, and was taken before *e* ≤ *t*: it holds its slot at *t*. No more slots are
//!   held at *t* than there are. (A slot is held one second more, since two clocks count milliseconds.) A lost request
//!   has no reply to count from: it holds its slot until 61 seconds after it could have been executed at the latest,
//!   [`ThrottleLimits::longest_way`] after it was sent.
//! - **No lockout.** After one credential error nothing is permitted until [`Throttle::resume_sending`]. Requests that are in
//!   flight then may fail as well, so there are never more of them than failures left: failures of the last 24 hours and
//!   requests in flight together are at most [`ThrottleLimits::failures`], 5 by default, because more than 5 lock the address out
//!   (spec 1 §5). Until the service has accepted the credentials once, lost requests, and those whose
//!   reply is not the service's, count as unseen failures.
//! - 121 and 429 close it for a minute, 122 for five (spec 2 §7).
//! - Everything that it holds is bounded by these limits.
//!
//! # Does not promise
//!
//! - It sees its own requests only. Other programs with the same account, or behind the same address, take slots and
//!   make failures that it does not know, and so does a network that delivers a request twice.
//! - A lost request that is executed later than the longest way. A clock that jumps forward frees slots early: then the
//!   service refuses, and no money is at stake. One that jumps back makes no wait longer than a request could hold
//!   a slot. Only differences count, so a clock that never jumps serves as well, as long as the state is not stored.
//! - Credentials that the service accepted and that stop being valid while, one after the other, all replies are lost.
//! - Version 5 has credentials of its own and states no limit (spec 3 §5, §8). Where it is throttled, it takes another
//!   throttle.
//! - Stored less often than it is asked and answered, it has forgotten what was sent since: wait a minute before going on.
//!
//! What a process should store is an [`AccountThrottle`]: it knows whose credentials a stop is about.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use pg_model::Dialect;
use serde::{Deserialize, Serialize};

use crate::{
    ReplyError,
    machine::{Moment, ResumeError, SavedState},
};

mod account;
mod came_back;
mod state;
#[cfg(test)]
mod tests;

pub use account::AccountThrottle;

use came_back::CameBack;
use state::{Flight, State};

const NAME: &str = "throttle";
const VERSION: u32 = 1;

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThrottleLimits {
    /// Requests in any 60 seconds. Default: 100 (spec 1 §8).
    pub per_minute: u32,
    /// Requests in flight at the same time. Default: 5. It never permits more than failures are left.
    pub in_flight: u32,
    /// Requests with invalid credentials that the service takes within a day without locking the address out. Default: 5
    /// (spec 1 §5).
    pub failures: u32,
    /// The longest time after which a request that seems lost may still be executed. Default: two minutes (assumption A142).
    pub longest_way: Duration,
}

impl ThrottleLimits {
    /// Limits that hold nothing back, for a service without rate limit and lockout, such as the sandbox's account `main`. A credential
    /// error stops the account all the same.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self { per_minute: u32::MAX, in_flight: u32::MAX, failures: u32::MAX, longest_way: Duration::from_secs(120) }
    }

    /// Requests in any 60 seconds.
    #[must_use]
    pub const fn per_minute(mut self, per_minute: u32) -> Self {
        self.per_minute = per_minute;
        self
    }

    /// Requests in flight at the same time.
    #[must_use]
    pub const fn in_flight(mut self, in_flight: u32) -> Self {
        self.in_flight = in_flight;
        self
    }

    /// Requests with invalid credentials that the service takes within a day without locking the address out.
    #[must_use]
    pub const fn failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// The longest time after which a request that seems lost may still be executed.
    #[must_use]
    pub const fn longest_way(mut self, longest_way: Duration) -> Self {
        self.longest_way = longest_way;
        self
    }
}

impl Default for ThrottleLimits {
    fn default() -> Self {
        Self { per_minute: 100, in_flight: 5, failures: 5, longest_way: Duration::from_secs(120) }
    }
}

/// Keeps an account within its limits; see [the module](self).
///
/// ```
/// use pg_proto::machine::{Moment, throttle::{ThrottleLimits, Permit, Throttle}};
///
/// let mut throttle = Throttle::new(ThrottleLimits::default());
/// let now = Moment::from_millis(1_700_000_000_000);
/// let Permit::Go(ticket) = throttle.ask(now) else { panic!() };
/// // The request was sent, and this came back.
/// let response = pg_proto::http::Response::builder().status(401).body(r#"{"errorCode":"102","errorMessage":""}"#.into())?;
/// throttle.answered(ticket, &response, now);
/// assert!(matches!(throttle.ask(now), Permit::Stopped(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    state: State,
    dialect: Arc<Dialect>,
}

/// Whether a request may be sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Permit {
    /// Send it now, then say what became of it.
    Go(Ticket),
    /// Ask again at this time. When an earlier request is answered before, it may be worth asking then.
    WaitUntil(Moment),
    /// Send nothing until the reason was looked at, then call [`Throttle::resume_sending`]. One that is
    /// [unanswered](StopReason::Unanswered) passes when all of that is a day old.
    Stopped(StopReason),
}

/// A request that was permitted. A ticket that gets lost counts as a lost request after the longest way.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "say what became of the request"]
pub struct Ticket(u64);

/// Why nothing is permitted at present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StopReason {
    /// The service refused the credentials with this code, which is empty if it named none.
    Credentials(String),
    /// So many requests were lost that, if the credentials are wrong, one more could lock the address out; and the service
    /// has not accepted the credentials yet.
    Unanswered,
}

impl Throttle {
    /// A throttle that has seen nothing yet.
    #[must_use]
    pub fn new(limits: ThrottleLimits) -> Self {
        Self { state: State::new(limits), dialect: Arc::default() }
    }

    /// Reads replies by this dialect, as [`Account::with_dialect`](crate::Account::with_dialect) does; by the documents alone without.
    #[must_use]
    pub fn with_dialect(self, dialect: impl Into<Arc<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Goes on from what was stored. Requests that were in flight count as lost.
    ///
    /// # Errors
    /// When that is no throttle's state.
    pub fn resume(saved: &SavedState) -> Result<Self, ResumeError> {
        let mut state: State = saved.open(NAME, VERSION)?;
        state.lose_all();
        Ok(Self { state, dialect: Arc::default() })
    }

    /// Everything that has to survive a crash. It holds no request and no credentials.
    #[must_use]
    pub fn save(&self) -> SavedState {
        SavedState::of(NAME, VERSION, &self.state)
    }

    /// Whether a request may be sent now.
    pub fn ask(&mut self, now: Moment) -> Permit {
        let state = &mut self.state;
        state.tidy(now);
        if let Some(stop) = state.why_stopped() {
            return Permit::Stopped(stop);
        }
        if let Some(until) = state.why_waiting() {
            return Permit::WaitUntil(until);
        }
        let ticket = state.next;
        state.next = state.next.wrapping_add(1);
        state.flights.push(Flight { ticket, sent: now });
        Permit::Go(Ticket(ticket))
    }

    /// The request was answered.
    pub fn answered(&mut self, ticket: Ticket, response: &http::Response<Bytes>, now: Moment) {
        let came_back = CameBack::of(response, &self.dialect);
        self.landed(&ticket, came_back, now);
    }

    /// As [`answered`](Self::answered), for a reply that was read already, as by [`Account::reply`](crate::Account::reply): the body is not
    /// parsed twice.
    pub fn answered_with<R>(&mut self, ticket: Ticket, reply: &Result<R, ReplyError>, now: Moment) {
        let came_back = CameBack::of_result(reply, &self.dialect);
        self.landed(&ticket, came_back, now);
    }

    fn landed(&mut self, ticket: &Ticket, came_back: CameBack, now: Moment) {
        self.state.land(ticket);
        self.state.hold(now);
        self.state.learn(came_back, ticket.0 >= self.state.renewed, now);
    }

    /// The request may have arrived and has no reply.
    pub fn lost(&mut self, ticket: Ticket, now: Moment) {
        // One that is told late was lost already.
        if let Some(flight) = self.state.land(&ticket) {
            self.state.lose(Flight { sent: flight.sent.min(now), ..flight });
        }
    }

    /// The request certainly never left: its slot and its place are free at once.
    pub fn unsent(&mut self, ticket: Ticket) {
        self.state.land(&ticket);
    }

    /// Permits requests again: the credentials were corrected, or are known to be right. Failures of the last day still count.
    pub fn resume_sending(&mut self, now: Moment) {
        self.state.tidy(now);
        self.state.renew();
    }

    /// Why nothing is permitted, if that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<&StopReason> {
        self.state.stopped.as_ref()
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credentials(code) => {
                write!(f, "the service refused the credentials ({code}): nothing is sent until they are put right")
            }
            Self::Unanswered => f.write_str(
                "too many requests without a reply before the credentials were ever accepted: if they are wrong, one more \
                 could lock the address out",
            ),
        }
    }
}

impl std::error::Error for StopReason {}
