//! A checkout with its state in a file: the customer pays on the hosted page. Killed between any two steps and restarted,
//! it resumes with the same page, and no payment is lost.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin checkout_in_a_file -- cart-7.json           # to the end
//! cargo run -p pg-runtimes --bin checkout_in_a_file -- cart-7.json --step    # Enter after each step: kill it at any
//! ```
//!
//! It prints the address of the page. Then each line of its input is a report: the `trans_key` that a callback or the
//! customer's return has named. A shop has a web server for that.
//!
//! Needs beside `pg-proto`: some HTTP library; here it is `ureq`.

use std::{
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
};

use pg_proto::machine::{
    Action, Event, Failure, Machine, Moment, SavedState,
    checkout::{Checkout, CheckoutDemand, CheckoutInput, CheckoutOutcome, CheckoutPlan},
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

    // After an unknown outcome the checkout looks for further reports, and repeats its search.
    let unknown = file.with_extension("unknown");
    let (account, plan) = (shop::account_with_checkout()?, CheckoutPlan::default());
    let checkout = match fs::read_to_string(&file) {
        Ok(text) => Checkout::resume(&SavedState::from_text(text), account, plan)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Checkout::new(account, shop::cart(), plan)?,
        Err(error) => return Err(error.into()),
    };
    let checkout = if unknown.try_exists()? { checkout.look_again() } else { checkout };

    let input = lines();
    let outcome = drive(checkout, &file, &input, |done| {
        println!("{done}");
        if step_by_step {
            // If the input is closed, it continues.
            let _ = input.recv();
        }
    })?;
    match &outcome {
        CheckoutOutcome::Paid { trans_key } => println!("paid: {trans_key}"),
        CheckoutOutcome::NotOpened(_) | CheckoutOutcome::Lapsed { .. } => println!("not paid: {outcome}"),
        _ => {
            // The next start looks again.
            store(&unknown, "")?;
            println!("{outcome}");
            return Ok(());
        }
    }
    // Final: record it with the order, and only then delete the files.
    if unknown.try_exists()? {
        fs::remove_file(&unknown)?;
    }
    fs::remove_file(&file)?;
    Ok(())
}

/// The loop, with the rule that makes it safe: store before sending, **and before the customer gets the address**. After a
/// crash, a checkout that was not stored then would know no token, and end as not paid although the customer may have
/// paid.
fn drive(
    mut checkout: Checkout,
    file: &Path,
    reports: &Receiver<String>,
    mut step: impl FnMut(&str),
) -> Result<CheckoutOutcome, Box<dyn Error>> {
    let agent = agent();
    let mut event = Event::Begin;
    loop {
        event = match checkout.step(event, now(), random()) {
            Action::Send(request) => store_and_send(file, &checkout.save(), &agent, request, &mut step)?,
            Action::WaitUntil(moment) => {
                step("waiting");
                wait(moment.since(now()));
                Event::Woken
            }
            Action::Ask(CheckoutDemand::Redirect { url, until }) => {
                step("decided to ask");
                match store(file, checkout.save().text()) {
                    Ok(()) => {
                        step("stored for the customer");
                        println!("page: {url}");
                        hear(reports, until)
                    }
                    // No customer may get an address that is not on the disk.
                    Err(_) => Event::Failed(Failure::HeldBack),
                }
            }
            Action::Done(outcome) => {
                step("done");
                return Ok(outcome);
            }
        };
    }
}

/// Waits for a report, but not beyond the customer's time.
fn hear(reports: &Receiver<String>, until: Moment) -> Event<CheckoutInput> {
    match reports.recv_timeout(until.since(now())) {
        Ok(trans_key) => Event::Input(CheckoutInput::Reported(trans_key.trim().to_owned())),
        Err(RecvTimeoutError::Timeout) => Event::Woken,
        Err(RecvTimeoutError::Disconnected) => {
            wait(until.since(now()));
            Event::Woken
        }
    }
}

/// The lines of the input, from a thread of their own.
fn lines() -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        io::stdin().lines().map_while(Result::ok).take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop)
    });
    receiver
}
