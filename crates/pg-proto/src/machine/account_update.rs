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
//! **Input:** the card keys in pieces, on demand; [hints](UpdateInput::Hint) when a callback arrives; the numbers of
//! results that the owner has stored. **Output:** requests, [`UpdateDemand::Keys`] and [`UpdateDemand::Take`], and
//! finally a [`Summary`]. [`AccountUpdate::progress`] can be read at any time.
//!
//! **Promises:**
//! - Each key is submitted in one batch, however often the source contains it. Batches have the size that the service
//!   accepts: at most 5,000 different keys.
//! - A batch is submitted again only if the submission was certainly not executed: it never left, or the service
//!   refused it. If that is unknown (a lost or unreadable reply, an unlisted error code, 101, since a proxy may repeat a
//!   request without its body, or a crash after the machine was saved for sending), the batch is doubtful. A callback resolves the doubt if its batch key, once retrieved, answers for exactly the
//!   keys of that batch and the service created it after the submission. Otherwise the [policy](DoubtfulPolicy)
//!   decides, and the result says so.
//! - Callbacks are not trusted. A hint only makes the machine retrieve a batch earlier. A forged, repeated, early or late
//!   hint costs one request, at most one every five seconds for a batch. While a batch is doubtful, the batch key of a hint may
//!   cost eight requests that the service answers. If it answers that the batch is pending, they are spread over the doubt, with the last
//!   one at its end. Each further doubt that ends, each resume and each clock that is set back may then cost one more.
//! - A hint that may settle a doubt is kept until the service has answered for its batch key, or the doubt ends. 1,000 such hints are
//!   kept, and one for each open batch.
//! - The result of every batch is offered until the owner has taken it. The result lists every key of the batch, either
//!   in an answer or as unanswered. After a crash a result may be offered again, with the same number: the first one
//!   stands, also if the service no longer has it and the second says that it failed.
//! - A crash does not shorten a pause that the service asked for. Results that became ready and callbacks that arrived
//!   while no process ran are found later: no batch ends as overdue or doubtful before a last check after its time.
//! - The update stops if the service refuses everything. Then save it, and resume it after correcting the cause.
//! - The update ends when the source has ended and every batch has finished or run out of time. All pauses and attempts
//!   are bounded.
//!
//! **Limits:** the machine cannot promise that the service receives each batch once. The network may deliver a request
//! twice, and the service has no idempotency key. A second batch only costs the merchant unused new card keys.
//!
//! **Memory:** 19 to 39 bytes for each key of the source and each batch, plus the keys of unfinished batches. **Saved
//! state:** a line for each open batch and each batch that did not finish, without card keys. After a crash the owner
//! therefore reads the source again from the start, and the part that was already read must be unchanged.
//!
//! A driver saves the machine before each send. It should also save it after each step: then a crash between the reply
//! to a submission and the next send causes no doubt. The step that handles such a reply sends nothing, to allow this.
//!
//! # Example
//!
//! The machine first asks for keys, and sends a batch when it has them:
//!
//! ```
//! use pg_proto::{Account, BaseUrl, Credentials};
//! use pg_proto::machine::{Action, Event, Machine, Moment};
//! use pg_proto::machine::account_update::{AccountUpdate, UpdateDemand, UpdateInput, UpdatePlan};
//!
//! let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
//! let mut update = AccountUpdate::new(account, UpdatePlan::new("0123456789abcdef0123456789abcdef"))?;
//! let now = Moment::from_millis(1_700_000_000_000);
//! let Action::Ask(UpdateDemand::Keys { from: 0, .. }) = update.step(Event::Begin, now, 4) else { panic!() };
//! update.step(Event::Input(UpdateInput::Keys { from: 0, keys: vec!["a-card-key".into()] }), now, 4);
//! // No keys: the source ends here.
//! let action = update.step(Event::Input(UpdateInput::Keys { from: 1, keys: Vec::new() }), now, 4);
//! assert!(matches!(action, Action::Send(_)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
    Action, Event, Failure, Machine, Moment, ResumeError, SavedState,
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
pub use report::{BatchEnd, BatchResult, EndedBatch, Progress, Summary, UpdateEnd, UselessReply};

/// The [name](super::SavedState::machine) of an account update in a saved state.
pub const NAME: &str = "account update";
const VERSION: u32 = 1;

/// The account update machine. The module lists [its promises](self) and has an [example](self#example).
pub struct AccountUpdate {
    account: Arc<Account>,
    plan: UpdatePlan,
    state: State,
    intake: Intake,
    flight: Option<Flight>,
    /// Keys of finished batches: late callbacks about them are ignored. Not saved.
    over: KeySet,
    /// The last reply, if it was of no use, and the one in hand until it turns out to be of use.
    useless: Option<UselessReply>,
    stopped: Option<UpdateEnd>,
}

/// An input of an account update.
#[derive(Clone, Debug)]
pub enum UpdateInput {
    /// Keys of the source, beginning at `from`. An empty list means that the source ends there. Keys from another
    /// place, and more keys than were requested, are ignored.
    Keys {
        /// The place of the first key, counted from 0.
        from: u64,
        /// The keys, in the order of the source.
        keys: Vec<CardKey>,
    },
    /// A callback arrived.
    Hint(UpdaterHint),
    /// The result of the batch with this number is stored.
    Taken(u64),
}

/// A demand of an account update.
#[derive(Clone, Debug)]
pub enum UpdateDemand {
    /// Pass the next keys of the source.
    Keys {
        /// The place of the first key, counted from 0. After a resume it starts at 0 again.
        from: u64,
        /// Maximum number of keys.
        at_most: usize,
    },
    /// Store this result durably, then send [`UpdateInput::Taken`].
    Take(Arc<BatchResult>),
}

/// The saved state.
#[derive(Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(Debug))]
struct State {
    /// Keys of the source that are in batches or were dropped.
    taken: u64,
    trail: Trail,
    exhausted: bool,
    next_number: u64,
    counts: Progress,
    open: Vec<Batch>,
    unfinished: Vec<EndedBatch>,
    candidates: Vec<Candidate>,
    /// The number of requests in a row without a result, and the time until which nothing is sent.
    #[serde(default)]
    troubles: Attempts,
}

/// A count larger than any source, and small enough that no sum of such counts overflows.
const COUNTLESS: u64 = 1 << 40;

impl State {
    /// Whether a machine can have saved this state. A damaged count would overflow much later.
    fn can_be(&self) -> bool {
        let Progress { read, duplicates, invalid, submitted, pending, finished, .. } = self.counts;
        let Progress { updated, unanswered, refused, doubtful, failed, strangers, .. } = self.counts;
        let keys =
            [read, duplicates, invalid, submitted, pending, finished, updated, unanswered, refused, doubtful, failed];
        let keys = keys.into_iter().chain([strangers]);
        let lengths = self.open.iter().map(|batch| batch.length as u64);
        keys.chain([self.taken, self.next_number]).chain(lengths).all(|count| count < COUNTLESS)
    }
}

/// The reply that the machine waits for.
enum Flight {
    Submit(u64),
    Retrieve(u64),
    Probe(String),
}

impl AccountUpdate {
    /// Creates an account update that has not begun.
    ///
    /// # Errors
    ///
    /// [`Misuse`] if the updater key or the callback address of the plan is invalid.
    pub fn new(account: impl Into<Arc<Account>>, plan: UpdatePlan) -> Result<Self, Misuse> {
        plan.check()?;
        Ok(Self::with(account.into(), plan, State::default()))
    }

    /// Resumes from a saved state. The plan may differ from the first one. The owner passes the source again from its
    /// start.
    ///
    /// # Errors
    ///
    /// [`ResumeError`] if `saved` is not the state of an account update or was saved for another account, or if the
    /// plan is invalid as for [`new`](Self::new).
    pub fn resume(saved: &SavedState, account: impl Into<Arc<Account>>, plan: UpdatePlan) -> Result<Self, ResumeError> {
        plan.check().map_err(|_| ResumeError::Mismatch("account updater"))?;
        let account = account.into();
        let mut state: State = saved.open_for(NAME, VERSION, &account, Services::Gateway)?;
        if !state.can_be() {
            return Err(ResumeError::Unreadable("its counts of keys are too large".to_owned()));
        }
        state.troubles.begin_anew();
        for batch in &mut state.open {
            // The batch was saved for sending, so it may have been sent.
            if let Phase::Sending { since } = batch.phase {
                batch.doubt(since, None);
            }
        }
        Ok(Self::with(account, plan, state))
    }

    /// Returns the progress.
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

    fn with(account: Arc<Account>, plan: UpdatePlan, state: State) -> Self {
        let (intake, over) = (Intake::default(), KeySet::default());
        Self { account, plan, state, intake, flight: None, over, useless: None, stopped: None }
    }

    fn handle_event(&mut self, event: Event<UpdateInput>, now: Moment, random: u64) {
        match &event {
            Event::Reply(reply) => self.useless = self.unless_it_helps(reply.status().as_u16()),
            Event::Failed(_) => self.useless = None,
            _ => {}
        }
        match event {
            Event::Begin | Event::Woken => {}
            Event::Input(input) => self.handle_input(input, now),
            Event::Reply(reply) => match self.flight.take() {
                Some(Flight::Submit(number)) => self.submitted(number, self.sort_submission(reply), now, random),
                Some(Flight::Retrieve(number)) => self.retrieved(number, self.sort_batch(reply), now, random),
                Some(Flight::Probe(key)) => self.probed(&key, self.sort_batch(reply), now, random),
                None => {}
            },
            Event::Failed(Failure::Superseded) => {
                (self.flight, self.stopped) = (None, Some(UpdateEnd::Superseded));
            }
            Event::Failed(failure) => match self.flight.take() {
                Some(Flight::Submit(number)) => self.submitted(number, missed(failure), now, random),
                Some(Flight::Retrieve(number)) => self.retrieved(number, missed(failure), now, random),
                Some(Flight::Probe(key)) => self.probed(&key, missed(failure), now, random),
                None => {}
            },
        }
    }

    fn handle_input(&mut self, input: UpdateInput, now: Moment) {
        match input {
            UpdateInput::Hint(hint) => self.hinted(&hint, now),
            UpdateInput::Taken(number) => self.taken(number),
            UpdateInput::Keys { from, keys } => {
                // The plan limits the number of open batches, so other keys have to wait.
                if self.intake.replay(&self.state).is_some() || self.wants_keys() {
                    let taken = self.intake.take(&mut self.state, from, keys, self.plan.batch_size);
                    if taken == Err(SourceChanged) {
                        self.stopped = Some(UpdateEnd::SourceChanged);
                    }
                }
            }
        }
    }

    /// Returns what the machine waits for, or the next request.
    fn advance(&mut self, now: Moment) -> Action<UpdateDemand, Summary> {
        if self.flight.is_some() {
            return Action::WaitUntil(UNTIL_THE_REPLY);
        }
        if let Some(end) = &self.stopped {
            return Action::Done(self.summary(end.clone()));
        }
        if let Some((from, at_most)) = self.intake.replay(&self.state) {
            return Action::Ask(UpdateDemand::Keys { from, at_most });
        }
        self.time_passed(now);
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

    /// Handles that the owner has stored a result.
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
                counts.strangers += result.strangers as u64;
            }
            BatchEnd::Refused { .. } => counts.refused += length,
            BatchEnd::Doubtful | BatchEnd::DoubtfulRefusal { .. } => counts.doubtful += length,
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

    /// Returns the reply in hand, which is of no use unless the service is [`reached`](Self::reached) by it.
    fn unless_it_helps(&mut self, status: u16) -> Option<UselessReply> {
        let Some(Flight::Submit(batch) | Flight::Retrieve(batch)) = self.flight else { return None };
        let batch_key = self.batch(batch).and_then(|batch| batch.key()).map(Into::into);
        Some(UselessReply { status, batch, batch_key })
    }

    /// Clears the count of failures, because the service answered.
    fn reached(&mut self) {
        self.useless = None;
        self.state.troubles.begin_anew();
    }

    /// Sends nothing for a while, and stops after too many failures.
    fn hold_back(&mut self, told: Option<Duration>, now: Moment, random: u64) {
        if self.state.troubles.failed(told, waiting::TROUBLE, now, random) > self.plan.attempts {
            self.stopped = Some(UpdateEnd::Unreachable);
        }
    }

    /// Handles the cases without a result that are the same for all requests.
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
        Summary {
            end,
            progress: self.progress(),
            unfinished: self.state.unfinished.clone(),
            useless: self.useless.clone(),
        }
    }
}

impl Machine for AccountUpdate {
    type Input = UpdateInput;
    type Demand = UpdateDemand;
    type Outcome = Summary;

    fn step(&mut self, event: Event<UpdateInput>, now: Moment, random: u64) -> Action<UpdateDemand, Summary> {
        let answers_a_submission = matches!((&event, &self.flight), (Event::Reply(_), Some(Flight::Submit(_))));
        if self.stopped.is_none() {
            self.handle_event(event, now, random);
        }
        if answers_a_submission && self.stopped.is_none() && self.request_is_due(now) {
            // A step without a request, so that the driver can save the machine before the next request, which may wait
            // for the throttle.
            return Action::WaitUntil(now);
        }
        self.advance(now)
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
