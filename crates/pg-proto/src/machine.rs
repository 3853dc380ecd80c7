//! Protocols of more than one request, as state machines that a driver executes: [`charge`], [`account_update`],
//! [`three_d_secure`], [`checkout`] and [`retry`]. `pg-hyper` has a driver; [`Machine`] shows one in 20 lines.
//!
//! What goes in: an [`Event`], the time and a random number. What comes out: an [`Action`]. A machine opens no connection,
//! sleeps never, reads no clock and rolls no dice, so any runtime can drive it, and a test can drive it through a year in
//! a millisecond.
//!
//! What the driver promises:
//! - it begins with [`Event::Begin`], also after a machine was resumed;
//! - **before it sends** what [`Action::Send`] says, it stores what [`Machine::save`] returns, durably. Then no crash loses
//!   anything: the machine that is resumed from it takes that request for sent. A machine that asks its owner something
//!   is stored before each [`Action::Ask`] too, and one that submits batches after each reply, since what the reply said
//!   can't be asked for again. Stored before each wait as well, it does not forget for how long the service wants no
//!   request. What can't be stored is not sent, and not asked before the machine was told [`Failure::HeldBack`];
//! - it sends that request at most once, and answers with one [`Event::Reply`] or [`Event::Failed`]. Inputs that come
//!   meanwhile wait until then;
//! - after [`Action::WaitUntil`] it comes back with [`Event::Woken`] at that time or later, or with an input before;
//! - after [`Action::Ask`] it comes back with an input;
//! - after [`Action::Done`] it is finished. Its outcome is recorded durably before any code acts on it, and no machine of which
//!   an outcome was noted is resumed, since one that is resumed goes on, and may pay.
//!
//! What is saved belongs to the account that the machine was made for: base address and identity. It resumes with that
//! account only, see [`Account::identity`](crate::Account::identity); any other would look the payment up in the wrong
//! books, find nothing, and pay again.
//!
//! What a machine promises: it ends, within the bounds that it was given; it never panics, and an event that does not fit
//! changes nothing: it says again what it waits for. What else it promises stands at the top of its file.
//!
//! Time is the wall clock's, since a machine may outlive its process. A clock that jumps makes a machine wait too long or
//! too briefly; it never makes it unsafe.

use std::{fmt, time::Duration};

use bytes::Bytes;
use pg_model::method::ServiceInfo;
use serde::{Deserialize, Serialize};

pub mod account_update;
mod attempts;
mod books;
mod calendar;
pub mod charge;
pub mod checkout;
mod exchange;
mod pauses;
pub mod retry;
#[cfg(test)]
mod run;
mod saved;
mod settlement;
pub mod three_d_secure;
pub mod throttle;
mod words;

pub use pauses::Backoff;
pub use saved::{ResumeError, SavedState};
pub use settlement::{Reconcile, UnknownReason};

/// A protocol of more than one request.
///
/// A driver without async is this loop, with a transport, a clock, dice and a store of its own:
///
/// ```
/// use std::time::Duration;
/// use pg_proto::{bytes::Bytes, http};
/// use pg_proto::machine::{Action, Event, Failure, Machine, Moment, Never, SavedState};
///
/// fn drive<M: Machine<Demand = Never>>(
///     machine: &mut M,
///     mut store: impl FnMut(SavedState),
///     mut send: impl FnMut(http::Request<Bytes>) -> Result<http::Response<Bytes>, Failure>,
///     mut now: impl FnMut() -> Moment,
///     mut wait: impl FnMut(Duration),
/// ) -> M::Outcome {
///     let mut event = Event::Begin;
///     loop {
///         event = match machine.step(event, now(), 4) {
///             Action::Send(request) => {
///                 store(machine.save());
///                 send(request).map_or_else(Event::Failed, Event::Reply)
///             }
///             Action::WaitUntil(moment) => {
///                 wait(moment.since(now()));
///                 Event::Woken
///             }
///             Action::Ask(never) => match never {},
///             Action::Done(outcome) => return outcome,
///         };
///     }
/// }
/// ```
pub trait Machine {
    /// Input from its owner, such as a received callback. Machines without input have [`Never`].
    type Input;
    /// A demand to its owner, such as sending the customer to a URL.
    type Demand;
    /// Its result.
    type Outcome;

    /// Takes an event and returns the next action. `random` spreads the pauses of machines that fail together; every number is
    /// safe.
    fn step(&mut self, event: Event<Self::Input>, now: Moment, random: u64) -> Action<Self::Demand, Self::Outcome>;

    /// The state that must survive a crash, without card data, keys and passwords.
    fn save(&self) -> SavedState;

    /// The service of the last request that [`step`](Self::step) returned. It determines which credentials of the account the
    /// request has, and which throttle counts it.
    fn service(&self) -> &'static ServiceInfo;

    /// The name of the machine, for logs: `charge`, for example.
    fn name(&self) -> &'static str {
        "machine"
    }

    /// Its subject, for logs: the reference of a payment, for example.
    fn subject(&self) -> Option<&str> {
        None
    }

    /// One word for an outcome, for logs: `approved`, for example.
    fn label(_outcome: &Self::Outcome) -> &'static str {
        "done"
    }
}

/// An event. `Debug` hides the content of replies.
#[derive(Clone)]
pub enum Event<I = Never> {
    /// The start, also after a resume.
    Begin,
    /// The reply to the last request.
    Reply(http::Response<Bytes>),
    /// The last request has no reply.
    Failed(Failure),
    /// The time to wait is over.
    Woken,
    /// Input from the machine's owner.
    Input(I),
}

/// Why there is no reply.
///
/// In doubt it is [`MaybeSent`](Self::MaybeSent), which costs a lookup. A `NotSent` that is not true can cost a payment that
/// no lookup looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Failure {
    /// The request certainly never left, or never became whole on the other side.
    #[error("the request was not sent")]
    NotSent,
    /// It may have arrived, or may still arrive.
    #[error("the request may have been sent, and has no reply")]
    MaybeSent,
    /// It was held back: the machine could not be stored, or nothing may be sent until an operator has put the credentials
    /// right. Of a question, too: it was not asked, since the machine could not be stored.
    #[error("the request was held back")]
    HeldBack,
}

/// What to do next. `Debug` shows nothing of what a request says but its method and address.
#[must_use]
#[expect(clippy::large_enum_variant, reason = "an action is taken apart where it is made")]
pub enum Action<D, O> {
    /// Store the machine, then send this.
    Send(http::Request<Bytes>),
    /// Come back at this time.
    WaitUntil(Moment),
    /// Answer this.
    Ask(D),
    /// It is over.
    Done(O),
}

/// No value: what a machine takes or asks that takes or asks nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// A moment: milliseconds since the beginning of 1970, UTC.
///
/// From a clock of the standard library, which the driver of the machine reads:
///
/// ```
/// use std::time::{Duration, SystemTime};
/// use pg_proto::machine::Moment;
///
/// assert_eq!(Moment::from(SystemTime::UNIX_EPOCH + Duration::from_secs(2)).millis(), 2_000);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// The moment that lies so many milliseconds after the beginning of 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the beginning of 1970.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The moment that much later; at the end of time, the end of time.
    #[must_use]
    pub fn after(self, pause: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
    }

    /// The time since `earlier`; none when that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A time before 1970 is the beginning of 1970.
impl From<std::time::SystemTime> for Moment {
    fn from(time: std::time::SystemTime) -> Self {
        Self::default().after(time.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap_or_default())
    }
}

impl<I: fmt::Debug> fmt::Debug for Event<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin => f.write_str("Begin"),
            Self::Reply(response) => f.debug_tuple("Reply").field(&response.status()).finish(),
            Self::Failed(failure) => f.debug_tuple("Failed").field(failure).finish(),
            Self::Woken => f.write_str("Woken"),
            Self::Input(input) => f.debug_tuple("Input").field(input).finish(),
        }
    }
}

impl<D: fmt::Debug, O: fmt::Debug> fmt::Debug for Action<D, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(request) => f.debug_tuple("Send").field(request.method()).field(request.uri()).finish(),
            Self::WaitUntil(moment) => f.debug_tuple("WaitUntil").field(moment).finish(),
            Self::Ask(demand) => f.debug_tuple("Ask").field(demand).finish(),
            Self::Done(outcome) => f.debug_tuple("Done").field(outcome).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_body_is_shown() {
        let request =
            http::Request::post("https://gateway.example/v3/transaction/auth").body(Bytes::from("secret")).unwrap();
        let action: Action<Never, ()> = Action::Send(request);
        assert_eq!(format!("{action:?}"), "Send(POST, https://gateway.example/v3/transaction/auth)");
        let event: Event = Event::Reply(http::Response::new(Bytes::from("secret")));
        assert_eq!(format!("{event:?}"), "Reply(200)");
    }

    #[test]
    fn moments_end_rather_than_wrap() {
        let late = Moment::from_millis(u64::MAX - 1);
        assert_eq!(late.after(Duration::from_secs(1)).millis(), u64::MAX);
        assert_eq!(late.after(Duration::MAX).millis(), u64::MAX);
        assert_eq!(Moment::from_millis(5).since(late), Duration::ZERO);
        assert_eq!(Moment::from_millis(1_500).since(Moment::from_millis(500)), Duration::from_secs(1));
    }
}
