//! Drives a machine: a loop of actions and events.

use std::{
    thread,
    time::{Duration, SystemTime},
};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::machine::{Action, Event, Failure, Machine, Moment, Never};

/// Drives a machine to its end without async.
///
/// It saves nothing, so a crash loses the machine's state; `kept_in_a_file` saves it.
pub fn drive<M: Machine<Demand = Never>>(
    mut machine: M,
    mut send: impl FnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure>,
) -> M::Outcome {
    let mut event = Event::Begin;
    loop {
        event = match machine.step(event, now(), random()) {
            Action::Send(request) => send(request).map_or_else(Event::Failed, Event::Reply),
            Action::WaitUntil(moment) => {
                wait(moment.since(now()));
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(outcome) => return outcome,
        };
    }
}

/// The same in any runtime, whose timer is `sleep`.
pub async fn drive_async<M: Machine<Demand = Never>>(
    mut machine: M,
    mut send: impl AsyncFnMut(Request<Bytes>) -> Result<Response<Bytes>, Failure>,
    mut sleep: impl AsyncFnMut(Duration),
) -> M::Outcome {
    let mut event = Event::Begin;
    loop {
        event = match machine.step(event, now(), random()) {
            Action::Send(request) => send(request).await.map_or_else(Event::Failed, Event::Reply),
            Action::WaitUntil(moment) => {
                sleep(moment.since(now())).await;
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(outcome) => return outcome,
        };
    }
}

/// A failure whose request was certainly not sent, with its reason.
pub fn not_sent(why: impl std::fmt::Display) -> Failure {
    eprintln!("not sent: {why}");
    Failure::NotSent
}

/// A failure whose request may have arrived, with its reason.
pub fn maybe_sent(why: impl std::fmt::Display) -> Failure {
    eprintln!("maybe sent: {why}");
    Failure::MaybeSent
}

/// The current time.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the driver is where time comes in")]
pub fn now() -> Moment {
    Moment::default().after(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// A random number. A machine keeps its guarantees with any number.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the driver is where randomness comes in")]
pub fn random() -> u64 {
    getrandom::u64().unwrap_or_default()
}

/// Waits.
#[expect(clippy::disallowed_methods, reason = "the driver waits, so that machines need not")]
pub fn wait(pause: Duration) {
    thread::sleep(pause);
}
