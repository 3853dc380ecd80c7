//! Drives a survey over the network, with its progress on a terminal.

use std::{
    hash::{BuildHasher as _, Hasher as _},
    io::{IsTerminal, stderr},
    time::Duration,
};

use bytes::Bytes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use pg_hyper::{Clock as _, DurableFile, SystemClock, Transport as _, TransportError};
use pg_proto::machine::{Action, Event, Failure as NoReply, Moment};
use pg_survey::Survey;

use crate::{
    command::{self, interrupt::Interrupted},
    failure::{Exit, Failure},
    output,
    transport::{RedactingTransport, connection_advice},
};

/// The shortest wait that is reported.
const LONG: Duration = Duration::from_secs(2);

/// Generates unused references.
#[expect(clippy::disallowed_methods, reason = "randomness enters the program in its commands")]
pub(super) fn seed() -> u64 {
    std::hash::RandomState::new().build_hasher().finish()
}

/// Drives the survey until it ends or is interrupted. After an interruption the result has the findings so far. The
/// throttle is stored before each request and at the end; if that fails, the survey ends, and the failure comes with its findings.
///
/// # Errors
/// If the throttle cannot be stored, or an address is insecure, before anything was found.
pub(super) fn drive(
    mut survey: Survey,
    transport: &RedactingTransport,
    throttle: Option<&DurableFile>,
) -> Result<(Survey, Option<Failure>), Failure> {
    let (bar, clock) = (Bar::new(survey.progress().total), SystemClock::default());
    let done = command::block_on(async {
        let interrupted = Interrupted::listen()?;
        tokio::select! {
            done = to_the_end(&mut survey, &bar, transport, &clock, throttle) => done.map(|()| false),
            () = interrupted.wait() => Ok(true),
        }
    });
    bar.end();
    let done = match done {
        Err(failure) if survey.progress().done == 0 => return Err(failure),
        Ok(false) => Ok(()),
        interrupted => {
            survey.interrupt(clock.now());
            interrupted.map(drop)
        }
    };
    let failure = done.and_then(|()| store(&survey, throttle)).err();
    // Its findings are reported, so this is no misuse.
    let failure = failure.map(|failure| Failure::new(Exit::Unknown, failure.message()));
    Ok((survey, failure))
}

fn store(survey: &Survey, throttle: Option<&DurableFile>) -> Result<(), Failure> {
    let Some(file) = throttle else { return Ok(()) };
    file.write(survey.saved_throttle().text()).map_err(|error| {
        let file = file.path().display();
        Failure::misuse(format!(
            "cannot store the state of the rate limit in {file}: {error}; choose another --throttle FILE"
        ))
    })
}

async fn to_the_end(
    survey: &mut Survey,
    bar: &Bar,
    transport: &RedactingTransport,
    clock: &SystemClock,
    throttle: Option<&DurableFile>,
) -> Result<(), Failure> {
    let mut event = Event::Begin;
    loop {
        let action = survey.step(event, clock.now());
        let progress = survey.progress();
        bar.at(progress.done, progress.doing);
        event = match action {
            Action::Send(request) => {
                store(survey, throttle)?;
                sent(transport.send(request).await, bar)?
            }
            Action::WaitUntil(moment) => {
                let why =
                    if progress.pauses { "since session/initiate failed" } else { "to stay within the request limit" };
                wait(clock, moment, bar, why).await;
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(_) => return Ok(()),
        };
    }
}

fn sent(reply: Result<http::Response<Bytes>, TransportError>, bar: &Bar) -> Result<Event, Failure> {
    let error = match reply {
        Ok(response) => return Ok(Event::Reply(response)),
        Err(error) => error,
    };
    if let TransportError::NotSent(pg_hyper::TransportErrorKind::Insecure(address)) = error {
        return Err(Failure::misuse(format!("{address}: use an https address")));
    }
    bar.say(&format!("pg: {error}{}", connection_advice(&error)));
    let not_sent = matches!(error, TransportError::NotSent(_));
    Ok(Event::Failed(if not_sent { NoReply::NotSent } else { NoReply::MaybeSent }))
}

async fn wait(clock: &SystemClock, moment: Moment, bar: &Bar, why: &str) {
    let left = moment.since(clock.now());
    if left > LONG {
        bar.say(&format!("pg: waiting {} s {why}", left.as_secs()));
    }
    while clock.now() < moment {
        clock.sleep_until(moment).await;
    }
}

/// A bar, if standard error is a terminal.
struct Bar(Option<ProgressBar>);

impl Bar {
    fn new(total: usize) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::stderr_with_hz(8));
            let template = "{bar:30} {pos} of {len} requests, {elapsed}  {msg}";
            bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self(bar.filter(|bar| !bar.is_hidden()))
    }

    fn at(&self, done: usize, doing: &'static str) {
        if let Some(bar) = &self.0 {
            bar.set_position(done as u64);
            bar.set_message(doing);
        }
    }

    fn say(&self, text: &str) {
        match &self.0 {
            Some(bar) => bar.suspend(|| output::say(text)),
            None => output::say(text),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
