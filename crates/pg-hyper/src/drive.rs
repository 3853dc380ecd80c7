//! Drives machines: sends what they ask for, waits until when they say, and stores them before each request and each wait.

use std::{
    collections::VecDeque,
    fmt,
    future::ready,
    pin::{Pin, pin},
    task::{Context, Poll},
};

use pg_model::mask;
use pg_proto::machine::{Action, Event, Failure, Machine, Moment, Never, SavedState};
use tracing::{Instrument, Span, field::Empty};

use crate::{Client, DurableFile, HyperTransport, ReceiptHandle, Transport};

mod account_update;
mod charge;
mod checkout;
mod clock;
mod drive_error;
mod exchange;
mod keeper;
mod random;
mod receipts;
mod retry;
mod scheduler;
mod store;
mod three_d_secure;
mod virtual_clock;

pub use account_update::{AccountUpdateDrive, KeySource, UpdateEvent};
pub use charge::ChargeDrive;
pub use checkout::CheckoutDrive;
pub use clock::{Clock, SystemClock};
pub use drive_error::DriveError;
pub use retry::RetryDrive;
pub use store::StoreError;
pub use three_d_secure::ThreeDSecureDrive;
pub use virtual_clock::VirtualClock;

pub(crate) use random::Dice;
pub(crate) use scheduler::RequestScheduler;
pub(crate) use store::Store;

use exchange::{Exchanged, exchange};
use receipts::{Held, ReceiptHandles};

pub(crate) type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A machine driven by a client.
///
/// Before each request the drive asks the throttle that all clones of a client share, and saves the machine, if there is a
/// [`store`](Self::store). Then it sends the request, once.
///
/// Every future of a drive can be dropped at any time and requested again: work in progress, such as a sent request, is kept in
/// the drive and continues. If the drive itself is dropped, resume from the last saved state, for example with
/// [`Client::resume_charge`].
///
/// A machine without demands can be awaited or spawned:
///
/// ```no_run
/// # use pg_hyper::{Client, DurableFile, proto::{machine::charge::ChargeOutcome, model::Auth}};
/// # async fn pay(client: Client, payment: Auth, file: DurableFile) -> Result<(), Box<dyn std::error::Error>> {
/// match client.charge(payment)?.store_in(file).await {
///     ChargeOutcome::Approved(paid) => println!("paid, transaction {}", paid.transaction_key),
///     other => println!("not paid, or not known: {other:?}"),
/// }
/// # Ok(())
/// # }
/// ```
///
/// A machine with demands, such as 3-D Secure, is a loop: [`next`](Self::next) returns a demand, and
/// [`handle_input`](Self::handle_input) takes the answer:
///
/// ```no_run
/// # use pg_hyper::{DriveStep, Transport, Drive, proto::machine::Machine};
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
/// All its requests and events are in one span, `pg.drive`, a child of the span in which it was created, with the fields `machine`,
/// `reference` and `outcome`.
pub struct Drive<M: Machine, T = HyperTransport> {
    machine: M,
    client: Client<T>,
    store: Option<Store>,
    /// Whether the machine is stored after each reply and input, not only before requests and waits.
    eager: bool,
    inputs: VecDeque<(M::Input, Option<Held>)>,
    receipts: ReceiptHandles,
    position: Position<M::Demand, M::Outcome>,
    error: Option<DriveError>,
    span: Span,
}

/// What a machine wants of its owner.
#[derive(Debug)]
#[must_use]
pub enum DriveStep<D, O> {
    /// Answer this with [`Drive::handle_input`], then ask again for what is next.
    Ask(D),
    /// It is over.
    Done(O),
}

/// Where a drive stands. Everything that takes time lives in here, so that it survives the future that waits for it.
enum Position<D, O> {
    Begin,
    /// The machine is waited for by its owner, or the other way round.
    Idle,
    Exchanging(Pending<Exchanged>),
    Waiting(Pending<()>),
    /// The machine has decided, and is stored before that comes true.
    Keeping(Pending<Result<(), StoreError>>, Decided<D, O>),
}

enum Decided<D, O> {
    Wait(Moment),
    Tell(DriveStep<D, O>),
}

impl<M, T> Drive<M, T>
where
    M: Machine,
    T: Transport + Clone + 'static,
{
    pub(crate) fn new(client: Client<T>, machine: M) -> Self {
        let reference = machine.subject().map(mask::text);
        let span = tracing::info_span!("pg.drive", machine = machine.name(), reference, outcome = Empty);
        Self {
            span,
            machine,
            client,
            store: None,
            eager: false,
            inputs: VecDeque::new(),
            receipts: ReceiptHandles::default(),
            position: Position::Begin,
            error: None,
        }
    }

    /// Stores the machine before each request, durably: the request leaves only when the future of `store` has ended
    /// well. When it fails, nothing is sent, and the machine takes that for [`Failure::HeldBack`]; the reason is the
    /// [`error`](Self::error).
    ///
    /// It is stored before each wait that follows a reply, too, and when it fails then, it waits all the same: what the
    /// service said last, and for how long it wants no request, survives a crash then.
    ///
    /// The same state may be stored twice, and a later one replaces those before. Once the machine is over, note its
    /// outcome durably, then throw away what was stored, and resume nothing of which an outcome was noted: a machine that
    /// is resumed goes on, and may pay.
    ///
    /// Without a store a crash loses the machine, though never more than one payment's reference can tell.
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

    /// [Stores](Self::store) the machine in this file: the file holds a complete state at any time, and it is on the disk
    /// before the request is sent. The thread waits for the disk meanwhile.
    #[must_use]
    pub fn store_in(self, file: DurableFile) -> Self {
        self.store(move |saved| ready(file.write(saved.text())))
    }

    /// Stores the machine after every reply and input as well.
    fn eager(mut self) -> Self {
        self.eager = true;
        self
    }

    /// What would be stored now.
    #[must_use]
    pub fn saved(&self) -> SavedState {
        self.machine.save()
    }

    /// The machine, to look at.
    pub const fn machine(&self) -> &M {
        &self.machine
    }

    /// What went wrong last: why a request had no reply, or why it was held back. `None` as long as nothing did.
    ///
    /// It is for people. What follows from it the machine says.
    #[must_use]
    pub const fn error(&self) -> Option<&DriveError> {
        self.error.as_ref()
    }

    /// Changes the machine before it begins.
    fn change(mut self, change: impl FnOnce(M) -> M) -> Self {
        self.machine = change(self.machine);
        self
    }

    /// Gives the machine an input. It takes it once it waits neither for a reply nor for being stored, and before its next
    /// demand.
    pub fn handle_input(&mut self, input: M::Input) {
        self.inputs.push_back((input, None));
    }

    /// Gives the machine an input from a callback, and acknowledges the callback once the machine was stored with it, or has taken
    /// it if there is no [`store`](Self::store). If the drive is dropped before, the service is asked to send it again.
    pub fn handle_received_input(&mut self, input: M::Input, receipt: ReceiptHandle) {
        self.inputs.push_back((input, Some(Held::new(receipt))));
    }

    /// Goes on until the machine asks something or is over. Asked again before an answer was told, or after the end, the
    /// machine repeats itself.
    ///
    /// The future may be dropped at any time, and nothing is lost: to wait for other things too, `select!` between this
    /// and them, and call it again.
    pub async fn next(&mut self) -> DriveStep<M::Demand, M::Outcome> {
        loop {
            if let Some(next) = self.turn().await {
                return next;
            }
        }
    }

    /// One step of the machine, and the wait before it.
    pub(crate) async fn turn(&mut self) -> Option<DriveStep<M::Demand, M::Outcome>> {
        if let Position::Keeping(keeping, _) = &mut self.position {
            let kept = keeping.as_mut().await;
            let Position::Keeping(_, decided) = std::mem::replace(&mut self.position, Position::Idle) else {
                return None;
            };
            let Err(error) = kept else {
                self.receipts.give();
                return self.decided(decided);
            };
            self.note(DriveError::Store(error));
            if let Decided::Tell(DriveStep::Ask(_)) = decided {
                // Whether that matters is for the machine to say: it asks again, or ends.
                return self.step(Event::Failed(Failure::HeldBack), false);
            }
            return self.decided(decided);
        }
        let event = self.event().await;
        let news = !matches!(event, Event::Begin | Event::Woken);
        self.step(event, news)
    }

    /// What happens next. Nothing is awaited after anything was taken out of `self`.
    async fn event(&mut self) -> Event<M::Input> {
        match &mut self.position {
            Position::Begin => Event::Begin,
            Position::Exchanging(exchange) => {
                let exchanged = exchange.as_mut().await;
                self.position = Position::Idle;
                match exchanged {
                    Exchanged::Reply(response) => Event::Reply(response),
                    Exchanged::Failed(error) => {
                        let failure = error.failure();
                        self.note(error);
                        Event::Failed(failure)
                    }
                }
            }
            Position::Waiting(_) | Position::Idle | Position::Keeping(..) if !self.inputs.is_empty() => {
                let Some((input, receipt)) = self.inputs.pop_front() else { return Event::Woken };
                receipt.into_iter().for_each(|held| self.receipts.add(held));
                Event::Input(input)
            }
            Position::Waiting(waiting) => {
                waiting.as_mut().await;
                Event::Woken
            }
            Position::Idle | Position::Keeping(..) => Event::Woken,
        }
    }

    /// `news`: worth storing.
    fn step(&mut self, event: Event<M::Input>, news: bool) -> Option<DriveStep<M::Demand, M::Outcome>> {
        let decided = match self.machine.step(event, self.client.scheduler().now(), self.client.scheduler().random()) {
            Action::Send(request) => {
                let store = self.store.clone().map(|store| (store, self.machine.save()));
                let service = self.machine.service();
                let exchange = exchange(self.client.clone(), store, self.receipts.clone(), service, request);
                self.position = Position::Exchanging(Box::pin(exchange.instrument(self.span.clone())));
                return None;
            }
            Action::WaitUntil(moment) => Decided::Wait(moment),
            Action::Ask(demand) => Decided::Tell(DriveStep::Ask(demand)),
            Action::Done(outcome) => {
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
        self.position = Position::Keeping(Box::pin(store.put(self.machine.save())), decided);
        None
    }

    fn decided(&mut self, decided: Decided<M::Demand, M::Outcome>) -> Option<DriveStep<M::Demand, M::Outcome>> {
        match decided {
            Decided::Wait(moment) => {
                self.position = Position::Waiting(Box::pin(self.client.scheduler().sleep_until(moment)));
                None
            }
            Decided::Tell(next) => {
                self.position = Position::Idle;
                // A question to which an answer waits may be answered by it. If not, the machine asks again.
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
    /// Goes on to the end. The future may be dropped at any time, and this called again; after the end the machine says
    /// again how it ended.
    pub async fn run(&mut self) -> M::Outcome {
        match self.next().await {
            DriveStep::Done(outcome) => outcome,
            DriveStep::Ask(never) => match never {},
        }
    }
}

/// Nothing in it is pinned: what is polled lies in boxes.
impl<M: Machine, T> Unpin for Drive<M, T> {}

/// Goes on to the end. When it is dropped, what was stored last is what is left; a reference to it may be awaited as well.
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
        // Whatever is under way stays in the drive, so that this future may be made anew each time.
        pin!(self.get_mut().run()).poll(context)
    }
}

impl<M: Machine + fmt::Debug, T> fmt::Debug for Drive<M, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drive").field("machine", &self.machine).field("error", &self.error).finish_non_exhaustive()
    }
}
