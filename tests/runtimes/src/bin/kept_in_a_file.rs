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
    fs, io,
    path::{Path, PathBuf},
};

use pg_proto::machine::{
    Action, Event, Machine, SavedState,
    charge::{Charge, ChargeOutcome},
};
use pg_runtimes::{
    driving::{now, random, wait},
    keeping::{agent, store, store_and_send},
    shop,
};

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
    let agent = agent();
    let mut event = Event::Begin;
    loop {
        event = match charge.step(event, now(), random()) {
            Action::Send(request) => store_and_send(file, &charge.save(), &agent, request, &mut step)?,
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

/// Prints a step, and waits for Enter if requested.
fn pause(done: &str, step_by_step: bool) {
    println!("{done}");
    if step_by_step {
        // If stdin is closed, it continues.
        let _ = io::stdin().read_line(&mut String::new());
    }
}
