//! Workers that share a store: any server can finish a payment that another one has begun.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_hyper::{
    Client, HyperTransport, Transport,
    proto::{
        machine::{
            Machine as _, SavedState,
            charge::Charge,
            checkout::Checkout,
            three_d_secure::{Initiation, ThreeDSecure, ThreeDSecurePlan},
        },
        model::GetToken,
    },
};
use tokio::sync::Notify;

use crate::{
    FleetError, FleetStartError, FleetStep, IntentKey, IntentKind, IntentLease, IntentRow, IntentStatus, IntentStore,
    NewIntent, Payment, PaymentOperation, PaymentOutcome, StoreError,
    machines::{self, Operation, Secured, StoredMachine},
    terms::Terms,
};

mod accounts;
mod driving;
mod hearing;
mod joining;
mod keeper;
mod limits;
mod pauses;
mod plan;
mod settling;
mod staying;
mod stopwatch;
mod working;

pub use limits::{FleetLimits, LimitWait};
pub use plan::FleetPlan;

use accounts::AccountCheck;
use joining::Told;
use settling::Worked;
use staying::{LeftWork, Stays};
use stopwatch::Patience;

/// A worker of a fleet: a client of one account, and the store that all workers share. Clones are the same worker.
///
/// [`charge`](Self::charge) makes one payment. [`run`](Self::run) picks up the payments that other processes have abandoned: spawn
/// it in every process.
pub struct Fleet<S, T = HyperTransport>(Arc<Inner<S, T>>);

struct Inner<S, T> {
    client: Client<T>,
    store: Arc<S>,
    plan: FleetPlan,
    /// The account's name in rows.
    account: String,
    /// The check for payments of other accounts.
    accounts: Arc<AccountCheck>,
    /// This worker's name in rows.
    owner: String,
    /// The references that this process is working on.
    busy: Mutex<HashSet<String>>,
    /// The payments on which this process works, and for which no call waits any more.
    left: LeftWork,
    /// Notifies when an intent of this process has ended.
    ended: Notify,
    stopping: AtomicBool,
    stop: Notify,
    /// Whether the clock of this server and that of the database differed in the row that was claimed last.
    clocks_differ: AtomicBool,
    /// The limits that all processes of the account share.
    limits: FleetLimits<S>,
    /// The kinds of intents that this program can resume.
    kinds: Vec<IntentKind>,
}

/// Marks a reference as worked on by this process until it is dropped.
struct Busy<S, T> {
    fleet: Fleet<S, T>,
    reference: String,
}

impl<S: IntentStore, T: Transport + Clone + 'static> Fleet<S, T> {
    /// Creates a worker with this client over this store.
    ///
    /// The account needs a name ([`Account::identity`](pg_hyper::proto::Account::identity)). Payments are stored under the name and the
    /// base URL of version 3, and are found under these only. So keep both for as long as the store is in use; if one of them must
    /// change, set [`FleetPlan::stored_as`].
    ///
    /// If the account has no payment yet, the store is compared once more before the first payment begins: a server that started at the
    /// same time may have another name for the account ([`FleetError::OtherAccounts`]). Only payments that both begin at the very same
    /// moment pass; the next start is refused then.
    ///
    /// # Errors
    /// [`FleetStartError::Unnamed`] if the account has no name; [`FleetStartError::OtherAccounts`] if the store has payments of an account
    /// that the plan does not mention, since it may be this account under another name; [`FleetStartError::OtherPlan`] if the plan is
    /// that of another account; [`FleetStartError::Store`] if the store does not answer.
    pub async fn new(client: Client<T>, store: Arc<S>, plan: FleetPlan) -> Result<Self, FleetStartError> {
        let accounts = AccountCheck::at_start(&*store, client.account(), &plan).await?;
        let account = accounts.account().to_owned();
        let owner = store.enlist(&plan.name).await?;
        let limits = FleetLimits::of(Arc::clone(&store), account.clone(), owner.clone(), &plan);
        Ok(Self(Arc::new(Inner {
            client: client.with_shared_limit(Arc::new(limits.clone())),
            limits,
            store,
            plan,
            account,
            accounts: Arc::new(accounts),
            owner,
            busy: Mutex::default(),
            left: LeftWork::default(),
            ended: Notify::new(),
            stopping: AtomicBool::new(false),
            stop: Notify::new(),
            clocks_differ: AtomicBool::new(false),
            kinds: machines::kinds(),
        })))
    }

    /// Charges once, across all processes. The first call under a `uniqueMerchantReference` begins the payment. Every
    /// other call, on any server and at any time, joins it and gets its outcome.
    ///
    /// The intent is stored before the request is sent, and its outcome before it is returned. If this process dies, or this future
    /// is dropped, another worker continues: it looks the payment up, and sends it again only if the payment holds no card data (it
    /// pays by card key or session key, without CV2) and the lookup found nothing.
    ///
    /// # Errors
    /// [`FleetError::OtherPayment`] and [`FleetError::Misuse`] if this call sends nothing, although an earlier payment under the
    /// reference may have been made; [`FleetError::Store`] and [`FleetError::Pending`] if the store, or the worker that has the payment,
    /// gives no outcome within the plan's patience: then charge again under the same reference. A call that makes the payment itself
    /// stays until it ends ([`ChargeBounds::within`](pg_hyper::proto::machine::charge::ChargeBounds::within)).
    pub async fn charge<P: Payment>(&self, payment: P) -> Result<PaymentOutcome, FleetError> {
        let machine = self.machine::<Charge<P>>(payment.clone())?;
        let terms = self.terms::<Charge<P>>(machine.reference(), &payment);
        done(self.settle::<Charge<P>>(terms, payment, Stays::UntilItEnds).await?)
    }

    /// Pays with 3-D Secure once, across all processes, up to the step that needs the customer. Then redirect the
    /// customer to the page, and call [`event`](Self::event) on any server when they return. Meanwhile the payment
    /// waits in its row, and no process holds it.
    ///
    /// This call returns within the plan's patience, and a few seconds more if the store is slow. If the payment has a row by then, it goes
    /// on without the call, and [`run`](Self::run) waits for it after a shutdown. In a process without `run`, it goes on until the
    /// runtime ends, which then does not wait for a reply in flight. If the payment has no row yet, for example since the limits permit no
    /// request, it is dropped, and this call sends nothing any more.
    ///
    /// # Errors
    /// As [`charge`](Self::charge), and [`FleetError::Pending`] after the plan's patience: [`step`](Self::step) returns what follows, or
    /// [`FleetError::NotWaiting`] if nothing was begun. The same call again begins the payment or joins it.
    pub async fn three_d_secure(
        &self,
        initiation: impl Into<Initiation>,
        plan: ThreeDSecurePlan,
    ) -> Result<FleetStep, FleetError> {
        let secured = Secured { initiation: initiation.into(), plan };
        let machine = self.machine::<ThreeDSecure>(secured.clone())?;
        let terms = match &secured.initiation {
            Initiation::SessionKey(request) => self.terms::<ThreeDSecure>(machine.reference(), request),
            Initiation::CardKey(request) => self.terms::<ThreeDSecure>(machine.reference(), request),
        };
        self.settle::<ThreeDSecure>(Terms { request: None, ..terms }, secured, Stays::For(self.patience())).await
    }

    /// Opens a checkout under a name that you choose, once across all processes. Then redirect the customer to the
    /// page, and call [`event`](Self::event) on any server for each callback and return.
    ///
    /// # Errors
    /// As [`three_d_secure`](Self::three_d_secure), and within the same time; [`FleetError::Checkout`] if the request states no amount.
    pub async fn checkout(&self, name: &str, request: GetToken) -> Result<FleetStep, FleetError> {
        self.machine::<Checkout>(request.clone())?;
        let terms = Terms { request: None, ..self.terms::<Checkout>(name, &request) };
        self.settle::<Checkout>(terms, request, Stays::For(self.patience())).await
    }

    /// Captures, cancels or refunds under a name that you choose, once across all processes. The request is sent again
    /// only if it was certainly not sent; otherwise the operation ends as unknown.
    ///
    /// A payment is not an operation:
    ///
    /// ```compile_fail,E0277
    /// use pg_hyper::proto::model::AuthCardKey;
    /// use pg_intents::{Fleet, SqliteStore};
    ///
    /// async fn pay(fleet: &Fleet<SqliteStore>, payment: AuthCardKey) {
    ///     let paid = fleet.operation("order-7", payment).await; // fleet.charge(payment)
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`charge`](Self::charge), and as [`submit`](Self::submit) for a request that holds card data.
    pub async fn operation<P: PaymentOperation>(&self, name: &str, request: P) -> Result<PaymentOutcome, FleetError> {
        self.machine::<Operation<P>>(request.clone())?;
        let terms = self.terms::<Operation<P>>(name, &request);
        storable(&terms)?;
        done(self.settle::<Operation<P>>(terms, request, Stays::UntilItEnds).await?)
    }

    /// Begins any machine, or joins the one that was begun under the same terms.
    async fn settle<M: StoredMachine>(
        &self,
        terms: Terms,
        request: M::Request,
        stays: Stays,
    ) -> Result<FleetStep, FleetError> {
        if self.is_stopping() {
            return Err(FleetError::ShuttingDown { reference: terms.key.reference });
        }
        let mut told = Told::default();
        if let Some(busy) = self.occupy(&terms.key.reference) {
            if let Some(stop) = self.why_stopped_at_last(&stays).await? {
                return self.told_while_stopped(&terms, stop).await;
            }
            if let Some(settled) = self.begin_here::<M>(busy, &terms, request.clone(), &mut told, &stays).await {
                return settled;
            }
        }
        self.join::<M>(&terms, request, told, &stays).await
    }

    /// Stores a payment that any worker may charge, and returns when it is stored. The payment must contain no card
    /// data.
    ///
    /// # Errors
    /// As [`charge`](Self::charge); a payment with card data is [`FleetError::Store`] with [`StoreError::Unreadable`].
    pub async fn submit<P: Payment>(&self, payment: P) -> Result<(), FleetError> {
        let machine = self.machine::<Charge<P>>(payment.clone())?;
        let terms = self.terms::<Charge<P>>(machine.reference(), &payment);
        storable(&terms)?;
        let state = machine.save();
        let new = self.new_intent(&terms, &state, None);
        self.0.accounts.before_first(&*self.0.store).await?;
        let begun = self.0.store.begin(new).await?;
        self.0.accounts.first_has_begun();
        match begun {
            crate::Begun::New => {
                self.0.ended.notify_waiters();
                Ok(())
            }
            crate::Begun::Existing(found) => same_payment(&terms, &found),
        }
    }

    /// Returns the outcome of a payment that any server has begun; `None` if none was begun under this reference. It neither waits nor
    /// looks an unknown payment up.
    ///
    /// # Errors
    /// [`FleetError::Pending`] for a payment that has not ended, also while it waits for its customer, [`FleetError::Parked`] if an
    /// operator has parked it before it had an outcome, and [`FleetError::Store`].
    pub async fn outcome(&self, reference: &str) -> Result<Option<PaymentOutcome>, FleetError> {
        let key = IntentKey::new(&*self.0.account, reference);
        let Some(found) = self.0.store.find(&key).await? else { return Ok(None) };
        found.is_readable()?;
        match (found.status, &found.outcome) {
            // A payment that was parked and asks again keeps its earlier outcome for the outbox.
            (IntentStatus::Open, _) => Err(FleetError::Pending { reference: reference.to_owned() }),
            (_, Some(outcome)) => Ok(Some(self.read(outcome, &found.kind, reference)?)),
            (_, None) => Err(FleetError::Parked { reference: reference.to_owned() }),
        }
    }

    /// Returns the client. Its calls obey the limits that all processes share.
    pub fn client(&self) -> &Client<T> {
        &self.0.client
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<S> {
        &self.0.store
    }

    /// Returns the account's name in rows: identity and base address, or [`FleetPlan::stored_as`].
    #[must_use]
    pub fn account(&self) -> &str {
        &self.0.account
    }

    /// Returns this worker's name in rows.
    #[must_use]
    pub fn owner(&self) -> &str {
        &self.0.owner
    }

    /// Stops this worker: it begins and claims nothing more, and hands over each intent before its next request. A request in flight
    /// gets its reply first. [`run`](Self::run) then ends. A call that works on a payment now stays with it, also after the plan's
    /// patience: let the server end its requests before the process ends.
    pub fn shut_down(&self) {
        self.0.stopping.store(true, Ordering::SeqCst);
        self.0.stop.notify_waiters();
    }

    /// Lets all workers send again. Call it when the credentials are correct. Other processes notice within a poll, and
    /// clients that were refused themselves need [`Client::resume_sending`](pg_hyper::Client::resume_sending) or a
    /// restart with the new credentials. It also lets this process send again after [`FleetError::Unanswered`].
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn resume_sending(&self) -> Result<(), StoreError> {
        self.0.limits.resume_sending().await?;
        self.0.client.resume_sending();
        Ok(())
    }

    /// Returns the limits that all processes of the account share.
    #[must_use]
    pub fn limits(&self) -> &FleetLimits<S> {
        &self.0.limits
    }

    fn is_stopping(&self) -> bool {
        self.0.stopping.load(Ordering::SeqCst)
    }

    fn machine<M: StoredMachine>(&self, request: M::Request) -> Result<M, FleetError> {
        M::new(Arc::new(self.0.client.account().clone()), request, &self.0.plan.bounds)
    }

    fn terms<M: StoredMachine>(&self, reference: &str, request: &impl pg_hyper::proto::model::ApiRequest) -> Terms {
        machines::terms::<M>(&self.0.account, reference, request)
    }

    fn new_intent(&self, terms: &Terms, state: &SavedState, owner: Option<String>) -> NewIntent {
        let Terms { key, kind, digest, request } = terms.clone();
        let (state, version) = (state.text().to_owned(), machines::VERSION);
        NewIntent { key, kind, digest, request, state, version, owner, lease: self.0.plan.lease }
    }

    fn occupy(&self, reference: &str) -> Option<Busy<S, T>> {
        let mut busy = self.0.busy.lock().unwrap_or_else(PoisonError::into_inner);
        let free = busy.insert(reference.to_owned());
        free.then(|| Busy { fleet: self.clone(), reference: reference.to_owned() })
    }

    /// Releases a lease for other workers. If the store cannot be reached, the lease expires.
    async fn give_up(&self, hold: Option<IntentLease>, wake: Duration) {
        if let Some(hold) = hold
            && let Err(error) = self.0.store.release(&hold, wake).await
        {
            tracing::warn!(target: "pg.fleet", %error, "a lease was not handed over, and ends by itself");
        }
    }

    fn read(&self, outcome: &str, kind: &str, reference: &str) -> Result<PaymentOutcome, FleetError> {
        let unique = machines::pays_under_its_reference(kind).then_some(reference);
        Ok(PaymentOutcome::read(outcome, machines::service(kind), unique, self.0.client.account().dialect())?)
    }

    async fn sleep(&self, pause: Duration) {
        let clock = &self.0.plan.clock;
        clock.sleep_until(clock.now().after(pause)).await;
    }

    /// Begins the time for which a caller waits.
    fn patience(&self) -> Patience {
        Patience::begin(&self.0.plan.clock, self.0.plan.patience)
    }

    /// Returns the delay between two attempts to reach the store.
    fn pause(&self) -> Duration {
        self.0.plan.poll.min(Duration::from_secs(1))
    }
}

/// Checks that another process can send the payment.
fn storable(terms: &Terms) -> Result<(), FleetError> {
    match terms.request {
        Some(_) => Ok(()),
        None => {
            Err(StoreError::Unreadable("a payment with card data is charged by the process that holds it".to_owned())
                .into())
        }
    }
}

/// Returns the outcome of a machine without demands.
fn done(step: FleetStep) -> Result<PaymentOutcome, FleetError> {
    match step {
        FleetStep::Done(settled) => Ok(settled),
        FleetStep::Ask(_) => Err(StoreError::Unreadable("it waits for a customer".to_owned()).into()),
    }
}

fn same_payment(terms: &Terms, found: &IntentRow) -> Result<(), FleetError> {
    found.is_readable()?;
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
