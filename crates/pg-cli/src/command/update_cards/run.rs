//! The run itself: drives the machine, writes its results, and stops when it is told to.

use std::{pin::pin, time::Duration};

use indicatif::HumanCount;
use pg_hyper::{
    AccountUpdateDrive, Client, UpdateEvent,
    proto::machine::{
        ResumeError,
        account_update::{Summary, UpdateEnd, UpdatePlan},
    },
};
use tokio::time::MissedTickBehavior;

use super::{
    Ready,
    callbacks::Callbacks,
    ending,
    gate::Gate,
    input::Keys,
    progress::{Shown, batches},
    results::Results,
    state::Keeper,
};
use crate::{
    command::interrupt::Interrupted,
    failure::Failure,
    output::{self, Exit},
};

/// A run on its way.
struct Run {
    updating: AccountUpdateDrive<Keys, Gate>,
    keeper: Keeper,
    results: Results,
    shown: Shown,
    callbacks: Callbacks,
    gate: Gate,
    /// The trouble that was told last.
    told: Option<String>,
    /// Whether the input can be read again by another run.
    can_go_on: bool,
    /// Whether nothing was sent before this run.
    is_new: bool,
    /// How long a callback is waited for that settles a doubt, and for how many batches that was told.
    doubt: (u32, usize),
}

/// Drives it to its end, and tells what became of it.
///
/// # Errors
/// When it comes to no end, or to none that is good; says how to go on.
pub(super) async fn run(
    ready: Ready,
    client: Client<Gate>,
    plan: UpdatePlan,
    callbacks: Callbacks,
    gate: Gate,
    interrupted: Interrupted,
    json: bool,
) -> Result<Exit, Failure> {
    let Ready { input, keeper, state, results, doubt, same_account } = ready;
    let unreadable = |error| Failure::misuse(format!("the card keys can't be read: {error}"));
    let keys = input.keys().map_err(unreadable)?;
    let updating = match state.machine() {
        Some(saved) if same_account => {
            let saved = saved.rebind(client.account());
            saved.and_then(|saved| client.resume_update(&saved, plan, keys)).map_err(|error| not_resumed(&error))
        }
        Some(saved) => client.resume_update(&saved, plan, keys).map_err(|error| not_resumed(&error)),
        None => client.update_accounts(plan, keys).map_err(|error| Failure::misuse(error.to_string())),
    }?;
    let store = keeper.clone();
    let mut run = Run {
        updating: updating.store(move |saved| std::future::ready(store.keep(&saved))),
        keeper,
        results,
        shown: Shown::new(input.print.keys),
        callbacks,
        gate,
        told: None,
        can_go_on: input.path().is_some(),
        is_new: state.machine().is_none(),
        doubt: (doubt, 0),
    };
    run.begin(state.machine().is_some());
    let ended = run.go(interrupted).await;
    run.shown.end();
    match ended? {
        Some(summary) => {
            run.finish(&summary)?;
            ending::tell(&summary, &input, &run.results, run.updating.error(), client.account().dialect(), json)
        }
        None => Err(ending::interruption(&run.updating.progress(), input.path())),
    }
}

impl Run {
    fn begin(&self, is_resumed: bool) {
        let progress = self.updating.progress();
        if is_resumed && progress.source_ended && progress.open_batches == 0 {
            output::say("pg: an earlier run has done all of it: nothing is sent; --restart begins anew");
        } else if is_resumed {
            output::say(&format!(
                "pg: going on with an earlier run: {} card keys were read, {} of them are done, {} on the way",
                HumanCount(progress.read),
                HumanCount(progress.read.saturating_sub(progress.pending)),
                batches(progress.open_batches)
            ));
        }
        if let Some(url) = self.callbacks.url.as_ref().filter(|_| self.callbacks.come_here()) {
            output::say(&format!("pg: callbacks come to {url}"));
        }
        self.shown.set(&progress);
    }

    /// Until its end, or until it was interrupted.
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
            self.tell_doubt();
        }
    }

    /// Writes results, shows progress; the summary at the end.
    fn take(&mut self, update: Option<UpdateEvent>) -> Result<Option<Summary>, Failure> {
        match update {
            Some(UpdateEvent::Result(batch)) => {
                let written = self.results.take(&batch).map_err(|error| self.no_room(&error))?;
                self.keeper.change(|state| state.written = written);
            }
            Some(UpdateEvent::Progress(progress)) => self.shown.set(&progress),
            Some(UpdateEvent::Ended(summary)) => return Ok(Some(summary)),
            // It was asked once more after its end.
            None => {}
        }
        Ok(None)
    }

    /// Lets the request that is under way come to its end, so that no batch is left in doubt, and sends no other. The
    /// state is stored with each reply, so that there is nothing more to store.
    async fn stop(&mut self) -> Result<(), Failure> {
        self.shown.say("pg: stopping: a request that is on its way is waited for; interrupt again to end at once");
        let mut again = pin!(Interrupted::listen()?.wait());
        self.gate.shut();
        let gate = self.gate.clone();
        loop {
            let update = tokio::select! {
                biased;
                () = &mut again => return Ok(()),
                update = self.updating.next() => update,
                () = gate.quiet() => return Ok(()),
            };
            if self.take(update.map_err(|error| unreadable_source(&error))?)?.is_some() {
                return Ok(());
            }
        }
    }

    /// The end of the output, and the state that leads there again.
    fn finish(&mut self, summary: &Summary) -> Result<(), Failure> {
        // The only request so far was refused: after a correction, such as another account, the run starts again.
        if self.is_new && matches!(summary.end, UpdateEnd::Refused(_)) && self.gate.left() == 1 {
            return self
                .keeper
                .forget()
                .and_then(|()| self.results.forget())
                .map_err(|error| ending::not_stored(&error));
        }
        if ending::is_complete(summary) {
            self.results.finish().map_err(|error| self.no_room(&error))?;
        }
        self.keeper.keep(&self.updating.saved()).map_err(|error| ending::not_stored(&error))
    }

    fn no_room(&self, error: &std::io::Error) -> Failure {
        ending::no_room(&self.results, error, self.can_go_on)
    }

    /// Once nothing else is waited for.
    fn tell_doubt(&mut self) {
        let progress = self.updating.progress();
        let (hours, told) = self.doubt;
        let count = progress.doubtful_batches;
        if count == 0 || count == told || count < progress.open_batches || !progress.source_ended {
            return;
        }
        self.doubt.1 = count;
        let (are, waits) = match count {
            1 => ("is", "its callback is"),
            _ => ("are", "their callbacks are"),
        };
        self.shown.say(&format!(
            "pg: all else is done, but {} {are} in doubt: {waits} waited for, {hours} hours at most, because the service may or \
             may not have the cards; to end the wait, interrupt this and run it again with --doubt 0",
            batches(count)
        ));
    }

    fn tell_trouble(&mut self) {
        let trouble = self.updating.error().map(ToString::to_string);
        if trouble != self.told {
            if let Some(trouble) = &trouble {
                self.shown.say(&format!("pg: {trouble}"));
            }
            self.told = trouble;
        }
    }
}

fn not_resumed(error: &ResumeError) -> Failure {
    let advice = match error {
        ResumeError::OtherAccount { .. } | ResumeError::Unbound { .. } => {
            "; with pg update-cards: give the earlier run's account and address, or --same-account if only the address has changed"
        }
        _ => "",
    };
    Failure::misuse(format!("{error}{advice}"))
}

fn unreadable_source(error: &std::io::Error) -> Failure {
    Failure::misuse(format!(
        "the card keys can't be read: {error}; what was submitted is stored, the file as it was goes on"
    ))
}

#[expect(clippy::disallowed_methods, reason = "a person watches, for whom time passes")]
fn metronome(rhythm: Duration) -> tokio::time::Interval {
    let mut beat = tokio::time::interval(rhythm);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beat
}
