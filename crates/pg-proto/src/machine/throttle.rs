//! Throttle: the account's requests stay within what the service allows, and never reach a lockout.
//!
//! **Goes in:** before each request of an account, a question; after it, its reply, or that there is none. Time as an
//! argument.
//!
//! **Comes out:** a [`Permit`]: go, wait until then, or stop until somebody has looked at the credentials.
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
//! - **At most [`Limits::per_minute`] requests in any 60 seconds as the service sees them** (spec 1 §8). A request holds a slot
//!   from before it is sent until 60 seconds after its reply came; it was executed in between, at *e*. Take any minute of the
//!   service, from *t* - 60 s (exclusive) to *t*. Each request executed in it has *e* > *t* - 60 s, so its slot is free
//!   again only after *e* + 60 s > *t*, and was taken before *e* ≤ *t*: it holds its slot at *t*. No more slots are
//!   held at *t* than there are. (A slot is held one second more, since two clocks count milliseconds.) A lost request
//!   has no reply to count from: it holds its slot until 61 seconds after it could have been executed at the latest,
//!   [`Limits::longest_way`] after it was sent.
//! - **No lockout.** After one credential error nothing is permitted until [`Throttle::resume_sending`]. Requests that are in
//!   flight then may fail as well, so there are never more of them than failures left: failures of the last 24 hours and
//!   requests in flight together are at most [`Limits::failures`], 5 by default, because more than 5 lock the address out
//!   (spec 1 §5). Until the service has accepted the credentials once, lost requests count as failures that nobody saw.
//! - 121 and 429 close it for a minute, 122 for five (spec 2 §7).
//! - Everything that it holds is bounded by these limits.
//!
//! # Does not promise
//!
//! - It sees its own requests only. Other programs with the same account, or behind the same address, take slots and
//!   make failures that it does not know, and so does a network that delivers a request twice.
//! - A lost request that is executed later than the longest way. A clock that jumps forward frees slots early: then the
//!   service refuses, and no money is at stake. One that jumps back makes nobody wait longer than a request could hold
//!   a slot. Only differences count, so a clock that never jumps serves as well, as long as the state is not stored.
//! - Credentials that the service accepted and that stop being valid while, one after the other, all replies are lost.
//! - Version 5 has credentials of its own and states no limit (spec 3 §5, §8). Where it is throttled, it takes another
//!   throttle.
//! - Stored less often than it is asked, it has forgotten what was sent since: wait a minute before going on.

use std::{fmt, time::Duration};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::machine::{Moment, ResumeError, Saved};

mod came_back;
#[cfg(test)]
mod tests;

use came_back::CameBack;

const NAME: &str = "throttle";
const VERSION: u32 = 1;
/// A minute as the service counts it, and a second for two clocks that round and drift.
const WINDOW: Duration = Duration::from_secs(61);
/// A day as the service counts it, and the same second.
const DAY: Duration = Duration::from_secs(24 * 60 * 60 + 1);
/// The longest time that a reply closes it for.
const LONGEST_CLOSED: Duration = Duration::from_secs(301);

/// What an account may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Requests in any 60 seconds. Default: 100 (spec 1 §8).
    pub per_minute: u32,
    /// Requests in flight at the same time. Default: 5. It never permits more than failures are left.
    pub in_flight: u32,
    /// Requests with invalid credentials that the service takes within a day without locking the address out. Default: 5
    /// (spec 1 §5).
    pub failures: u32,
    /// The longest time after which a request that seems lost may still be executed. Default: two minutes.
    pub longest_way: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { per_minute: 100, in_flight: 5, failures: 5, longest_way: Duration::from_secs(120) }
    }
}

/// Keeps an account within its limits; see [the module](self).
///
/// ```
/// use pg_proto::machine::{Moment, throttle::{Limits, Permit, Throttle}};
///
/// let mut throttle = Throttle::new(Limits::default());
/// let now = Moment::from_millis(1_700_000_000_000);
/// let Permit::Go(ticket) = throttle.ask(now) else { panic!() };
/// // The request was sent, and this came back.
/// let response = http::Response::builder().status(401).body(r#"{"errorCode":"102","errorMessage":""}"#.into())?;
/// throttle.answered(ticket, &response, now);
/// assert!(matches!(throttle.ask(now), Permit::Stopped(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Throttle {
    state: State,
}

/// Whether a request may be sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Permit {
    /// Send it now, then say what became of it.
    Go(Ticket),
    /// Ask again at this time. When an earlier request is answered before, it may be worth asking then.
    WaitUntil(Moment),
    /// Send nothing until somebody has looked at it and called [`Throttle::resume_sending`].
    Stopped(Stop),
}

/// A request that was permitted. A ticket that gets lost counts as a lost request after the longest way.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "say what became of the request"]
pub struct Ticket(u64);

/// Why nothing is permitted until somebody has looked at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Stop {
    /// The service refused the credentials with this code, which is empty if it named none.
    Credentials(String),
    /// So many requests were lost that, if the credentials are wrong, one more could lock the address out; and the service
    /// has not accepted the credentials yet.
    Unanswered,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    limits: Limits,
    next: u64,
    /// Tickets before this one were given to the credentials that were wrong.
    renewed: u64,
    flights: Vec<Flight>,
    /// When slots of requests that have ended become free.
    slots: Vec<Moment>,
    /// Failures of the last day: when each happened at the latest.
    failures: Vec<Moment>,
    /// Requests that were lost since the credentials were accepted last, no more than matter: when each was executed at the
    /// latest.
    unanswered: Vec<Moment>,
    /// The service has accepted the credentials.
    accepted: bool,
    stopped: Option<Stop>,
    closed_until: Option<Moment>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Flight {
    ticket: u64,
    sent: Moment,
}

impl Throttle {
    /// A throttle that has seen nothing yet.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        let state = State {
            limits,
            next: 0,
            renewed: 0,
            flights: Vec::new(),
            slots: Vec::new(),
            failures: Vec::new(),
            unanswered: Vec::new(),
            accepted: false,
            stopped: None,
            closed_until: None,
        };
        Self { state }
    }

    /// Goes on from what was stored. Requests that were in flight count as lost.
    ///
    /// # Errors
    /// When that is no throttle's state.
    pub fn resume(saved: &Saved) -> Result<Self, ResumeError> {
        let mut state: State = saved.open(NAME, VERSION)?;
        for flight in std::mem::take(&mut state.flights) {
            state.lose(flight);
        }
        Ok(Self { state })
    }

    /// Everything that has to survive a crash. It holds no request and no credentials.
    #[must_use]
    pub fn save(&self) -> Saved {
        Saved::of(NAME, VERSION, &self.state)
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
        self.state.land(&ticket);
        self.state.slots.push(now.after(WINDOW));
        self.state.learn(CameBack::from(response), ticket.0 >= self.state.renewed, now);
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

    /// Somebody has put the credentials right, or knows that they are. Failures of the last day still count.
    pub fn resume_sending(&mut self, now: Moment) {
        self.state.tidy(now);
        self.state.stopped = None;
        self.state.renewed = self.state.next;
        self.state.accepted = false;
        self.state.unanswered.clear();
    }

    /// Why nothing is permitted, if that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<&Stop> {
        self.state.stopped.as_ref()
    }
}

impl State {
    /// Drops what no longer counts, and what only a clock that was set back could have made.
    fn tidy(&mut self, now: Moment) {
        let latest = now.after(self.limits.longest_way);
        let longest = latest.after(WINDOW);
        self.slots.retain_mut(|free| {
            *free = (*free).min(longest);
            *free > now
        });
        for failure in self.failures.iter_mut().chain(&mut self.unanswered) {
            *failure = (*failure).min(latest);
        }
        self.failures.retain(|failure| failure.after(DAY) > now);
        self.unanswered.retain(|lost| lost.after(DAY) > now);
        let reopens = now.after(LONGEST_CLOSED);
        self.closed_until = self.closed_until.map(|until| until.min(reopens)).filter(|until| *until > now);
        for mut flight in std::mem::take(&mut self.flights) {
            flight.sent = flight.sent.min(now);
            if flight.sent.after(self.limits.longest_way) > now { self.flights.push(flight) } else { self.lose(flight) }
        }
    }

    fn why_stopped(&mut self) -> Option<Stop> {
        let doubt = !self.accepted && !self.unanswered.is_empty();
        if self.stopped.is_none() && doubt && self.flights.is_empty() && self.failures_left() > 0 && self.places() == 0
        {
            self.stopped = Some(Stop::Unanswered);
        }
        self.stopped.clone()
    }

    fn why_waiting(&self) -> Option<Moment> {
        let landed = || self.flights.iter().map(|flight| flight.sent.after(self.limits.longest_way)).min();
        if self.closed_until.is_some() {
            return self.closed_until;
        }
        if self.failures_left() == 0 {
            // With a limit of no failures at all, nothing is ever permitted.
            let oldest = self.failures.iter().min();
            return Some(oldest.map_or(Moment::from_millis(u64::MAX), |oldest| oldest.after(DAY)));
        }
        if self.flights.len() >= self.places() {
            return Some(landed().unwrap_or(Moment::from_millis(u64::MAX)));
        }
        if self.flights.len() + self.slots.len() >= size(self.limits.per_minute) {
            let free = self.slots.iter().copied().chain(landed()).min();
            return Some(free.unwrap_or(Moment::from_millis(u64::MAX)));
        }
        None
    }

    fn failures_left(&self) -> usize {
        size(self.limits.failures).saturating_sub(self.failures.len())
    }

    /// How many requests may be in flight.
    fn places(&self) -> usize {
        let doubtful = if self.accepted { 0 } else { self.unanswered.len() };
        self.failures_left().saturating_sub(doubtful).min(size(self.limits.in_flight))
    }

    fn land(&mut self, ticket: &Ticket) -> Option<Flight> {
        let at = self.flights.iter().position(|flight| flight.ticket == ticket.0)?;
        Some(self.flights.swap_remove(at))
    }

    fn lose(&mut self, flight: Flight) {
        let latest = flight.sent.after(self.limits.longest_way);
        self.slots.push(latest.after(WINDOW));
        if self.unanswered.len() < size(self.limits.failures) {
            self.unanswered.push(latest);
        }
    }

    /// `current`: the request bore the credentials that are in use now.
    fn learn(&mut self, came_back: CameBack, current: bool, now: Moment) {
        match came_back {
            CameBack::Accepted if current && self.stopped.is_none() => {
                // Whatever was lost before bore the same credentials.
                self.accepted = true;
                self.unanswered.clear();
            }
            CameBack::CredentialError(code) => {
                self.failures.push(now);
                if current {
                    // What was lost before may have failed in the same way.
                    self.failures.append(&mut self.unanswered);
                    self.accepted = false;
                    self.stopped = Some(Stop::Credentials(code));
                }
            }
            CameBack::Closed(pause) => self.closed_until = self.closed_until.max(Some(now.after(pause))),
            CameBack::Accepted | CameBack::Other => {}
        }
    }
}

impl fmt::Display for Stop {
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

impl std::error::Error for Stop {}

fn size(limit: u32) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX)
}
