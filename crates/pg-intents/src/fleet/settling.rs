//! Works on an intent until it ends, waits for its customer, or is taken by another worker. This is the same for every
//! machine.

use std::{sync::Arc, time::Duration};

use pg_hyper::{
    Transport,
    proto::machine::{Moment, SavedState},
};
use tracing::Instrument as _;

use super::{
    Fleet,
    driving::Ran,
    keeper::{Keeper, KeptBy, Trouble},
    same_payment,
    staying::{RowState, RowWatch},
    stopwatch::Patience,
};
use crate::{
    Claimed, FleetError, FleetQuestion, FleetStep, IntentEnd, IntentKey, IntentRest, IntentRow, IntentStatus,
    IntentStore, PaymentOutcome, StoreError, machines::StoredMachine, telemetry, terms::Terms,
};

/// Events make an unknown or parked intent due at most once in this time, since anyone can send events.
pub(super) const QUIET: Duration = Duration::from_secs(60);

/// What a claimed row says about earlier work on it; all zero for an intent that is about to begin.
#[derive(Clone, Copy, Default)]
pub(super) struct Earlier {
    claims: i32,
    /// The number of the plan's lookups.
    lookups: i32,
    /// The number of events that were delivered for the intent.
    inbox: i32,
    /// Whether the intent has ended as unknown before.
    ended: bool,
}

/// The result of working on an intent.
pub(super) enum Worked {
    Ended(PaymentOutcome),
    /// The intent is stored, and waits for the customer.
    Asks(FleetQuestion),
    /// The intent is stored, and waits for an event or for a moment.
    Waits,
    /// Another worker has the intent.
    Lost {
        /// This worker had begun it, so a request may have been sent.
        maybe_sent: bool,
    },
    Store {
        error: StoreError,
        /// Its row exists, so a request may have been sent.
        maybe_sent: bool,
    },
    Stopping,
    Failed(FleetError),
}

impl Worked {
    /// Returns one word: how it ended, or why it did not.
    const fn end(&self) -> Result<&'static str, &'static str> {
        match self {
            Self::Ended(outcome) => Ok(outcome.name()),
            Self::Asks(_) => Ok("asks"),
            Self::Waits => Ok("waits"),
            Self::Lost { .. } => Err(StoreError::Lost.name()),
            Self::Store { error, .. } => Err(error.name()),
            Self::Stopping => Err("shutting_down"),
            Self::Failed(error) => Err(error.name()),
        }
    }
}

impl From<Trouble> for Worked {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Exists | Trouble::Lost => Self::Lost { maybe_sent: false },
            Trouble::Store(error) => Self::Store { error, maybe_sent: false },
            Trouble::Stopped(reason) => Self::Failed(FleetError::Stopped(reason)),
            Trouble::Unanswered(reason) => Self::Failed(FleetError::Unanswered(reason)),
            Trouble::OtherAccounts(error) => Self::Failed(FleetError::OtherAccounts(error)),
            Trouble::Stopping => Self::Stopping,
        }
    }
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Begins an intent and works on it until it ends or waits; `None` if another worker has it. Sets `begun` once its row exists: a
    /// request may have been sent. `row` says at any time whether it exists.
    pub(super) async fn begin<M: StoredMachine>(
        &self,
        terms: &Terms,
        request: M::Request,
        begun: &mut bool,
        row: &RowWatch,
        patience: &Patience,
    ) -> Option<Result<FleetStep, FleetError>> {
        let reference = &terms.key.reference;
        let mut worked = self.work_anew::<M>(terms, request.clone(), row).await;
        loop {
            let error = match worked {
                Worked::Ended(settled) => return Some(Ok(FleetStep::Done(settled))),
                Worked::Asks(question) => return Some(Ok(FleetStep::Ask(question))),
                Worked::Lost { maybe_sent } => {
                    *begun |= maybe_sent;
                    return None;
                }
                Worked::Waits => {
                    *begun = true;
                    return None;
                }
                Worked::Stopping => {
                    return Some(Err(FleetError::ShuttingDown { reference: reference.clone() }));
                }
                Worked::Failed(error) => return Some(Err(error)),
                Worked::Store { error, maybe_sent } => {
                    *begun |= maybe_sent;
                    error
                }
            };
            if error.is_lasting() || patience.is_over() {
                return Some(Err(FleetError::of_store(error, reference, *begun)));
            }
            // The effect of its last statement is unknown: the row shows it.
            row.is(RowState::InDoubt);
            self.sleep(self.pause()).await;
            worked = match self.claim_one(&terms.key).await {
                Err(error) => Worked::Store { error, maybe_sent: false },
                Ok(Some(Claimed::Not(_))) => {
                    *begun = true;
                    return None;
                }
                Ok(Some(Claimed::Taken(intent))) => {
                    row.is(RowState::Exists);
                    match same_payment(terms, &intent) {
                        Err(error) => {
                            self.give_up(intent.hold(), Duration::ZERO).await;
                            return Some(Err(error));
                        }
                        Ok(()) => self.resume::<M>(&intent, Some(request.clone())).await,
                    }
                }
                Ok(None) => {
                    // A database that has lost the row of a payment does not make it one that was never begun.
                    row.is(if *begun { RowState::Exists } else { RowState::Absent });
                    self.work_anew::<M>(terms, request.clone(), row).await
                }
            };
        }
    }

    async fn work_anew<M: StoredMachine>(&self, terms: &Terms, request: M::Request, row: &RowWatch) -> Worked {
        let machine = match self.machine::<M>(request) {
            Ok(machine) => machine,
            Err(error) => return Worked::Failed(error),
        };
        let new = self.new_intent(terms, &machine.save(), Some(self.0.owner.clone()));
        let keeper = Keeper::to_begin(self.kept_by(), new, row.clone());
        self.work_on(machine, keeper, &terms.key, Earlier::default()).await
    }

    pub(super) async fn claim_one(&self, key: &IntentKey) -> Result<Option<Claimed>, StoreError> {
        let claimed = self.0.store.claim_one(key, &self.0.owner, self.0.plan.lease, &self.0.kinds).await?;
        if let Some(Claimed::Taken(intent)) = &claimed {
            self.compare_clocks(intent);
        }
        Ok(claimed)
    }

    /// Continues an intent that this worker has claimed.
    pub(super) async fn resume<M: StoredMachine>(&self, intent: &IntentRow, request: Option<M::Request>) -> Worked {
        let Some(hold) = intent.hold() else { return Worked::Lost { maybe_sent: false } };
        let account = Arc::new(self.0.client.account().clone());
        let failed = |why| Worked::Failed(FleetError::Resume { reference: intent.key.reference.clone(), why });
        let mut saved = SavedState::from_text(&*intent.state);
        // The plan says that the rows belong to this account, whatever name, API key and base URL it had.
        if self.0.plan.is_stored_elsewhere() {
            saved = match saved.rebind(&account) {
                Ok(saved) => saved,
                Err(why) => return failed(why),
            };
        }
        let earlier = Earlier {
            claims: intent.claims,
            lookups: intent.lookups,
            inbox: intent.inbox,
            ended: intent.status != IntentStatus::Open,
        };
        let machine = match M::resume(&saved, account, request, &self.0.plan.bounds, earlier.ended) {
            Ok(machine) => machine,
            Err(why) => return failed(why),
        };
        let keeper = Keeper::held(self.kept_by(), hold, self.0.plan.lease);
        self.work_on(machine, keeper, &intent.key, earlier).await
    }

    fn kept_by(&self) -> KeptBy<S> {
        let (store, clock) = (Arc::clone(&self.0.store), Arc::clone(&self.0.plan.clock));
        KeptBy { store, clock, accounts: Arc::clone(&self.0.accounts) }
    }

    /// Drives a machine until it ends or asks a question, and stores the result before it is returned.
    async fn work_on<M: StoredMachine>(
        &self,
        machine: M,
        keeper: Keeper<S>,
        key: &IntentKey,
        earlier: Earlier,
    ) -> Worked {
        let keeper = Arc::new(keeper);
        let (kind, began) = (M::kind(), self.0.plan.clock.now());
        let span = telemetry::intent_span(&kind, earlier.claims);
        let work = async {
            let ran = self.drive(machine, &keeper, key, earlier.inbox).await;
            self.ran::<M>(ran, &keeper, key, earlier).await
        };
        let worked = match work.instrument(span.clone()).await {
            Worked::Store { error, .. } => Worked::Store { error, maybe_sent: keeper.begun().is_some() },
            Worked::Lost { .. } => Worked::Lost { maybe_sent: keeper.begun().is_some() },
            worked => worked,
        };
        telemetry::intent(&span, &kind, worked.end(), self.0.plan.clock.now().since(began));
        worked
    }

    /// Stores the result of a machine.
    async fn ran<M: StoredMachine>(
        &self,
        ran: Ran<M::Demand, M::Outcome>,
        keeper: &Keeper<S>,
        key: &IntentKey,
        earlier: Earlier,
    ) -> Worked {
        match ran {
            Ran::Done(outcome, saved, waiting) => {
                let (outcome, status) = M::outcome(&outcome);
                let wake = usize::try_from(earlier.lookups).ok().filter(|_| M::LOOKS_UP);
                let wake = wake.and_then(|at| self.0.plan.lookups.get(at).copied());
                let (heard, quiet) = match (M::HEARS, earlier.ended) {
                    (true, true) if waiting.last > waiting.before => (waiting.last, QUIET),
                    // A machine that ends without waiting has processed no event, unless it was resumed after its end.
                    (true, _) => (waiting.before, Duration::ZERO),
                    (false, _) => (i32::MAX, QUIET),
                };
                let state = saved.text().to_owned();
                let end = IntentEnd {
                    status,
                    state,
                    outcome,
                    wake: wake.filter(|_| status == IntentStatus::Unknown),
                    heard,
                    quiet,
                };
                self.end::<M>(keeper, end, &saved, &key.reference).await
            }
            Ran::Asks(demand, saved, heard) => {
                let question = M::question(demand);
                let rested = self.rest(keeper, Some(&question), question.deadline(), &saved, heard).await;
                rested.map_or_else(Worked::from, |()| Worked::Asks(question))
            }
            Ran::Waits(until, saved, heard) => {
                let rested = self.rest(keeper, None, until, &saved, heard).await;
                rested.map_or_else(Worked::from, |()| Worked::Waits)
            }
            Ran::Trouble(trouble) => {
                match &trouble {
                    Trouble::Stopping => {
                        self.give_up(keeper.begun(), Duration::ZERO).await;
                        self.0.limits.release_abandoned().await;
                    }
                    Trouble::Stopped(_) | Trouble::Unanswered(_) => {
                        self.give_up(keeper.begun(), self.0.plan.poll).await
                    }
                    Trouble::Exists | Trouble::Lost | Trouble::Store(_) | Trouble::OtherAccounts(_) => {}
                }
                trouble.into()
            }
        }
    }

    async fn end<M: StoredMachine>(
        &self,
        keeper: &Keeper<S>,
        end: IntentEnd,
        saved: &SavedState,
        reference: &str,
    ) -> Worked {
        let hold = match keeper.hold(saved).await {
            Ok(hold) => hold,
            Err(trouble) => return trouble.into(),
        };
        let text = end.outcome.clone();
        match self.until_stored(|| self.0.store.end(&hold, end.clone())).await {
            Ok(()) => {
                self.0.ended.notify_waiters();
                match self.read(&text, &M::kind(), reference) {
                    Ok(settled) => Worked::Ended(settled),
                    Err(error) => Worked::Failed(error),
                }
            }
            Err(error) => Trouble::from(error).into(),
        }
    }

    /// Stores the machine, which waits in its row until this moment: for its customer, who sees no page before that, or for an event.
    async fn rest(
        &self,
        keeper: &Keeper<S>,
        question: Option<&FleetQuestion>,
        until: Moment,
        saved: &SavedState,
        heard: i32,
    ) -> Result<(), Trouble> {
        let hold = keeper.hold(saved).await?;
        let unreadable = |error: serde_json::Error| StoreError::Unreadable(error.to_string());
        let asks = question.map(serde_json::to_string).transpose().map_err(unreadable)?;
        let stored = self.until_stored(|| {
            // The moment goes by the client's clock.
            let wake = until.since(self.0.client.now());
            let rest = IntentRest { state: saved.text().to_owned(), asks: asks.clone(), heard, wake };
            self.0.store.rest(&hold, rest)
        });
        stored.await?;
        self.0.ended.notify_waiters();
        Ok(())
    }

    /// Repeats the last statement of a machine while the store does not respond, within the plan's patience: the machine has decided, and
    /// a worker that resumed it from its row would not know what. The fencing number makes the repetition safe: [`StoreError::Lost`]
    /// says that the first attempt was made, or that another worker has the intent.
    async fn until_stored<Stored>(&self, store: impl Fn() -> Stored + Send) -> Result<(), StoreError>
    where
        Stored: Future<Output = Result<(), StoreError>> + Send,
    {
        let patience = self.patience();
        loop {
            match store().await {
                Err(error @ StoreError::Unavailable(_)) if !patience.is_over() => {
                    tracing::warn!(target: "pg.fleet", %error, "the result of a machine was not stored; it is repeated");
                    self.sleep(self.pause()).await;
                }
                stored => return stored,
            }
        }
    }
}
