//! Protocols of more than one request, as state machines that a driver executes: [`charge`], [`account_update`],
//! [`three_d_secure`], [`checkout`] and [`retry`]. `pg-hyper` contains a driver; [`Machine`] shows one in 20 lines.
//!
//! A machine takes an [`Event`], the time and a random number, and returns an [`Action`]. It opens no connection, does
//! not sleep, and reads neither a clock nor random numbers. So any runtime can drive it, and a test can drive it
//! through a year in a millisecond.
//!
//! The driver promises:
//! - It starts with [`Event::Begin`], even after a resume.
//! - **Before it sends** the request of [`Action::Send`], it saves the result of [`Machine::save`] durably. Then a
//!   crash loses nothing: the resumed machine counts that request as sent. Save a machine before each [`Action::Ask`]
//!   too, if it asks its owner something. Save a machine that submits batches after each reply too, since that reply
//!   cannot be requested again. A machine that is also saved before each wait remembers for how long the service
//!   refuses requests. If the driver cannot save, it neither sends nor asks, and reports [`Failure::HeldBack`]. If the
//!   machine then asks again, the driver asks without a saved state: a crash loses the payment, but no money.
//! - If the driver compares, and the stored state is neither the one that it resumed from nor the one that it saved last, it
//!   neither sends, asks nor waits, and reports [`Failure::Superseded`].
//! - **Only one driver** works on a machine at a time, and it resumes from the state that was saved last. Two drivers
//!   that resume from one state may pay twice.
//! - It sends that request at most once, and answers with one [`Event::Reply`] or [`Event::Failed`]. Inputs that arrive
//!   meanwhile wait for that event.
//! - After [`Action::WaitUntil`] it returns with [`Event::Woken`] at that time or later, or with an input earlier. An
//!   earlier `Woken`, for example after the clock was set back, sends nothing: the machine returns what it waits for.
//! - After [`Action::Ask`] it returns with an input, or with [`Event::Woken`] at the time `until` of the demand.
//! - After [`Action::Done`] it stops. It records the outcome durably before other code acts on it. It never resumes a
//!   machine whose outcome is recorded: a resumed machine continues, and may pay.
//!
//! Saved state belongs to the account for which the machine was created: base address and identity. The machine resumes
//! with that account only, see [`Account::identity`](crate::Account::identity). With any other account, the machine
//! would look the payment up in the wrong place, find nothing, and pay again.
//!
//! Inside, every machine has three parts. `time_passed` ends the pauses and limits that are over, `handle_event`
//! records the event in the state, and `advance` returns what the state waits for, or the next request. So what happens
//! next depends only on the state, and a resumed machine continues like a machine that was never stopped.
//!
//! A machine promises to end within its bounds and never to panic. An unexpected event changes nothing: the machine
//! repeats what it waits for. While it waits for a reply, that is a [`WaitUntil`](Action::WaitUntil) the largest
//! [`Moment`]: a driver that has given up its request reports [`Failure::MaybeSent`] instead. The documentation of each machine lists its other promises.
//!
//! Times are wall-clock times, since a machine may outlive its process. If the clock jumps, a machine waits too long or
//! too briefly, but remains safe: a customer or a merchant may have less time, and a charge or an operation may end without
//! being sent again. A checkout keeps its time for late reports.

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
mod resume_error;
pub mod retry;
#[cfg(test)]
mod run;
mod saved;
mod settlement;
pub mod three_d_secure;
pub mod throttle;
mod time_limit;
mod words;

pub use pauses::Backoff;
pub use resume_error::ResumeError;
pub use saved::SavedState;
pub use settlement::{Reconcile, UnknownReason};

/// A protocol of more than one request.
///
/// A blocking driver is this loop, with your own transport, clock, random numbers and store:
///
/// ```
/// use std::time::Duration;
/// use pg_proto::{bytes::Bytes, http};
/// use pg_proto::machine::{Action, Event, Failure, Machine, Moment, Never, SavedState};
///
/// fn drive<M: Machine<Demand = Never>>(
///     machine: &mut M,
///     mut store: impl FnMut(SavedState) -> std::io::Result<()>,
///     mut send: impl FnMut(http::Request<Bytes>) -> Result<http::Response<Bytes>, Failure>,
///     mut now: impl FnMut() -> Moment,
///     mut wait: impl FnMut(Duration),
/// ) -> M::Outcome {
///     let mut event = Event::Begin;
///     loop {
///         event = match machine.step(event, now(), 4) {
///             Action::Send(request) => match store(machine.save()) {
///                 Ok(()) => send(request).map_or_else(Event::Failed, Event::Reply),
///                 // Without a saved state, a crash would lose the request.
///                 Err(_) => Event::Failed(Failure::HeldBack),
///             },
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
    /// An input from the owner of the machine, such as a received callback. Machines without inputs have [`Never`].
    type Input;
    /// A demand to the owner, such as sending the customer to a URL.
    type Demand;
    /// The outcome.
    type Outcome;

    /// Takes an event and returns the next action. `random` spreads the pauses of machines that fail together; any
    /// number is safe.
    fn step(&mut self, event: Event<Self::Input>, now: Moment, random: u64) -> Action<Self::Demand, Self::Outcome>;

    /// Returns the state that must survive a crash. It contains no card data, keys or passwords.
    fn save(&self) -> SavedState;

    /// Returns the service of the last request that [`step`](Self::step) returned. It selects the credentials of the
    /// request and the throttle that counts it.
    fn service(&self) -> &'static ServiceInfo;

    /// Returns the name of the machine for logs, such as `charge`.
    fn name(&self) -> &'static str {
        "machine"
    }

    /// Returns the subject for logs, such as the reference of a payment.
    fn subject(&self) -> Option<&str> {
        None
    }

    /// Returns one word for an outcome, for logs, such as `approved`.
    fn label(_outcome: &Self::Outcome) -> &'static str
    where
        Self: Sized,
    {
        "done"
    }
}

/// What happened. `Debug` hides the content of replies.
#[derive(Clone)]
pub enum Event<I = Never> {
    /// The start, even after a resume.
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
/// If in doubt, use [`MaybeSent`](Self::MaybeSent): it costs a lookup. A wrong `NotSent` can cause a payment that no
/// lookup searches for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Failure {
    /// The request certainly never left, or never arrived completely.
    #[error("the request was not sent")]
    NotSent,
    /// The request may have arrived, or may arrive later.
    #[error("the request may have been sent, and has no reply")]
    MaybeSent,
    /// The driver held the request back: the machine could not be saved, or nothing may be sent until an operator has
    /// corrected the credentials. Also the answer to [`Action::Ask`], if the driver did not ask because the machine
    /// could not be saved.
    #[error("the request was held back")]
    HeldBack,
    /// The driver sent nothing, because the stored state is not that of this machine: another machine, or one of an earlier
    /// run, works on the same task, and may have sent any request. Allowed at any time. It ends the machine, and an outcome
    /// that may be a payment is unknown: resume the stored state.
    #[error("another machine has stored its state")]
    Superseded,
}

/// What to do next. `Debug` shows only the method and the address of a request.
#[must_use]
#[expect(clippy::large_enum_variant, reason = "an action is taken apart where it is made")]
pub enum Action<D, O> {
    /// Save the machine, then send this request. Answer with [`Event::Reply`] or [`Event::Failed`].
    ///
    /// Never log the request: its own `Debug`, that of the crate `http`, prints card number, CV2, API key and password.
    /// [`Preview`](crate::Preview) shows it masked.
    Send(http::Request<Bytes>),
    /// Return at this time, with [`Event::Woken`], or earlier with an [`Event::Input`].
    WaitUntil(Moment),
    /// Save the machine, then answer this demand: with [`Event::Input`], with [`Event::Woken`] at the time that it states, or
    /// with [`Failure::HeldBack`] if the machine could not be saved. If the machine then asks again, ask without saving.
    Ask(D),
    /// The machine has ended with this outcome.
    Done(O),
}

/// A type without values: the input or demand of machines that have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Never {}

/// A point in time: milliseconds since 1970-01-01T00:00:00Z.
///
/// It converts from the clock of the standard library, which the driver reads:
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
    /// Returns the moment this many milliseconds after the start of 1970.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the start of 1970.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// Returns the moment that is later by `pause`, limited to the largest moment.
    #[must_use]
    pub fn after(self, pause: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(pause.as_millis()).unwrap_or(u64::MAX)))
    }

    /// Returns the time since `earlier`, or zero if that is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// Converts a time; a time before 1970 becomes the start of 1970.
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
