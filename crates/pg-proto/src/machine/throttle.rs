//! Keeps an account's requests within the limits of the service, and prevents a lockout.
//!
//! **Input:** a question before each request of an account; afterwards its reply, or the information that there was no
//! reply. The time is an argument.
//!
//! **Output:** a [`Permit`]: send, wait until a time, or stop until the credentials were checked. [`Throttle`] has an
//! example.
//!
//! ```text
//!              ask               3, 102, 105, 123, or as the dialect says
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
//! - **At most [`ThrottleLimits::per_minute`] requests in any 60 seconds as the service counts them** (spec 1 §8). A
//!   request holds a slot from before it is sent until 60 seconds after its reply arrived. It was executed in between,
//!   at *e*. Take any minute of the service, from *t* - 60 s (exclusive) to *t*. Each request executed in it has *e* >
//!   *t* - 60 s, so its slot becomes free after *e* + 60 s > *t*. The slot was taken before *e* ≤ *t*, so the request
//!   holds it at *t*. At most all slots are held at *t*. (A slot is held one second longer, because two clocks count
//!   milliseconds.) A lost request has no reply to count from. It holds its slot until 61 seconds after the latest time
//!   at which it could have been executed, [`ThrottleLimits::longest_way`] after it was sent.
//! - **No lockout.** After one credential error nothing is permitted until [`Throttle::resume_sending`]. A credential
//!   error has a documented code (102, 105, 123, in version 5: 3), or one that the dialect lists as such. In version 5 the
//!   codes of version 3 count so only if the dialect has `shared_codes`, and otherwise like any other 401. Requests in
//!   flight at that time may fail as well. So failures of the last 24 hours and requests in flight together are at most
//!   [`ThrottleLimits::failures`], 5 by default: more than 5 lock the address out (spec 1 §5). Until the service has
//!   accepted the credentials once, these count as failures too: lost requests, requests whose reply is not the
//!   service's, and any other 401. If there are as many as failures are left, sending stops
//!   ([`StopReason::Unanswered`]) until they are a day old, or until [`Throttle::resume_sending`]. After the service has
//!   accepted the credentials, they stop nothing: the documents do not say which conditions have HTTP 401 (spec 1 §7).
//! - 121 and HTTP 429 stop sending for a minute, 122 for five (spec 2 §7), in version 5 too: believing them costs time only.
//! - Its memory is bounded by these limits.
//!
//! # Limits
//!
//! - The throttle sees only its own requests. It does not know of requests and failures of other programs with the same
//!   account or behind the same address, nor of requests that the network delivers twice.
//! - The throttle does not cover a lost request that is executed later than [`ThrottleLimits::longest_way`]. A clock
//!   that jumps forward frees slots early: then the service refuses requests, and no money is at risk. A clock that
//!   jumps back makes no wait longer than a request could hold a slot. Only differences count, so a monotonic clock
//!   works as well if the state is not saved.
//! - The throttle does not notice credentials that become invalid after they were accepted, if all replies are lost or
//!   have an unlisted code.
//! - Version 5 has its own credentials and states no limit (spec 3 §5, §8). If your version 5 service has a limit, use
//!   another throttle for it.
//! - If the throttle is not saved each time that it is asked and answered, a restart forgets what was sent since. Then
//!   wait a minute before you continue.
//!
//! A process should save an [`AccountThrottle`], which remembers the credentials to which a stop belongs.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use pg_model::{ApiRequest as _, Dialect, Initiate, method::ServiceInfo};
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

pub use account::{ACCOUNT_NAME, AccountThrottle};

use came_back::CameBack;
use state::{Flight, State};

/// The [name](super::SavedState::machine) of a [`Throttle`] in a saved state.
pub const NAME: &str = "throttle";
const VERSION: u32 = 1;

/// Limits of an account, for the [`Throttle`].
///
/// ```
/// use pg_proto::machine::throttle::ThrottleLimits;
///
/// // Another program sends half of the account's requests.
/// let limits = ThrottleLimits::default().per_minute(50);
/// assert_eq!((limits.per_minute, limits.failures), (50, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThrottleLimits {
    /// Maximum number of requests in any 60 seconds. Default: 100 (spec 1 §8).
    pub per_minute: u32,
    /// Maximum number of requests in flight. Default: 5. The throttle never permits more requests than failures are
    /// left.
    pub in_flight: u32,
    /// Maximum number of requests with invalid credentials within a day before the service locks the address out.
    /// Default: 5 (spec 1 §5).
    pub failures: u32,
    /// Maximum time after which a request that seems lost may still be executed. Default: two minutes (assumption
    /// A142).
    pub longest_way: Duration,
}

impl ThrottleLimits {
    /// Returns limits that never delay a request, for a service without rate limit and lockout, such as the sandbox's
    /// account `main`. A credential error still stops the account.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self { per_minute: u32::MAX, in_flight: u32::MAX, failures: u32::MAX, longest_way: Duration::from_secs(120) }
    }

    /// Sets the maximum number of requests in any 60 seconds.
    #[must_use]
    pub const fn per_minute(mut self, per_minute: u32) -> Self {
        self.per_minute = per_minute;
        self
    }

    /// Sets the maximum number of requests in flight.
    #[must_use]
    pub const fn in_flight(mut self, in_flight: u32) -> Self {
        self.in_flight = in_flight;
        self
    }

    /// Sets the maximum number of requests with invalid credentials within a day.
    #[must_use]
    pub const fn failures(mut self, failures: u32) -> Self {
        self.failures = failures;
        self
    }

    /// Sets the maximum time after which a request that seems lost may still be executed.
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

/// Keeps an account within its limits. [The module](self) lists what it promises.
///
/// ```
/// use pg_proto::machine::{Moment, throttle::{ThrottleLimits, Permit, Throttle}};
///
/// let mut throttle = Throttle::new(ThrottleLimits::default());
/// let now = Moment::from_millis(1_700_000_000_000);
/// let Permit::Go(ticket) = throttle.ask(now) else { panic!() };
/// // The request was sent, and this is the reply.
/// let response = pg_proto::http::Response::builder().status(401).body(r#"{"errorCode":"102","errorMessage":""}"#.into())?;
/// throttle.answered(ticket, &response, now);
/// assert!(matches!(throttle.ask(now), Permit::Stopped(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Throttle {
    state: State,
    /// The service that replies. Not saved.
    service: &'static ServiceInfo,
    /// Not saved.
    dialect: Arc<Dialect>,
}

/// Whether a request may be sent.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub enum Permit {
    /// Send it now, then report the result.
    Go(Ticket),
    /// Ask again at this time. If an earlier request is answered sooner, it may be useful to ask then.
    WaitUntil(Moment),
    /// Send nothing until the reason has been checked, then call [`Throttle::resume_sending`]. An
    /// [unanswered](StopReason::Unanswered) stop also ends by itself, when its requests are a day old, or when a late reply to one
    /// of them accepts the credentials.
    Stopped(StopReason),
}

/// A permitted request. A dropped ticket counts as a lost request after [`ThrottleLimits::longest_way`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "report the result of the request"]
pub struct Ticket(u64);

/// What a reply says about the credentials of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialCheck {
    /// The service accepted them.
    Accepted,
    /// It refused them.
    Refused,
    /// Neither: the service may have refused the request before it checked the credentials.
    Unknown,
}

/// Why nothing may be sent now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum StopReason {
    /// The service refused the credentials with this code.
    Credentials(String),
    /// So many requests had no readable reply, before the service ever accepted the credentials, that one more could
    /// lock the address out if they are invalid. Nothing says that they are invalid: check the address and the service.
    /// The stop ends by itself when the requests are a day old, or with [`Throttle::resume_sending`].
    Unanswered,
}

impl Throttle {
    /// Creates a throttle for new credentials.
    #[must_use]
    pub fn new(limits: ThrottleLimits) -> Self {
        Self::of(State::new(limits))
    }

    fn of(state: State) -> Self {
        Self { state, service: Initiate::INFO.service, dialect: Arc::default() }
    }

    /// Reads replies as those of a service of this version: 5, or else 3. Default: version 3. A refusal that was
    /// [already read](Self::answered_with) keeps its meaning.
    #[must_use]
    pub fn for_service(self, service: &'static ServiceInfo) -> Self {
        Self { service, ..self }
    }

    /// Reads replies according to this dialect, as [`Account::with_dialect`](crate::Account::with_dialect) does.
    /// Default: according to the documents alone.
    #[must_use]
    pub fn with_dialect(self, dialect: impl Into<Arc<Dialect>>) -> Self {
        Self { dialect: dialect.into(), ..self }
    }

    /// Resumes from a saved state. Requests that were in flight count as lost.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of a throttle.
    pub fn resume(saved: &SavedState) -> Result<Self, ResumeError> {
        let mut state: State = saved.open(NAME, VERSION)?;
        state.lose_all();
        Ok(Self::of(state))
    }

    /// Returns the state that must survive a crash. It contains no request and no credentials.
    #[must_use]
    pub fn save(&self) -> SavedState {
        SavedState::of(NAME, VERSION, &self.state)
    }

    /// Asks whether a request may be sent now.
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

    /// Reports the reply to a request.
    ///
    /// Returns what the reply says about the credentials of the request.
    pub fn answered(&mut self, ticket: Ticket, response: &http::Response<Bytes>, now: Moment) -> CredentialCheck {
        let came_back = CameBack::of(self.service, response, &self.dialect);
        self.landed(&ticket, came_back, now)
    }

    /// Reports a reply with this body that was already read, for example by [`Account::reply`](crate::Account::reply): the
    /// body is not parsed twice. Otherwise as [`answered`](Self::answered).
    pub fn answered_with<R>(
        &mut self,
        ticket: Ticket,
        body: &[u8],
        reply: &Result<R, ReplyError>,
        now: Moment,
    ) -> CredentialCheck {
        let came_back = CameBack::of_result(self.service, body, reply, &self.dialect);
        self.landed(&ticket, came_back, now)
    }

    fn landed(&mut self, ticket: &Ticket, came_back: CameBack, now: Moment) -> CredentialCheck {
        let check = match came_back {
            CameBack::Accepted => CredentialCheck::Accepted,
            CameBack::CredentialError(_) => CredentialCheck::Refused,
            CameBack::Closed(_) | CameBack::Other | CameBack::Doubtful => CredentialCheck::Unknown,
        };
        self.state.land(ticket);
        self.state.hold(now);
        self.state.learn(came_back, ticket.0 >= self.state.renewed, now);
        check
    }

    /// Reports a request that may have arrived and has no reply.
    pub fn lost(&mut self, ticket: Ticket, now: Moment) {
        // A ticket that is reported late was already counted as lost.
        if let Some(flight) = self.state.land(&ticket) {
            self.state.lose(Flight { sent: flight.sent.min(now), ..flight });
        }
    }

    /// Reports a request that certainly never left: it no longer counts in any limit.
    pub fn unsent(&mut self, ticket: Ticket) {
        self.state.land(&ticket);
    }

    /// Permits requests again, after the credentials were corrected or confirmed. Failures of the last day still count, and so do
    /// requests that were lost beside refused ones.
    pub fn resume_sending(&mut self, now: Moment) {
        self.state.tidy(now);
        self.state.resume();
    }

    /// Returns why nothing is permitted at this time, if the throttle is stopped.
    pub fn stopped_at(&mut self, now: Moment) -> Option<StopReason> {
        self.state.tidy(now);
        self.state.why_stopped()
    }

    /// Returns why nothing is permitted, if the throttle is stopped. A stop that has ended by itself since the last
    /// request is still returned; [`stopped_at`](Self::stopped_at) does not return it.
    #[must_use]
    pub fn stopped(&self) -> Option<&StopReason> {
        self.state.stopped.as_ref()
    }
}

impl fmt::Debug for Throttle {
    /// Does not show the dialect, which has a hundred lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Throttle")
            .field("state", &self.state)
            .field("service", &self.service.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Credentials(code) => {
                write!(f, "the service refused the credentials ({code}): nothing is sent until they are corrected")
            }
            Self::Unanswered => f.write_str(
                "too many requests without a readable reply before the service ever accepted the credentials; nothing is \
                 sent, because one more could lock the address out if they are wrong; check the address and the service; \
                 sending continues a day after these requests, or when it is resumed",
            ),
        }
    }
}

impl std::error::Error for StopReason {}
