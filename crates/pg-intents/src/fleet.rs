//! Workers that share a store: a payment that was begun on one server is ended on any.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_hyper::{
    Client, Drive, DriveStep, HyperTransport, Transport,
    proto::{
        Account,
        machine::{
            Machine, SavedState,
            charge::{Charge, ChargeOutcome},
        },
    },
};
use tokio::sync::Notify;

use crate::{
    Claimed, IntentEnd, IntentKey, IntentLease, IntentRow, IntentStatus, IntentStore, NewIntent, Payment,
    PaymentOutcome, StoreError, terms::Terms,
};

mod error;
mod joining;
mod keeper;
mod plan;
mod stopping;
mod working;

pub use error::FleetError;
pub use plan::FleetPlan;

use keeper::{Keeper, Trouble};
use stopping::LastStop;

/// A worker of a fleet: a client of one account, and the store that all workers share. Clones are the same worker.
///
/// [`charge`](Self::charge) is for those who want to be paid; [`run`](Self::run) picks up what others have left behind, and belongs
/// into a task of every process.
pub struct Fleet<S, T = HyperTransport>(Arc<Inner<S, T>>);

struct Inner<S, T> {
    client: Client<T>,
    store: Arc<S>,
    plan: FleetPlan,
    /// The account as rows name it.
    account: String,
    /// This worker as rows name it.
    owner: String,
    /// References that this process works on.
    busy: Mutex<HashSet<String>>,
    /// An intent of this process has ended.
    ended: Notify,
    stopping: AtomicBool,
    stop: Notify,
    /// What the store said last of a stop.
    stopped: Mutex<LastStop>,
}

/// How a machine left its drive.
enum Ran<O> {
    Done(O, SavedState),
    Trouble(Trouble),
    Stopping,
}

/// This process works on a reference, until this is dropped.
struct Busy<S, T> {
    fleet: Fleet<S, T>,
    reference: String,
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// A worker with this client over this store.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn new(client: Client<T>, store: Arc<S>, plan: FleetPlan) -> Result<Self, StoreError> {
        let owner = store.enlist(&plan.name).await?;
        let account = account_of(client.account());
        Ok(Self(Arc::new(Inner {
            client,
            store,
            plan,
            account,
            owner,
            busy: Mutex::default(),
            ended: Notify::new(),
            stopping: AtomicBool::new(false),
            stop: Notify::new(),
            stopped: Mutex::default(),
        })))
    }

    /// Charges once, in whichever process: the first call under a `uniqueMerchantReference` begins, every other one, on any server
    /// and at any time, joins it and gets its outcome.
    ///
    /// The intent is stored before the request leaves, and its outcome before it is told. If this process dies, or this future is
    /// dropped, another worker goes on: it looks the payment up, and sends it again only if the payment holds no card
    /// data (by card key or session key, without CV2) and the lookup found nothing.
    ///
    /// # Errors
    /// [`FleetError::OtherPayment`] and [`FleetError::Misuse`] of payments that were not sent; [`FleetError::Store`] and
    /// [`FleetError::Pending`] if there is no outcome within the plan's patience. Charge again under the same reference.
    pub async fn charge<P: Payment>(&self, payment: P) -> Result<PaymentOutcome, FleetError> {
        let terms = self.terms(&payment)?;
        if self.is_stopping() {
            return Err(FleetError::ShuttingDown { reference: terms.key.reference });
        }
        let Some(busy) = self.occupy(&terms.key.reference) else { return self.join(&terms, Some(payment)).await };
        if let Some(reason) = self.why_stopped().await? {
            return self.told_while_stopped(&terms, reason).await;
        }
        let settled = self.begin(&terms, payment.clone()).await;
        drop(busy);
        match settled {
            Some(settled) => settled,
            None => self.join(&terms, Some(payment)).await,
        }
    }

    /// Stores a payment for any worker to charge, and returns once it is stored. It must hold no card data.
    ///
    /// # Errors
    /// As [`charge`](Self::charge); a payment with card data is [`FleetError::Store`] with [`StoreError::Unreadable`].
    pub async fn submit<P: Payment>(&self, payment: P) -> Result<(), FleetError> {
        let terms = self.terms(&payment)?;
        if terms.request.is_none() {
            return Err(StoreError::Unreadable(
                "a payment with card data is charged by the process that holds it".to_owned(),
            )
            .into());
        }
        let state = self.machine(payment)?.save();
        let new = self.new_intent(&terms, &state, None);
        match self.0.store.begin(new).await? {
            crate::Begun::New => {
                self.0.ended.notify_waiters();
                Ok(())
            }
            crate::Begun::Existing(found) => same_payment(&terms, &found),
        }
    }

    /// The outcome of a payment that was begun on any server; `None` if none was begun under this reference.
    ///
    /// # Errors
    /// As [`charge`](Self::charge).
    pub async fn outcome(&self, reference: &str) -> Result<Option<PaymentOutcome>, FleetError> {
        let key = IntentKey::new(&*self.0.account, reference);
        let found = self.0.store.find(&key).await?;
        match found {
            Some(IntentRow { outcome: Some(outcome), .. }) => Ok(Some(self.read(&outcome, reference)?)),
            Some(_) => Err(FleetError::Pending { reference: reference.to_owned() }),
            None => Ok(None),
        }
    }

    /// The client.
    pub fn client(&self) -> &Client<T> {
        &self.0.client
    }

    /// The store.
    pub fn store(&self) -> &Arc<S> {
        &self.0.store
    }

    /// The account as rows name it: identity and base address.
    #[must_use]
    pub fn account(&self) -> &str {
        &self.0.account
    }

    /// This worker as rows name it.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.0.owner
    }

    /// Begins nothing and claims nothing from now on; what this process works on is handed over before its next request.
    /// [`run`](Self::run) then ends.
    pub fn shut_down(&self) {
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.stop.notify_waiters();
    }

    fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::SeqCst)
    }

    fn machine<P: Payment>(&self, payment: P) -> Result<Charge<P>, FleetError> {
        Ok(Charge::new(self.0.client.account().clone(), payment, self.0.plan.bounds)?)
    }

    fn terms<P: Payment>(&self, payment: &P) -> Result<Terms, FleetError> {
        let machine = self.machine(payment.clone())?;
        Ok(Terms::of(&self.0.account, machine.reference(), payment))
    }

    fn new_intent(&self, terms: &Terms, state: &SavedState, owner: Option<String>) -> NewIntent {
        let Terms { key, kind, digest, request } = terms.clone();
        NewIntent { key, kind, digest, request, state: state.text().to_owned(), owner, lease: self.0.plan.lease }
    }

    fn occupy(&self, reference: &str) -> Option<Busy<S, T>> {
        let mut busy = self.0.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let free = busy.insert(reference.to_owned());
        free.then(|| Busy { fleet: self.clone(), reference: reference.to_owned() })
    }

    /// Begins a payment and works on it to its end; `None` if another worker has it.
    async fn begin<P: Payment>(&self, terms: &Terms, payment: P) -> Option<Result<PaymentOutcome, FleetError>> {
        let patience = self.0.plan.clock.now().after(self.0.plan.patience);
        let machine = match self.machine(payment.clone()) {
            Ok(machine) => machine,
            Err(error) => return Some(Err(error)),
        };
        let new = self.new_intent(terms, &machine.save(), Some(self.0.owner.clone()));
        let keeper = Keeper::unbegun(Arc::clone(&self.0.store), Arc::clone(&self.0.plan.clock), new);
        let mut worked = self.work(machine, keeper, terms.key.reference.as_str()).await;
        loop {
            let error = match worked {
                Worked::Ended(settled) => return Some(Ok(settled)),
                Worked::Lost => return None,
                Worked::Stopping => {
                    return Some(Err(FleetError::ShuttingDown { reference: terms.key.reference.clone() }));
                }
                Worked::Failed(error) => return Some(Err(error)),
                Worked::Store(error) => error,
            };
            if self.0.plan.clock.now() >= patience {
                return Some(Err(error.into()));
            }
            self.sleep(self.pause()).await;
            // What it did last is not known: the row tells.
            worked = match self.0.store.claim_one(&terms.key, &self.0.owner, self.0.plan.lease).await {
                Err(error) => Worked::Store(error),
                Ok(Some(Claimed::Not(_))) => return None,
                Ok(Some(Claimed::Taken(intent))) => match same_payment(terms, &intent) {
                    Err(error) => {
                        self.give_up(intent.hold(), Duration::ZERO).await;
                        return Some(Err(error));
                    }
                    Ok(()) => self.resume(&intent, Some(payment.clone())).await,
                },
                Ok(None) => match self.machine(payment.clone()) {
                    Err(error) => Worked::Failed(error),
                    Ok(machine) => {
                        let new = self.new_intent(terms, &machine.save(), Some(self.0.owner.clone()));
                        let keeper = Keeper::unbegun(Arc::clone(&self.0.store), Arc::clone(&self.0.plan.clock), new);
                        self.work(machine, keeper, &terms.key.reference).await
                    }
                },
            };
        }
    }

    /// Goes on with an intent that this worker has claimed.
    async fn resume<P: Payment>(&self, intent: &IntentRow, payment: Option<P>) -> Worked {
        let Some(hold) = intent.hold() else { return Worked::Lost };
        // Once it has ended as unknown, only lookups follow.
        let payment = payment.filter(|_| intent.status == IntentStatus::Open);
        let saved = SavedState::from_text(&*intent.state);
        let machine = match Charge::resume(&saved, self.0.client.account().clone(), payment) {
            Ok(machine) => machine,
            Err(why) => {
                self.give_up(Some(hold), self.0.plan.lease).await;
                return Worked::Failed(FleetError::Resume { reference: intent.key.reference.clone(), why });
            }
        };
        let (store, clock) = (Arc::clone(&self.0.store), Arc::clone(&self.0.plan.clock));
        let keeper = Keeper::held(store, clock, hold, self.0.plan.lease);
        self.work_on(machine, keeper, &intent.key.reference, intent.claims).await
    }

    async fn work<P: Payment>(&self, machine: Charge<P>, keeper: Keeper<S>, reference: &str) -> Worked {
        self.work_on(machine, keeper, reference, 0).await
    }

    /// Drives a charge to its end, and stores that before it is told.
    async fn work_on<P: Payment>(&self, machine: Charge<P>, keeper: Keeper<S>, reference: &str, claims: i32) -> Worked {
        let keeper = Arc::new(keeper);
        let ran = self.drive(machine, &keeper).await;
        self.share_stop().await;
        let (outcome, saved) = match ran {
            Ran::Done(outcome, saved) => (outcome, saved),
            Ran::Trouble(trouble) => return trouble.into(),
            Ran::Stopping => {
                self.give_up(keeper.begun(), Duration::ZERO).await;
                return Worked::Stopping;
            }
        };
        self.end(&keeper, &outcome, &saved, reference, claims).await
    }

    async fn end(
        &self,
        keeper: &Keeper<S>,
        outcome: &ChargeOutcome,
        saved: &SavedState,
        reference: &str,
        claims: i32,
    ) -> Worked {
        let (text, status) = PaymentOutcome::stored(outcome);
        let hold = match keeper.hold(saved).await {
            Ok(hold) => hold,
            Err(trouble) => return trouble.into(),
        };
        let at = usize::try_from(claims).unwrap_or(usize::MAX);
        let wake = self.0.plan.lookups.get(at).copied().filter(|_| status == IntentStatus::Unknown);
        let end = IntentEnd { status, state: saved.text().to_owned(), outcome: text.clone(), wake };
        match self.0.store.end(&hold, end).await {
            Ok(()) => {
                self.0.ended.notify_waiters();
                match self.read(&text, reference) {
                    Ok(settled) => Worked::Ended(settled),
                    Err(error) => Worked::Failed(error),
                }
            }
            Err(error) => Trouble::from(error).into(),
        }
    }

    /// Drives a machine that asks nothing, and renews its lease meanwhile.
    async fn drive<M: Machine<Demand = pg_hyper::proto::machine::Never>>(
        &self,
        machine: M,
        keeper: &Arc<Keeper<S>>,
    ) -> Ran<M::Outcome> {
        let saving = Arc::clone(keeper);
        let mut drive: Drive<M, T> = self.0.client.drive(machine).store(move |saved| {
            let keeper = Arc::clone(&saving);
            async move { keeper.save(saved).await }
        });
        loop {
            let beat = self.sleep(self.0.plan.lease / 3);
            tokio::select! {
                biased;
                step = drive.next() => {
                    if let Some(trouble) = keeper.trouble() {
                        return Ran::Trouble(trouble);
                    }
                    match step {
                        DriveStep::Done(outcome) => return Ran::Done(outcome, drive.saved()),
                        DriveStep::Ask(never) => match never {},
                    }
                }
                () = beat => {
                    keeper.renew().await;
                    if let Some(trouble) = keeper.trouble() {
                        return Ran::Trouble(trouble);
                    }
                    if self.is_stopping() {
                        return Ran::Stopping;
                    }
                }
            }
        }
    }

    /// Hands a lease over. If the store is away it ends by itself.
    async fn give_up(&self, hold: Option<IntentLease>, wake: Duration) {
        if let Some(hold) = hold
            && let Err(error) = self.0.store.release(&hold, wake).await
        {
            tracing::warn!(target: "pg.fleet", %error, "a lease was not handed over, and ends by itself");
        }
    }

    fn read(&self, outcome: &str, reference: &str) -> Result<PaymentOutcome, FleetError> {
        Ok(PaymentOutcome::read(outcome, reference, self.0.client.account().dialect())?)
    }

    async fn sleep(&self, pause: Duration) {
        let clock = &self.0.plan.clock;
        clock.sleep_until(clock.now().after(pause)).await;
    }

    /// Between two attempts to reach the store.
    fn pause(&self) -> Duration {
        self.0.plan.poll.min(Duration::from_secs(1))
    }
}

/// What became of working on an intent.
enum Worked {
    Ended(PaymentOutcome),
    /// Another worker has it.
    Lost,
    Store(StoreError),
    Stopping,
    Failed(FleetError),
}

impl From<Trouble> for Worked {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Exists | Trouble::Lost => Self::Lost,
            Trouble::Store(error) => Self::Store(error),
        }
    }
}

/// The account as rows name it.
fn account_of(account: &Account) -> String {
    account.bound_identity()
}

fn same_payment(terms: &Terms, found: &IntentRow) -> Result<(), FleetError> {
    if found.digest == terms.digest && found.kind == terms.kind {
        return Ok(());
    }
    Err(FleetError::OtherPayment { reference: terms.key.reference.clone(), found: found.kind.clone() })
}

impl<S, T> Clone for Fleet<S, T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S, T> std::fmt::Debug for Fleet<S, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("account", &self.0.account).field("owner", &self.0.owner).finish_non_exhaustive()
    }
}

impl<S, T> Drop for Busy<S, T> {
    fn drop(&mut self) {
        let mut busy = self.fleet.0.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.remove(&self.reference);
        drop(busy);
        self.fleet.0.ended.notify_waiters();
    }
}
