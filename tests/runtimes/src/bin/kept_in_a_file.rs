//! A charge with its state in a file: killed between any two steps and restarted, it resumes, and there is one payment.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin kept_in_a_file -- runtime-1.json           # to the end
//! cargo run -p pg-runtimes --bin kept_in_a_file -- runtime-1.json --step    # Enter after each step: kill it at any
//! ```
//!
//! Needs beside `pg-proto`: `bytes`, `http`, and some HTTP library; here it is `ureq`.

use std::{
    env,
    error::Error,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_proto::machine::{
    Action, Event, Failure, Machine, SavedState,
    charge::{Charge, ChargeOutcome},
};
use pg_runtimes::{
    driving::{maybe_sent, now, random, wait},
    shop,
};
use ureq::Agent;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let file = PathBuf::from(arguments.next().ok_or("which file?")?);
    let step_by_step = arguments.next().is_some_and(|argument| argument == "--step");

    // After an unknown outcome the payment is looked up, and never sent: without it, the machine cannot.
    let unknown = file.with_extension("unknown");
    let payment = if unknown.try_exists()? { None } else { Some(shop::payment()) };
    let charge = match fs::read_to_string(&file) {
        Ok(text) => Charge::resume(&SavedState::from_text(text), shop::account()?, payment)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && payment.is_some() => shop::charge()?,
        Err(error) => return Err(error.into()),
    };
    let charged = drive(charge, &file, |done| pause(done, step_by_step))?;
    shop::report(&charged);
    if let ChargeOutcome::Unknown { .. } = charged {
        // The next start looks it up again.
        store(&unknown, "")?;
        return Ok(());
    }
    // Final: record it with the order, and only then delete the files.
    if unknown.try_exists()? {
        fs::remove_file(&unknown)?;
    }
    fs::remove_file(&file)?;
    Ok(())
}

/// The loop, with the one rule that makes it safe: store before sending. The state after a reply need
/// not be stored: a machine that resumes from the state before treats its request as sent, and looks it up.
fn drive<M>(mut charge: Charge<M>, file: &Path, mut step: impl FnMut(&str)) -> Result<ChargeOutcome, Box<dyn Error>>
where
    Charge<M>: Machine<Input = pg_proto::machine::Never, Demand = pg_proto::machine::Never, Outcome = ChargeOutcome>,
{
    let agent: Agent = Agent::config_builder()
        .max_redirects(0)
        .max_idle_connections(0)
        .proxy(None)
        .http_status_as_error(false)
        .timeout_global(PATIENCE)
        .build()
        .into();
    let mut event = Event::Begin;
    loop {
        event = match charge.step(event, now(), random()) {
            Action::Send(request) => {
                step("decided to send");
                store(file, charge.save().text())?;
                step("stored");
                let path = request.uri().path().to_owned();
                let reply = send(&agent, request);
                step(&format!("sent {path}"));
                reply.map_or_else(Event::Failed, Event::Reply)
            }
            Action::WaitUntil(moment) => {
                step("waiting");
                wait(moment.since(now()));
                Event::Woken
            }
            Action::Ask(never) => match never {},
            Action::Done(charged) => {
                step("done");
                return Ok(charged);
            }
        };
    }
}

const PATIENCE: Option<Duration> = Some(Duration::from_secs(10));

/// Stores durably and atomically: syncs a new file, then renames it.
fn store(file: &Path, text: &str) -> io::Result<()> {
    let beside = file.with_extension("new");
    let mut new = File::create(&beside)?;
    new.write_all(text.as_bytes())?;
    new.sync_all()?;
    fs::rename(&beside, file)?;
    // The rename is durable after the folder is synced.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Treats every error as a request that may have been sent. That is always safe and costs one lookup.
fn send(agent: &Agent, request: Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let (head, body) = request.into_parts();
    let reply = agent.run(Request::from_parts(head, &body[..])).map_err(maybe_sent)?;
    let (head, mut body) = reply.into_parts();
    let body = body.with_config().limit(1 << 20).read_to_vec().map_err(maybe_sent)?;
    Ok(Response::from_parts(head, body.into()))
}

/// Prints a step, and waits for Enter if requested.
fn pause(done: &str, step_by_step: bool) {
    println!("{done}");
    if step_by_step {
        // If stdin is closed, it continues.
        let _ = io::stdin().read_line(&mut String::new());
    }
}
