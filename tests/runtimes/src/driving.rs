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

/// Says why there is no reply, and certainly will be none.
pub fn not_sent(why: impl std::fmt::Display) -> Failure {
    eprintln!("not sent: {why}");
    Failure::NotSent
}

/// Says why there is no reply, though the request may have arrived.
pub fn maybe_sent(why: impl std::fmt::Display) -> Failure {
    eprintln!("maybe sent: {why}");
    Failure::MaybeSent
}

/// What time it is.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the driver is where time comes in")]
pub fn now() -> Moment {
    Moment::default().after(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// Some number; any keeps every promise of a machine.
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
