//! Drives machines: sends their requests, waits as they ask, and saves them before each request and each wait.

use std::{
    collections::VecDeque,
    fmt,
    future::ready,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use pg_model::mask;
use pg_proto::machine::{Action, Event, Failure, Machine, Moment, Never, SavedState};
use tracing::{Instrument, Span, field::Empty};

use crate::{
    Client, DriveError, DurableFile, HyperTransport, ReceiptHandle, StoreError, Transport, clock::Pending, store::Store,
};

mod account_update;
mod charge;
mod checkout;
mod exchange;
mod receipts;
mod retry;
mod three_d_secure;

pub use account_update::{AccountUpdateDrive, KeySource, UpdateEvent};
pub use charge::ChargeDrive;
pub use checkout::CheckoutDrive;
pub use retry::RetryDrive;
pub use three_d_secure::ThreeDSecureDrive;

use exchange::{Exchanged, Landing, exchange, landed};
use receipts::ReceiptHandles;

/// A machine driven by a client.
///
/// Before each request the drive asks the throttle that all clones of a client share, and saves the machine, if there
/// is a [`store`](Self::store). Then it sends the request, once.
///
/// Every future of a drive can be dropped at any time and requested again. Work in progress, such as a sent request, is
/// kept in the drive and continues. If the drive itself is dropped, resume from the last saved state, for example with
/// [`Client::resume_charge`].
///
/// A machine without demands can be awaited or spawned:
///
/// ```no_run
/// use pg_hyper::{Client, DurableFile, proto::{machine::charge::ChargeOutcome, model::Auth}};
/// # async fn pay(client: Client, payment: Auth, file: DurableFile) -> Result<(), Box<dyn std::error::Error>> {
/// let charging = match file.saved()? {
///     Some(saved) => client.resume_charge(&saved, Some(payment))?,
///     None => client.charge(payment)?,
/// };
/// let charged = charging.store_in(file.clone()).await;
/// match &charged {
///     ChargeOutcome::Approved(paid) => println!("paid, transaction {}", paid.transaction_key),
///     // The order may have been paid: make this lookup later.
///     ChargeOutcome::Unknown { reconcile, .. } => println!("outcome unknown: {reconcile:?}"),
///     other => println!("not paid: {other:?}"),
/// }
/// // … record the outcome in the order, durably. After an unknown one keep the state: the next run looks the payment up.
/// if !matches!(charged, ChargeOutcome::Unknown { .. }) {
///     file.remove()?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// A machine with demands, such as 3-D Secure, is a loop: [`next`](Self::next) returns a demand, and
/// [`handle_input`](Self::handle_input) takes the answer:
///
/// ```no_run
/// use pg_hyper::{DriveStep, Transport, Drive, proto::machine::Machine};
/// # async fn go<M: Machine, T: Transport + Clone + 'static>(mut drive: Drive<M, T>, answer: impl Fn(M::Demand) -> M::Input) -> M::Outcome {
/// loop {
///     match drive.next().await {
///         DriveStep::Ask(demand) => drive.handle_input(answer(demand)),
///         DriveStep::Done(outcome) => return outcome,
///     }
/// }
/// # }
/// ```
///
/// All requests and events of a drive are in one span, `pg.drive`, a child of the span in which the drive was created,
/// with the fields `machine`, `reference` and `outcome`.
pub struct Drive<M: Machine, T = HyperTransport> {
    machine: M,
    client: Client<T>,
    /// The state from which the machine was resumed.
    resumed_from: Option<SavedState>,
    store: Option<Store>,
    /// Whether the machine is also saved after each reply and input.
    eager: bool,
    /// Whether the machine has returned its outcome.
    has_ended: bool,
    inputs: VecDeque<(M::Input, Option<ReceiptHandle>)>,
    receipts: ReceiptHandles,
    position: Position<M::Demand, M::Outcome>,
    landing: Landing,
    /// Whether the request of the present exchange was permitted. From then on it may be saved as sent.
    departed: Arc<AtomicBool>,
    error: Option<DriveError>,
    span: Span,
}

/// The next step of a [`Drive`]: a question for the owner of the machine, or its outcome.
#[derive(Debug)]
#[must_use]
pub enum DriveStep<D, O> {
    /// Answer this with [`Drive::handle_input`], then call [`Drive::next`] again.
    Ask(D),
    /// The machine has ended.
    Done(O),
}

/// The position of a drive. Pending operations are stored here, so that they survive a dropped future.
enum Position<D, O> {
    Begin,
    /// The machine waits for its owner, or the owner has not called yet.
    Idle,
    Exchanging(Pending<Exchanged>),
    Waiting(Moment, Pending<()>),
    /// The machine has decided, and must be saved before the decision takes effect.
    Keeping(Pending<Result<(), StoreError>>, Decided<D, O>),
}

enum Decided<D, O> {
    Wait(Moment),
    Tell(DriveStep<D, O>),
}

impl<T: Transport + Clone + 'static> Client<T> {
    /// Drives a machine. The machines of this crate have their own methods, such as [`charge`](Self::charge). If the
    /// machine was resumed, pass its state to [`Drive::resumed_from`].
    pub fn drive<M: Machine>(&self, machine: M) -> Drive<M, T> {
        let reference = machine.subject().map(mask::text);
        let span = tracing::info_span!("pg.drive", machine = machine.name(), reference, outcome = Empty);
        Drive {
            span,
            machine,
            client: self.clone(),
            resumed_from: None,
            store: None,
            eager: false,
            has_ended: false,
            inputs: VecDeque::new(),
            receipts: ReceiptHandles::default(),
            position: Position::Begin,
            landing: None,
            departed: Arc::default(),
            error: None,
        }
    }
}

impl<M, T> Drive<M, T>
where
    M: Machine,
    T: Transport + Clone + 'static,
{
    /// Saves the machine durably before each request: the request is sent only after the future of `store` has
    /// succeeded. If it fails, nothing is sent and the machine receives [`Failure::HeldBack`]; [`error`](Self::error)
    /// has the reason.
    ///
    /// The machine is also saved before each wait that follows a reply, so that a crash does not lose what the service
    /// said last, for example for how long it refuses requests. If that fails, the machine waits anyway.
    ///
    /// The same state may be saved twice. A later state replaces earlier states. When the machine has ended, record its
    /// outcome durably, then delete the saved state. Never resume a machine whose outcome is recorded: it would
    /// continue, and may pay. An unknown outcome is the exception: keep the state, and resume the machine later, so
    /// that it looks the payment up. Without the state, the same call begins again and sends the payment.
    ///
    /// **Only one drive may work on a machine at a time**, and it must be resumed from the state that was saved last. Two
    /// drives that were resumed from one state, for example by two requests for the return URL of one customer, may both
    /// pay. If your program does not exclude that, use [`store_if`](Self::store_if).
    ///
    /// Without a store, a crash loses the machine. Then only a lookup of the payment's reference can tell what happened.
    #[must_use]
    pub fn store<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<(), E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.store = Some(Store::new(store));
        self
    }

    /// [Saves](Self::store) the machine only if the stored state is the one that this drive knows: `store` gets the state
    /// from which the drive was resumed or that it saved last, `None` before the first save of a new machine, and the new
    /// state. It must replace the first by the second in one step, and return whether it did: `false` if the stored state is
    /// another one. In SQL, that is `UPDATE … SET state = $2 WHERE state = $1`, or `INSERT … ON CONFLICT DO NOTHING` for
    /// `None`, and whether a row was found or inserted. Both states may be equal, for example when an overdue payment is looked up
    /// again. MySQL and MariaDB count a row that does not change only if the client sets `CLIENT_FOUND_ROWS`; without it,
    /// a drive would end as superseded although it is the only one.
    ///
    /// After `false`, another drive or an earlier run owns the machine, and may have paid. This drive sends nothing. Its
    /// machine receives [`Failure::Superseded`] and ends at once: a payment as *Unknown*, for the reason
    /// [`Superseded`](pg_proto::machine::UnknownReason::Superseded). Do not record this as the outcome of the payment. That
    /// is the outcome of the other drive, or of a drive that is resumed from the stored state.
    ///
    /// An error says that it is not known whether the state was stored. Then the machine receives [`Failure::HeldBack`], as
    /// with [`store`](Self::store), and the next save calls `store` with each state that may be stored, until it returns
    /// `true`. So do not return an error for a row that exists already.
    ///
    /// ```no_run
    /// use pg_hyper::{Client, ThreeDSecureDrive, proto::machine::SavedState};
    /// # async fn update(sql: &str, parameters: [String; 2]) -> Result<u64, std::io::Error> { Ok(1) }
    /// # fn resume(client: Client, saved: SavedState) -> Result<ThreeDSecureDrive, Box<dyn std::error::Error>> {
    /// let payment = client.resume_three_d_secure(&saved)?.store_if(|previous, new| async move {
    ///     let previous = previous.map_or_else(String::new, |previous| previous.text().to_owned());
    ///     let sql = "UPDATE orders SET state = $2 WHERE id = 7 AND state = $1";
    ///     update(sql, [previous, new.text().to_owned()]).await.map(|rows| rows == 1)
    /// });
    /// # Ok(payment)
    /// # }
    /// ```
    #[must_use]
    pub fn store_if<F, Stored, E>(mut self, store: F) -> Self
    where
        F: Fn(Option<SavedState>, SavedState) -> Stored + Send + Sync + 'static,
        Stored: Future<Output = Result<bool, E>> + Send + 'static,
        E: Into<StoreError>,
    {
        self.store = Some(Store::comparing(self.resumed_from.clone(), store));
        self
    }

    /// [Saves](Self::store_if) the machine in this file, if the file has the state that this drive knows. The file is locked
    /// meanwhile, so of two drives at once, also of two processes, one is superseded. The file of a
    /// new machine must not exist yet: resume the machine that it contains, or remove the file once the outcome is
    /// recorded. Otherwise the machine ends as [superseded](Self::store_if), for a payment that is *Unknown*: keep the file.
    /// If a state was [rebound](SavedState::rebind), write it to the file before it is resumed. The file always
    /// contains a complete state, and it is on the disk before the request is sent. The thread waits for the disk.
    #[must_use]
    pub fn store_in(self, file: DurableFile) -> Self {
        self.store_if(move |previous, saved| ready(file.replace(previous.as_ref(), &saved)))
    }

    /// States from which state the [driven](Client::drive) machine was resumed, for [`store_if`](Self::store_if) and
    /// [`store_in`](Self::store_in). Call it before them. The methods that resume a machine, such as
    /// [`Client::resume_charge`], do that.
    #[must_use]
    pub fn resumed_from(mut self, saved: &SavedState) -> Self {
        self.resumed_from = Some(saved.clone());
        self
    }

    /// Saves the machine after every reply and input as well.
    fn eager(mut self) -> Self {
        self.eager = true;
        self
    }

    /// Returns the state that would be saved now.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.machine.save()
    }

    /// Returns the machine.
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// Returns the last error: why a request had no reply, or why it was held back. `None` if there was none.
    ///
    /// Use it for logs and messages only: the machine decides what happens next.
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.error.as_ref()
    }

    /// Returns the moment until which the machine waits, if it now waits for that moment or an input only. Then the drive can be
    /// dropped, and the machine resumed at that moment from the state that [`saved`](Self::saved) returns now.
    #[must_use]
    pub fn waits_until(&self) -> Option<Moment> {
        match self.position {
            Position::Waiting(moment, _) if self.inputs.is_empty() => Some(moment),
            _ => None,
        }
    }

    /// Whether dropping the drive now would lose what the service replies, or has replied: a request was permitted and the
    /// machine has not taken its reply, or a state is being saved.
    fn awaits_reply(&self) -> bool {
        match self.position {
            Position::Exchanging(_) => self.departed.load(Ordering::Acquire),
            Position::Keeping(..) => true,
            Position::Begin | Position::Idle | Position::Waiting(..) => false,
        }
    }

    /// Changes the machine before it begins.
    fn change(mut self, change: impl FnOnce(M) -> M) -> Self {
        self.machine = change(self.machine);
        self
    }

    /// Gives the machine an input. The machine takes the input when it waits neither for a reply nor for being saved,
    /// and before its next demand.
    pub fn handle_input(&mut self, input: M::Input) {
        self.inputs.push_back((input, None));
    }

    /// Gives the machine an input from a callback. The callback is acknowledged when the machine was saved with the
    /// input, or, without a [`store`](Self::store), when the machine has taken it. If the drive is dropped earlier, or the
    /// machine has ended, the callback is refused, so that the service may send it again.
    pub fn handle_received_input(&mut self, input: M::Input, receipt: ReceiptHandle) {
        self.inputs.push_back((input, Some(receipt)));
    }

    /// Runs until the machine has a demand or ends. If called again before an answer, or after the end, it returns the
    /// same step.
    ///
    /// The future can be dropped at any time without loss: to wait for other events too, use `select!` and call it
    /// again.
    pub async fn next(&mut self) -> DriveStep<M::Demand, M::Outcome> {
        loop {
            if let Some(next) = self.turn().await {
                return next;
            }
        }
    }

    /// Makes one step of the machine, after the wait before it. `None`: the machine goes on, or [waits](Self::waits_until). The future can be
    /// dropped at any time without loss.
    pub async fn turn(&mut self) -> Option<DriveStep<M::Demand, M::Outcome>> {
        if let Position::Keeping(keeping, _) = &mut self.position {
            let kept = keeping.as_mut().await;
            let Position::Keeping(_, decided) = std::mem::replace(&mut self.position, Position::Idle) else {
                return None;
            };
            let Err(error) = kept else {
                self.receipts.give();
                return self.decided(decided);
            };
            let error = DriveError::of_store(error);
            let failure = error.failure();
            self.note(error);
            return match decided {
                Decided::Tell(DriveStep::Done(_)) => self.decided(decided),
                Decided::Wait(_) if failure != Failure::Superseded => self.decided(decided),
                // The machine decides what happens next: it asks again, or ends.
                Decided::Wait(_) | Decided::Tell(DriveStep::Ask(_)) => self.step(Event::Failed(failure), false),
            };
        }
        let event = self.event().await;
        let news = !matches!(event, Event::Begin | Event::Woken);
        self.step(event, news)
    }

    /// Returns the next event. Nothing is awaited after a value was taken out of `self`.
    async fn event(&mut self) -> Event<M::Input> {
        match &mut self.position {
            Position::Begin => Event::Begin,
            Position::Exchanging(exchange) => {
                let exchanged = exchange.as_mut().await;
                self.position = Position::Idle;
                match exchanged {
                    Exchanged::Reply(response, landing) => {
                        self.landing = landing;
                        Event::Reply(response)
                    }
                    Exchanged::Failed(error) => {
                        let failure = error.failure();
                        self.note(error);
                        Event::Failed(failure)
                    }
                }
            }
            Position::Waiting(..) | Position::Idle | Position::Keeping(..) if !self.inputs.is_empty() => {
                let Some((input, receipt)) = self.inputs.pop_front() else { return Event::Woken };
                // A machine that has ended ignores the input: its receipt is dropped, which refuses the callback.
                receipt.into_iter().filter(|_| !self.has_ended).for_each(|receipt| self.receipts.add(receipt));
                Event::Input(input)
            }
            Position::Waiting(_, waiting) => {
                waiting.as_mut().await;
                Event::Woken
            }
            Position::Idle | Position::Keeping(..) => Event::Woken,
        }
    }

    /// `news` says whether the event is worth saving.
    fn step(&mut self, event: Event<M::Input>, news: bool) -> Option<DriveStep<M::Demand, M::Outcome>> {
        let decided = match self.machine.step(event, self.client.scheduler().now(), self.client.scheduler().random()) {
            Action::Send(request) => {
                let store = self.store.clone().map(|store| (store, self.machine.save()));
                let service = self.machine.service();
                self.departed = Arc::default();
                let (client, receipts) = (self.client.clone(), self.receipts.clone());
                let receipts = (receipts, self.eager && store.is_some());
                let exchange = exchange(client, store, receipts, Arc::clone(&self.departed), service, request);
                let landing = self.landing.take();
                let exchange = async move {
                    landed(landing).await;
                    exchange.await
                };
                self.position = Position::Exchanging(Box::pin(exchange.instrument(self.span.clone())));
                return None;
            }
            Action::WaitUntil(moment) => Decided::Wait(moment),
            Action::Ask(demand) => Decided::Tell(DriveStep::Ask(demand)),
            Action::Done(outcome) => {
                self.has_ended = true;
                self.span.record("outcome", M::label(&outcome));
                Decided::Tell(DriveStep::Done(outcome))
            }
        };
        let worth_it = news && (self.eager || matches!(decided, Decided::Wait(_)));
        let Some(store) = self.store.as_ref().filter(|_| worth_it) else {
            if self.store.is_none() {
                self.receipts.give();
            }
            return self.decided(decided);
        };
        let (put, landing) = (store.put(self.machine.save()), self.landing.take());
        let keeping = async move {
            let kept = put.await;
            landed(landing).await;
            kept
        };
        self.position = Position::Keeping(Box::pin(keeping), decided);
        None
    }

    fn decided(&mut self, decided: Decided<M::Demand, M::Outcome>) -> Option<DriveStep<M::Demand, M::Outcome>> {
        match decided {
            Decided::Wait(moment) => {
                self.position = Position::Waiting(moment, Box::pin(self.client.scheduler().sleep_until(moment)));
                None
            }
            Decided::Tell(next) => {
                self.position = Position::Idle;
                // A waiting input may answer this demand. If it does not, the machine asks again.
                Some(next).filter(|next| matches!(next, DriveStep::Done(_)) || self.inputs.is_empty())
            }
        }
    }

    fn note(&mut self, error: DriveError) {
        self.span.in_scope(|| tracing::warn!(target: "pg.drive", %error));
        self.error = Some(error);
    }
}

impl<M, T> Drive<M, T>
where
    M: Machine<Demand = Never>,
    T: Transport + Clone + 'static,
{
    /// Runs to the end. The future can be dropped at any time, and this function called again. After the end, the
    /// machine returns its outcome again.
    pub async fn run(&mut self) -> M::Outcome {
        match self.next().await {
            DriveStep::Done(outcome) => outcome,
            DriveStep::Ask(never) => match never {},
        }
    }
}

/// No field is pinned: polled futures are boxed.
impl<M: Machine, T> Unpin for Drive<M, T> {}

/// Runs to the end. If the drive is dropped, the last saved state remains. You can also await a `&mut` reference to it.
///
/// ```
/// use pg_hyper::{ChargeDrive, Client, proto::model::AuthCardKey};
///
/// # fn pay(client: &Client, auth: AuthCardKey) -> Result<(), pg_hyper::proto::Misuse> {
/// let charging: ChargeDrive<AuthCardKey> = client.charge(auth)?;
/// let task = tokio::spawn(charging);
/// # drop(task);
/// # Ok(())
/// # }
/// ```
impl<M, T> Future for Drive<M, T>
where
    M: Machine<Demand = Never>,
    T: Transport + Clone + 'static,
{
    type Output = M::Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<M::Outcome> {
        // Pending operations stay in the drive, so this future can be created again each time.
        pin!(self.get_mut().run()).poll(context)
    }
}

impl<M: Machine + fmt::Debug, T> fmt::Debug for Drive<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive").field("machine", &self.machine).field("error", &self.error).finish_non_exhaustive()
    }
}
