//! Refreshes any number of stored cards through the account updater (spec 1 §2.2, §4.8, §4.9, §6).
//!
//! ```text
//!            keys                     ┌───────── Later, NotSent ──────────┐
//!  source ──────────▶ gathered ──▶ ready ──▶ sending ──▶ submitted ──▶ result ──▶ taken
//!          duplicates              ▲           │            │  ▲ │          ▲
//!          dropped      submitted  │           ▼            │  └─┘ 182      │
//!                       again      └──────  doubtful        └───────▶ ended: refused, failed, overdue
//!                                              └── a hint that holds exactly its keys, or else the policy
//! ```
//!
//! **In:** the card keys, in pieces, when they are asked for; [hints](UpdateInput::Hint), whenever a callback comes in;
//! which results were taken. **Out:** requests; [`UpdateDemand::Keys`] and [`UpdateDemand::Take`]; at the end a [`Summary`].
//! [`AccountUpdate::progress`] may be read at any time.
//!
//! **It promises:**
//! - Each key is submitted in one batch only, however often the source names it, in batches that the service takes: at
//!   most 5,000 keys, each once.
//! - A batch is submitted again only when its submission certainly was not carried out: it never left, or the service
//!   refused it. When that is unknown (a lost or unreadable reply, a crash after the machine was stored for sending), the
//!   batch is doubtful. Then a callback's batch key settles it when, retrieved, it answers for exactly that batch's keys and
//!   was made after the submission. Otherwise the [policy](DoubtfulPolicy) decides, and the result says so.
//! - Nothing in a callback is believed. A hint is a reason to retrieve a batch now; forged, repeated, early or late ones
//!   cost a request at most, and no more than one in five seconds for a batch.
//! - The result of every batch goes out until it was taken, with every key of the batch named either in an answer or as
//!   unanswered. After a crash between the two it may go out once more, with the same number.
//! - A crash cuts no pause short that the service asked for. What has finished, or a callback told of, while no process ran
//!   is found, however late: no batch ends as overdue or doubtful before it was looked for after its time.
//! - It stops when the service refuses everything; then it can be stored, and resumed when that was mended.
//! - It ends when the source does and every batch has finished, or its patience is over: no pause and no number of
//!   attempts is without a bound.
//!
//! **It does not promise** that the service has each batch once: the network may deliver a request twice, and the service
//! knows no key for repeats. A second batch costs the merchant unused new card keys, nothing else.
//!
//! **Memory:** 19 to 39 bytes for each key of the source and each batch, plus the keys of the batches that are not over.
//! **Stored:** a line for each open batch and each batch that did not finish; no card keys. So after a crash the source is
//! read again from its beginning, and has to be the same as far as it was read.
//!
//! A driver stores the machine before each send. It does well to store it after each step: then a crash between a
//! submission's reply and the next send leaves no doubt either. For that the step that hears of the reply sends nothing.

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use pg_model::{ApiRequest, CardKey, RequestAccountUpdater, method::ServiceInfo};
use serde::{Deserialize, Serialize};

use self::{
    batch::{Batch, Phase},
    intake::{Intake, SourceChanged},
    key_set::{KeySet, Trail, print_of},
    retrieve::Candidate,
};
use super::{
    Action, Event, Machine, Moment, ResumeError, SavedState,
    attempts::Attempts,
    books::Services,
    exchange::{ExchangeResult, UNTIL_THE_REPLY, missed},
};
use crate::{Account, Misuse, UpdaterHint};

mod batch;
mod intake;
mod key_set;
mod plan;
mod report;
mod retrieve;
mod submit;
#[cfg(test)]
mod tests;
mod waiting;

pub use plan::{DoubtfulPolicy, UpdatePlan};
pub use report::{BatchEnd, BatchResult, EndedBatch, Progress, Summary, UpdateEnd};

const NAME: &str = "account update";
const VERSION: u32 = 1;

/// The account update machine. Its contract stands at the top of its file.
pub struct AccountUpdate {
    account: Account,
    plan: UpdatePlan,
    state: State,
    intake: Intake,
    flight: Option<Flight>,
    /// Batch keys of batches that are over: callbacks about these come late, and are no news. Not stored.
    over: KeySet,
    stopped: Option<UpdateEnd>,
}

/// What the owner tells an account update.
#[derive(Clone, Debug)]
pub enum UpdateInput {
    /// Keys of the source that begin at that place; none when the source ends there. Keys from another place than the
    /// one that was asked for, and more than were asked for, are passed over.
    Keys {
        /// The place of the first one, counted from 0.
        from: u64,
        /// The keys, in the order of the source.
        keys: Vec<CardKey>,
    },
    /// A callback came in.
    Hint(UpdaterHint),
    /// The result of the batch with that number is in good hands.
    Taken(u64),
}

/// What an account update asks of its owner.
#[derive(Clone, Debug)]
pub enum UpdateDemand {
    /// The next keys of the source.
    Keys {
        /// The place of the first one, counted from 0. After the machine was resumed it begins at 0 again.
        from: u64,
        /// How many at most.
        at_most: usize,
    },
    /// Take this result, store it durably, then say [`UpdateInput::Taken`].
    Take(Arc<BatchResult>),
}

/// What is stored.
#[derive(Default, Serialize, Deserialize)]
struct State {
    /// Keys of the source that went into batches or were dropped on the way there.
    taken: u64,
    trail: Trail,
    exhausted: bool,
    next_number: u64,
    counts: Progress,
    open: Vec<Batch>,
    unfinished: Vec<EndedBatch>,
    candidates: Vec<Candidate>,
    /// Requests in a row that brought nothing, and until when nothing is sent.
    #[serde(default)]
    troubles: Attempts,
}

/// No source has as many keys, and no sum of such counts overflows.
const COUNTLESS: u64 = 1 << 40;

impl State {
    /// Whether a machine can have stored it. A damaged count would overflow much later.
    fn can_be(&self) -> bool {
        let Progress { read, duplicates, invalid, submitted, pending, finished, .. } = self.counts;
        let Progress { updated, unanswered, refused, doubtful, failed, .. } = self.counts;
        let keys =
            [read, duplicates, invalid, submitted, pending, finished, updated, unanswered, refused, doubtful, failed];
        let lengths = self.open.iter().map(|batch| batch.length as u64);
        keys.into_iter().chain([self.taken, self.next_number]).chain(lengths).all(|count| count < COUNTLESS)
    }
}

/// Which reply is awaited.
enum Flight {
    Submit(u64),
    Retrieve(u64),
    Probe(String),
}

impl AccountUpdate {
    /// A new one.
    ///
    /// # Errors
    /// When the plan's updater key or callback address breaks the rules of every request.
    pub fn new(account: Account, plan: UpdatePlan) -> Result<Self, Misuse> {
        plan.check()?;
        Ok(Self::with(account, plan, State::default()))
    }

    /// Goes on from what was stored. The plan may differ from the first one. The source has to be offered again from its
    /// beginning.
    ///
    /// # Errors
    /// When `saved` is not of an account update, or was saved for another account, or the plan is wrong as for [`new`](Self::new).
    pub fn resume(saved: &SavedState, account: Account, plan: UpdatePlan) -> Result<Self, ResumeError> {
        plan.check().map_err(|_| ResumeError::Mismatch("account updater"))?;
        let mut state: State = saved.open_for(NAME, VERSION, &account, Services::Gateway)?;
        if !state.can_be() {
            return Err(ResumeError::Unreadable("it counts more keys than there can be".to_owned()));
        }
        state.troubles.begin_anew();
        for batch in &mut state.open {
            // It was stored to be sent, so it may have been.
            if let Phase::Sending { since } = batch.phase {
                (batch.phase, batch.doubted) = (Phase::Doubtful { since }, true);
            }
        }
        Ok(Self::with(account, plan, state))
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let (waiting, read, duplicates, invalid) = self.intake.waiting(&self.state);
        let mut progress = self.state.counts;
        progress.read += read;
        progress.duplicates += duplicates;
        progress.invalid += invalid;
        progress.pending = waiting + self.state.open.iter().map(|batch| batch.length as u64).sum::<u64>();
        progress.open_batches = self.state.open.len();
        let is_doubtful = |batch: &&Batch| matches!(batch.phase, Phase::Doubtful { .. });
        progress.doubtful_batches = self.state.open.iter().filter(is_doubtful).count();
        progress.source_ended = self.state.exhausted;
        progress
    }

    fn with(account: Account, plan: UpdatePlan, state: State) -> Self {
        let (intake, over) = (Intake::default(), KeySet::default());
        Self { account, plan, state, intake, flight: None, over, stopped: None }
    }

    fn hear_event(&mut self, event: Event<UpdateInput>, now: Moment, random: u64) {
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(input) => self.hear_input(input, now),
            Event::Reply(reply) => match self.flight.take() {
                Some(Flight::Submit(number)) => self.submitted(number, self.hear_as(reply), now, random),
                Some(Flight::Retrieve(number)) => self.retrieved(number, self.hear_as_batch(reply), now, random),
                Some(Flight::Probe(key)) => self.probed(&key, self.hear_as_batch(reply), now, random),
                None => {}
            },
            Event::Failed(failure) => match self.flight.take() {
                Some(Flight::Submit(number)) => self.submitted(number, missed(failure), now, random),
                Some(Flight::Retrieve(number)) => self.retrieved(number, missed(failure), now, random),
                Some(Flight::Probe(key)) => self.probed(&key, missed(failure), now, random),
                None => {}
            },
        }
    }

    fn hear_input(&mut self, input: UpdateInput, now: Moment) {
        match input {
            UpdateInput::Hint(hint) => self.hinted(&hint, now),
            UpdateInput::Taken(number) => self.taken(number),
            UpdateInput::Keys { from, keys } => {
                // Only as many batches are open at once as the plan says, so other keys have to wait.
                if self.intake.replay(&self.state).is_some() || self.wants_keys() {
                    let taken = self.intake.take(&mut self.state, from, keys, self.plan.batch_size);
                    if taken == Err(SourceChanged) {
                        self.stopped = Some(UpdateEnd::SourceChanged);
                    }
                }
            }
        }
    }

    fn next(&mut self, now: Moment) -> Action<UpdateDemand, Summary> {
        if self.flight.is_some() {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        if let Some(end) = &self.stopped {
            return Action::Done(self.summary(end.clone()));
        }
        if let Some((from, at_most)) = self.intake.replay(&self.state) {
            return Action::Ask(UpdateDemand::Keys { from, at_most });
        }
        self.let_time_pass(now);
        if let Some(result) = self.state.open.iter().find_map(|batch| batch.result.as_ref()) {
            return Action::Ask(UpdateDemand::Take(Arc::clone(result)));
        }
        if let Some(request) = self.next_request(now) {
            return Action::Send(request);
        }
        if self.wants_keys() {
            let (from, at_most) = self.intake.wants(self.plan.batch_size);
            return Action::Ask(UpdateDemand::Keys { from, at_most });
        }
        if self.state.open.is_empty() {
            return Action::Done(self.summary(UpdateEnd::Complete));
        }
        Action::WaitUntil(self.next_moment(now))
    }

    fn next_request(&mut self, now: Moment) -> Option<http::Request<Bytes>> {
        if self.state.troubles.held(now).is_some() {
            return None;
        }
        self.retrieve_due(now).or_else(|| self.probe_due(now)).or_else(|| self.submit_next(now))
    }

    fn request_is_due(&mut self, now: Moment) -> bool {
        let of_batch = |batch: &Batch| match batch.phase {
            Phase::Ready => true,
            Phase::Submitted { .. } => batch.result.is_none() && batch.polls.next <= now,
            _ => false,
        };
        let of_candidate = |candidate: &Candidate| candidate.next <= now;
        self.state.troubles.held(now).is_none()
            && (self.state.open.iter().any(of_batch) || self.state.candidates.iter().any(of_candidate))
    }

    fn wants_keys(&self) -> bool {
        !self.state.exhausted && self.state.open.len() < self.plan.outstanding
    }

    /// The owner has a result.
    fn taken(&mut self, number: u64) {
        let known = |batch: &Batch| batch.number == number && batch.result.is_some();
        let Some(at) = self.state.open.iter().position(known) else { return };
        let batch = self.state.open.remove(at);
        let Some(result) = &batch.result else { return };
        if let Some(key) = &result.batch_key {
            self.over.insert(print_of(key.as_str()));
        }
        let (counts, length) = (&mut self.state.counts, batch.length as u64);
        match &result.how {
            BatchEnd::Finished => {
                counts.finished += result.entries.len() as u64;
                counts.updated += result.entries.iter().filter(|entry| !entry.card_key.is_empty()).count() as u64;
                counts.unanswered += result.unanswered.len() as u64;
            }
            BatchEnd::Refused { .. } => counts.refused += length,
            BatchEnd::Doubtful => counts.doubtful += length,
            BatchEnd::Failed { .. } | BatchEnd::Overdue => counts.failed += length,
        }
        if result.how != BatchEnd::Finished {
            self.state.unfinished.push(batch.ended(result.how.clone()));
        }
        self.forget_candidates();
    }

    fn batch(&mut self, number: u64) -> Option<&mut Batch> {
        self.state.open.iter_mut().find(|batch| batch.number == number)
    }

    /// The service is there, and answers.
    fn reached(&mut self) {
        self.state.troubles.begin_anew();
    }

    /// Nothing is sent for a while, and at all no more when that was too often.
    fn hold_back(&mut self, told: Option<Duration>, now: Moment, random: u64) {
        if self.state.troubles.failed(told, waiting::TROUBLE, now, random) > self.plan.attempts {
            self.stopped = Some(UpdateEnd::Unreachable);
        }
    }

    /// What all requests have in common when they bring nothing.
    fn brought_nothing<T>(&mut self, heard: ExchangeResult<T>, now: Moment, random: u64) {
        match heard {
            ExchangeResult::Later(wait) => self.hold_back(Some(wait), now, random),
            ExchangeResult::NotSent | ExchangeResult::InDoubt => self.hold_back(None, now, random),
            ExchangeResult::HeldBack => self.stopped = Some(UpdateEnd::HeldBack),
            ExchangeResult::Shut(refused) | ExchangeResult::Refused(refused) | ExchangeResult::Done(refused) => {
                self.stopped = Some(UpdateEnd::Refused(refused))
            }
            ExchangeResult::Answer(_) => {}
        }
    }

    fn summary(&self, end: UpdateEnd) -> Summary {
        Summary { end, progress: self.progress(), unfinished: self.state.unfinished.clone() }
    }
}

impl Machine for AccountUpdate {
    type Input = UpdateInput;
    type Demand = UpdateDemand;
    type Outcome = Summary;

    fn step(&mut self, event: Event<UpdateInput>, now: Moment, random: u64) -> Action<UpdateDemand, Summary> {
        let answers_a_submission = matches!((&event, &self.flight), (Event::Reply(_), Some(Flight::Submit(_))));
        if self.stopped.is_none() {
            self.hear_event(event, now, random);
        }
        if answers_a_submission && self.stopped.is_none() && self.request_is_due(now) {
            // A step in between: it can be stored before that request, which may have to wait for the throttle.
            return Action::WaitUntil(now);
        }
        self.next(now)
    }

    fn save(&self) -> SavedState {
        SavedState::bound(NAME, VERSION, &self.account, &self.state)
    }

    fn service(&self) -> &'static ServiceInfo {
        RequestAccountUpdater::INFO.service
    }

    fn name(&self) -> &'static str {
        NAME
    }

    fn label(outcome: &Summary) -> &'static str {
        outcome.label()
    }
}

impl fmt::Debug for AccountUpdate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccountUpdate")
            .field("plan", &self.plan)
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}
