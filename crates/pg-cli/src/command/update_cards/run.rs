//! The run: drives the machine, writes its results, and stops on request.

use std::{
    future::poll_fn,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use indicatif::HumanCount;
use pg_hyper::{
    AccountUpdateDrive, Client, DriveError, UpdateEvent,
    proto::machine::{
        ResumeError,
        account_update::{Summary, UpdateEnd, UpdatePlan},
    },
};
use pg_model::Dialect;
use tokio::time::MissedTickBehavior;

use super::{
    Ready,
    callbacks::Callbacks,
    ending,
    gate::Gate,
    input::{Input, Keys},
    progress::{Shown, batches, over},
    results::Results,
    sharing::Sharing,
    state::Keeper,
};
use crate::{
    command::interrupt::Interrupted,
    failure::{Exit, Failure},
    output,
};

/// A run in progress.
struct Run {
    updating: AccountUpdateDrive<Keys, Gate>,
    keeper: Keeper,
    results: Results,
    shown: Shown,
    callbacks: Callbacks,
    gate: Gate,
    sharing: Sharing,
    /// The last reported error.
    told: Option<String>,
    /// Whether another run can read the input again.
    can_go_on: bool,
    /// Whether nothing was sent before this run.
    is_new: bool,
    /// How long to wait for a callback that settles a doubt, and the last reported number of doubtful batches.
    doubt: (u32, usize),
    /// How many times in a row the service may be unreachable before the run ends.
    attempts: u32,
    /// The last reported number of results that did not settle a doubt.
    misdated: usize,
}

/// Drives it to its end, and reports the result.
///
/// # Errors
/// If it does not finish, or fails; the message says how to resume.
pub(super) async fn run(
    ready: Ready,
    client: Client<Gate>,
    plan: UpdatePlan,
    callbacks: Callbacks,
    (gate, sharing): (Gate, Sharing),
    interrupted: Interrupted,
    json: bool,
) -> Result<Exit, Failure> {
    let Ready { input, keeper, state, mut results, doubt, attempts, same_account } = ready;
    let can_go_on = input.path().is_some();
    let unreadable = |error| Failure::misuse(format!("cannot read the card keys: {error}"));
    let updating = input.keys().map_err(unreadable).and_then(|keys| match state.machine() {
        Some(saved) if same_account => {
            let saved = saved.rebind(client.account());
            saved.and_then(|saved| client.resume_update(&saved, plan, keys)).map_err(|error| not_resumed(&error))
        }
        Some(saved) => client.resume_update(&saved, plan, keys).map_err(|error| not_resumed(&error)),
        None => client.update_accounts(plan, keys).map_err(|error| Failure::misuse(error.to_string())),
    });
    let updating = updating.map_err(|failure| results.failed(failure, json, can_go_on))?;
    let store = keeper.clone();
    let mut run = Run {
        updating: updating.store(move |saved| std::future::ready(store.keep(&saved))),
        keeper,
        results,
        shown: Shown::new(input.print.keys),
        callbacks,
        gate,
        sharing,
        told: None,
        can_go_on,
        is_new: state.machine().is_none(),
        doubt: (doubt, 0),
        attempts,
        misdated: 0,
    };
    run.begin(state.machine().is_some());
    let ended = run.go(interrupted).await;
    run.shown.end();
    run.sharing.close().await;
    let told = ended.and_then(|summary| run.tell(summary.as_ref(), &input, client.account().dialect(), json));
    told.map_err(|failure| run.results.failed(failure, json, can_go_on))
}

impl Run {
    fn begin(&self, is_resumed: bool) {
        let progress = self.updating.progress();
        if is_resumed && progress.source_ended && progress.open_batches == 0 {
            output::say(
                "pg: an earlier run finished all card keys: nothing is sent; --restart submits all of them once more",
            );
        } else if is_resumed {
            output::say(&format!(
                "pg: resuming an earlier run: {} card keys were read, {} of them are done, {} in progress",
                HumanCount(progress.read),
                HumanCount(over(&progress)),
                batches(progress.open_batches)
            ));
        }
        if let Some(url) = self.callbacks.url.as_ref().filter(|_| self.callbacks.come_here()) {
            output::say(&format!("pg: receiving callbacks at {url}"));
        }
        self.shown.set(&progress);
    }

    /// Runs until the end or an interruption.
    async fn go(&mut self, interrupted: Interrupted) -> Result<Option<Summary>, Failure> {
        let mut interrupted = pin!(interrupted.wait());
        let mut beat = metronome(self.shown.rhythm());
        loop {
            let update = tokio::select! {
                biased;
                () = &mut interrupted => return self.stop().await.map(|()| None),
                update = self.updating.next() => update,
                received = self.callbacks.next() => {
                    self.updating.receive(received);
                    continue;
                }
                waits = self.sharing.waits() => {
                    self.shown.say(&format!("pg: {waits}"));
                    continue;
                }
                _ = beat.tick() => {
                    self.tell_trouble();
                    self.shown.beat(&self.updating.progress());
                    continue;
                }
            };
            self.tell_trouble();
            if let Some(summary) = self.take(update.map_err(|error| unreadable_source(&error))?)? {
                return Ok(Some(summary));
            }
            self.tell_misdated();
            self.tell_doubt();
        }
    }

    /// Writes results and shows progress; returns the summary at the end.
    fn take(&mut self, update: Option<UpdateEvent>) -> Result<Option<Summary>, Failure> {
        match update {
            Some(UpdateEvent::Result(batch)) => {
                let written = self.results.take(&batch).map_err(|error| self.no_room(&error))?;
                self.keeper.change(|state| state.written = written);
                if let Some(told) = ending::strangers(&batch) {
                    self.shown.say(&format!("pg: {told}"));
                }
            }
            Some(UpdateEvent::Progress(progress)) => self.shown.set(&progress),
            Some(UpdateEvent::Ended(summary)) => return Ok(Some(summary)),
            // The run was polled again after its end.
            None => {}
        }
        Ok(None)
    }

    /// Waits for the request in flight, so that no batch is left in doubt, and sends no further request. The state is
    /// stored with each reply, so nothing is left to store.
    async fn stop(&mut self) -> Result<(), Failure> {
        self.shown.say("pg: stopping: waiting for the request in progress; interrupt again to stop at once");
        let mut again = pin!(Interrupted::listen_again()?.wait());
        self.gate.shut();
        loop {
            let update = tokio::select! {
                biased;
                () = &mut again => return Ok(()),
                update = poll_fn(|context| self.poll_until_replied(context)) => update,
            };
            let Some(update) = update else { return Ok(()) };
            if self.take(update.map_err(|error| unreadable_source(&error))?)?.is_some() {
                return Ok(());
            }
        }
    }

    /// Polls for the next update; returns `None` when the run waits for anything except a reply. A reply that the transport has
    /// does not suffice: with a store, the machine gets it after the shared limits.
    fn poll_until_replied(&mut self, context: &mut Context<'_>) -> Poll<Option<std::io::Result<Option<UpdateEvent>>>> {
        let polled = pin!(self.updating.next()).poll(context);
        match polled {
            Poll::Ready(update) => Poll::Ready(Some(update)),
            Poll::Pending if self.updating.awaits_reply() => Poll::Pending,
            Poll::Pending => Poll::Ready(None),
        }
    }

    /// Ends the output and reports the results of a run, which has a summary unless it was interrupted.
    fn tell(
        &mut self,
        summary: Option<&Summary>,
        input: &Input,
        dialect: &Dialect,
        json: bool,
    ) -> Result<Exit, Failure> {
        let Some(summary) = summary else {
            let is_forgotten = self.is_new && self.gate.left() == 0;
            if is_forgotten {
                self.forget()?;
            }
            return Err(ending::interruption(&self.updating.progress(), input.path(), is_forgotten));
        };
        let is_forgotten = self.finish(summary)?;
        let stop = self.sharing.advice_after_stop();
        ending::tell(summary, input, &self.results, (self.updating.error(), stop), is_forgotten, dialect, json)
    }

    /// Writes the end of the output, and stores the state before it. Returns whether the run is forgotten instead.
    fn finish(&mut self, summary: &Summary) -> Result<bool, Failure> {
        // Nothing was sent, or the only request was refused, with a code that can be trusted. After a correction, such as
        // another account, the run starts from the beginning.
        let is_refused = matches!(&summary.end, UpdateEnd::Refused(refused) if refused.is_known());
        let may_have_left = if is_refused { 1 } else { 0 };
        if self.is_new && self.gate.left() <= may_have_left {
            self.forget()?;
            return Ok(true);
        }
        if ending::is_complete(summary) {
            self.results.finish().map_err(|error| self.no_room(&error))?;
            self.keeper.change(|state| state.finished = true);
        }
        self.keeper.keep(&self.updating.saved()).map_err(|error| ending::not_stored(&error))?;
        Ok(false)
    }

    /// Forgets a run if the service has none of its batches.
    fn forget(&mut self) -> Result<(), Failure> {
        self.keeper.forget().and_then(|()| self.results.forget()).map_err(|error| ending::not_stored(&error))
    }

    fn no_room(&self, error: &std::io::Error) -> Failure {
        ending::no_room(&self.results, error, self.can_go_on)
    }

    /// Reports doubtful batches when nothing else is pending. Without callbacks to this program, the run does not wait for them.
    fn tell_doubt(&mut self) {
        if !self.callbacks.come_here() {
            return;
        }
        let progress = self.updating.progress();
        let (hours, told) = self.doubt;
        let count = progress.doubtful_batches;
        if count == 0 || count == told || count < progress.open_batches || !progress.source_ended {
            return;
        }
        self.doubt.1 = count;
        let (are, waits) = match count {
            1 => ("is", "its callback"),
            _ => ("are", "their callbacks"),
        };
        self.shown.say(&format!(
            "pg: everything else is done, but {} {are} in doubt because the service may have the cards: waiting for {waits}, {hours} hours at most; to skip the wait, interrupt the command and run it again with --doubt 0",
            batches(count)
        ));
    }

    /// Reports results that may belong to doubtful batches, but are too old to settle them.
    fn tell_misdated(&mut self) {
        let count = self.updating.progress().misdated_answers;
        if count > self.misdated {
            self.misdated = count;
            self.shown.say(
                "pg: a callback named a batch with exactly the card keys of a batch in doubt; it does not settle the doubt, since \
                 its createdOn is unreadable or more than an hour before the submission by this machine's clock: compare the \
                 clocks of this machine and of the service, and ask the operator",
            );
        }
    }

    fn tell_trouble(&mut self) {
        let trouble = self.updating.error().map(|error| match error {
            DriveError::Transport(_) => {
                let attempts = self.attempts;
                format!("{error}; the run ends after {attempts} repeats in a row (--attempts), with pauses of up to a minute")
            }
            _ => error.to_string(),
        });
        if trouble != self.told {
            if let Some(trouble) = &trouble {
                self.shown.say(&format!("pg: {trouble}"));
            }
            self.told = trouble;
        }
    }
}

fn not_resumed(error: &ResumeError) -> Failure {
    Failure::misuse(match error {
        ResumeError::OtherAccount { saved, given } => format!(
            "the earlier run was for {saved}, and this run is for {given}, which may not have its batches; give the earlier run's account and address, or --same-account if only the address has changed"
        ),
        ResumeError::Unbound { given } => format!(
            "an earlier version of pg stored this run without its account; if it was for {given}, add --same-account"
        ),
        other => other.to_string(),
    })
}

fn unreadable_source(error: &std::io::Error) -> Failure {
    Failure::misuse(format!(
        "cannot read the card keys: {error}; what was submitted is stored; restore the file, and run the same command again"
    ))
}

#[expect(clippy::disallowed_methods, reason = "progress is shown in real time")]
fn metronome(rhythm: Duration) -> tokio::time::Interval {
    let mut beat = tokio::time::interval(rhythm);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
