//! A checkout with its state in a file: the customer pays on the hosted page. Killed between any two steps and restarted,
//! it resumes with the same page, and no payment is lost.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin checkout_in_a_file -- cart-7.json           # to the end
//! cargo run -p pg-runtimes --bin checkout_in_a_file -- cart-7.json --step    # Enter after each step: kill it at any
//! ```
//!
//! It prints the address of the page. Each line of its input that is not empty is a report: the `trans_key` that a callback or the
//! customer's return has named. A shop has a web server for that.
//!
//! Needs beside `pg-proto`: some HTTP library; here it is `ureq`.

use std::{
    collections::VecDeque,
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

    // After an unknown outcome the checkout looks for further reports, and repeats its search. It never opens another page.
    let unknown = file.with_extension("unknown");
    let looks_again = unknown.try_exists()?;
    let (account, plan) = (shop::account_with_checkout()?, CheckoutPlan::default());
    let checkout = match fs::read_to_string(&file) {
        Ok(text) => Checkout::resume(&SavedState::from_text(text), account, plan)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound && !looks_again => {
            Checkout::new(account, shop::cart(), plan)?
        }
        Err(error) => return Err(format!("{}: {error}", file.display()).into()),
    };
    let checkout = if looks_again { checkout.look_again() } else { checkout };

    let outcome = drive(checkout, &file, &mut Input { lines: lines(), step_by_step, reports: VecDeque::new() })?;
    match &outcome {
        CheckoutOutcome::Paid { trans_key } => println!("paid: {trans_key}"),
        CheckoutOutcome::NotOpened(_) | CheckoutOutcome::Lapsed { .. } => println!("not paid: {outcome}"),
        _ => {
            println!("{outcome}");
            // The next start looks again.
            store(&unknown, "")?;
            return Ok(());
        }
    }
    // Final: record it with the order, and only then delete the files.
    if looks_again {
        fs::remove_file(&unknown)?;
    }
    fs::remove_file(&file)?;
    Ok(())
}

/// The loop, with the rule that makes it safe: store before sending, **and before the customer gets the address**. After a
/// crash, a checkout that was not stored then would know no token, and end as not paid although the customer may have
/// paid.
fn drive(mut checkout: Checkout, file: &Path, input: &mut Input) -> Result<CheckoutOutcome, Box<dyn Error>> {
    let agent = agent();
    let mut event = Event::Begin;
    let mut held_back = false;
    loop {
        event = match checkout.step(event, now(), random()) {
            Action::Send(request) => {
                store_and_send(file, &checkout.save(), &agent, request, &mut |done| input.step(done))?
            }
            Action::WaitUntil(moment) => {
                // A report that was taken is on the disk now. A shop acknowledges its callback only after that.
                store(file, checkout.save().text())?;
                input.step("waiting");
                input.hear(moment)
            }
            Action::Ask(CheckoutDemand::Redirect { url, until }) => {
                input.step("decided to ask");
                // If it asks again although it could not be stored, its token is on the disk already.
                if held_back || store(file, checkout.save().text()).is_ok() {
                    held_back = false;
                    input.step("may ask");
                    println!("page: {url}");
                    input.hear(until)
                } else {
                    held_back = true;
                    Event::Failed(Failure::HeldBack)
                }
            }
            Action::Done(outcome) => {
                input.step("done");
                return Ok(outcome);
            }
        };
    }
}

/// Reports, and with `--step` an Enter after each step.
struct Input {
    lines: Receiver<String>,
    step_by_step: bool,
    reports: VecDeque<String>,
}

impl Input {
    /// Prints a step, and waits for a line if requested.
    fn step(&mut self, done: &str) {
        println!("{done}");
        // If the input is closed, it continues.
        if self.step_by_step
            && let Ok(line) = self.lines.recv()
        {
            self.take(&line);
        }
    }

    fn take(&mut self, line: &str) {
        let line = line.trim();
        if !line.is_empty() {
            self.reports.push_back(line.to_owned());
        }
    }

    /// Waits for a report, but not beyond this time.
    fn hear(&mut self, until: Moment) -> Event<CheckoutInput> {
        loop {
            if let Some(trans_key) = self.reports.pop_front() {
                return Event::Input(CheckoutInput::Reported(trans_key));
            }
            match self.lines.recv_timeout(until.since(now())) {
                Ok(line) => self.take(&line),
                Err(RecvTimeoutError::Timeout) => return Event::Woken,
                Err(RecvTimeoutError::Disconnected) => {
                    wait(until.since(now()));
                    return Event::Woken;
                }
            }
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
