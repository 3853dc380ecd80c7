//! Payments under way: one task an order drives its machine, which is saved in the order before each request is sent.

use std::{
    collections::HashMap,
    error::Error,
    future::ready,
    mem::discriminant,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pg_hyper::{
    CheckoutDrive, Client, DriveStep, EndpointPurpose, Notification, ReceiptHandle, Received, Receiver,
    ReceiverService, ThreeDSecureDrive,
    proto::{
        machine::{
            SavedState,
            checkout::{CheckoutDemand, CheckoutInput, CheckoutOutcome},
            three_d_secure::{ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome},
        },
        model::{
            CheckoutItem, Currency, Flag, GetToken, InitiateThreeDSecureSessionKey, Item, Order as Basket, Outcome,
            TransactionLookup, TransactionType,
        },
    },
};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::timeout,
};

use crate::{
    Config,
    orders::{Order, Orders, Status},
};

/// How long a browser waits for the next step before it is shown a page that asks again.
const PATIENCE: Duration = Duration::from_secs(10);
/// News that wait for one machine.
const NEWS: usize = 16;

/// The payments of the shop.
pub(crate) struct Payments {
    pub(crate) client: Client,
    pub(crate) orders: Orders,
    pub(crate) config: Config,
    callbacks: ReceiverService,
    /// The orders that have a machine at work.
    desks: Mutex<HashMap<String, Desk>>,
    tasks: Mutex<JoinSet<()>>,
}

/// The outside of a machine at work.
struct Desk {
    tell: mpsc::Sender<Told>,
    /// The next page for the customer, if any.
    lead: watch::Receiver<Option<String>>,
}

/// Its inside.
struct Seat {
    id: String,
    told: mpsc::Receiver<Told>,
    lead: watch::Sender<Option<String>>,
}

/// An input for a running machine.
pub(crate) enum Told {
    /// The customer is back from the challenge.
    Back,
    /// A callback or a browser names this transaction. The receipt answers the callback once that is saved.
    Paid(String, Option<ReceiptHandle>),
}

impl Payments {
    /// Opens the shop's payments, and continues those in progress.
    pub(crate) fn open(config: Config, callbacks: ReceiverService) -> Result<Arc<Self>, Box<dyn Error>> {
        let payments = Arc::new(Self {
            client: Client::new(config.account.clone())?,
            orders: Orders::open(config.folder.clone())?,
            config,
            callbacks,
            desks: Mutex::default(),
            tasks: Mutex::default(),
        });
        for order in payments.orders.all() {
            match &order.status {
                Status::Card { saved } => {
                    let payment = payments.client.resume_three_d_secure(&SavedState::from_text(saved.as_str()))?;
                    payments.begin(&order, |payments, seat| payments.secure(payment, seat));
                }
                Status::Hosted { saved, callback } => {
                    let endpoint = payments.callbacks.reopen(EndpointPurpose::CheckoutCallback, callback)?;
                    let saved = SavedState::from_text(saved.as_str());
                    let checkout = payments.client.resume_checkout(&saved, payments.config.checkout)?;
                    let token = endpoint.token().to_owned();
                    payments.begin(&order, |payments, seat| payments.check_out(checkout, token, seat));
                }
                Status::Unknown { .. } => {
                    lock(&payments.tasks).spawn(Arc::clone(&payments).look_up(order));
                }
                Status::Open { .. } | Status::Paid { .. } | Status::NotPaid { .. } => {}
            }
        }
        Ok(payments)
    }

    /// Pays with the card that the customer has posted to this session.
    pub(crate) fn by_card(self: &Arc<Self>, order: &Order, session: &str) -> Result<(), Box<dyn Error>> {
        let basket =
            Basket::new(Currency::GBP).item(Item::new("Tea", order.pence)).unique_merchant_reference(order.reference());
        let back = self.config.address(&order.id, "/back");
        let initiation = InitiateThreeDSecureSessionKey::new(session, basket, back);
        let payment = self.client.three_d_secure(initiation, self.config.plan)?;
        self.begin(order, |payments, seat| payments.secure(payment, seat));
        Ok(())
    }

    /// Pays on the service's own page.
    pub(crate) fn hosted(self: &Arc<Self>, order: &Order) -> Result<(), Box<dyn Error>> {
        let endpoint = self.callbacks.open(EndpointPurpose::CheckoutCallback)?;
        let price = format!("{}.{:02}", order.pence / 100, order.pence % 100);
        let request = GetToken::new()
            .item(CheckoutItem::new("Tea", price))
            .currency(Currency::GBP)
            .trans_reference(order.reference())
            .callback_url(endpoint.url())
            .success_url(self.config.address(&order.id, "/paid"))
            .cancel_url(self.config.address(&order.id, ""))
            .auto_redirect(Flag::YES);
        let checkout = self.client.checkout(request, self.config.checkout)?;
        let token = endpoint.token().to_owned();
        self.begin(order, |payments, seat| payments.check_out(checkout, token, seat));
        Ok(())
    }

    /// Sets a machine to work, unless the order has one or has gone on since it was read.
    fn begin<F>(self: &Arc<Self>, order: &Order, work: impl FnOnce(Arc<Self>, Seat) -> F)
    where
        F: Future<Output = Status> + Send + 'static,
    {
        let (tell, told) = mpsc::channel(NEWS);
        let (show, lead) = watch::channel(None);
        {
            let mut desks = lock(&self.desks);
            let same = self.orders.get(&order.id).is_some_and(|now| {
                now.attempt == order.attempt && discriminant(&now.status) == discriminant(&order.status)
            });
            if !same || desks.contains_key(&order.id) {
                return;
            }
            desks.insert(order.id.clone(), Desk { tell, lead });
        }
        let work = work(Arc::clone(self), Seat { id: order.id.clone(), told, lead: show });
        let (payments, id) = (Arc::clone(self), order.id.clone());
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let status = work.await;
            // One write notes the outcome and drops the machine, so a machine that has ended is never resumed.
            if let Err(error) = payments.orders.change(&id, |order| order.status = status) {
                eprintln!("order {id}: the outcome is not on the disk, the next start asks for it again: {error}");
            }
            lock(&payments.desks).remove(&id);
        });
    }

    /// Drives a card payment with 3-D Secure to its end.
    async fn secure(self: Arc<Self>, payment: ThreeDSecureDrive, mut seat: Seat) -> Status {
        let (payments, id) = (Arc::clone(&self), seat.id.clone());
        let mut payment = payment.store(move |saved| {
            let status = Status::Card { saved: saved.text().to_owned() };
            ready(payments.orders.change(&id, |order| order.status = status).map(drop))
        });
        loop {
            match payment.next().await {
                DriveStep::Ask(ThreeDSecureDemand::Challenge { url, until }) => {
                    seat.lead.send_replace(Some(url.as_str().to_owned()));
                    tokio::select! {
                        Some(_) = seat.told.recv() => payment.handle_input(ThreeDSecureInput::Returned),
                        () = self.client.sleep_until(until) => {}
                    }
                    seat.lead.send_replace(None);
                }
                // The card has no 3-D Secure, and a fraud would be the shop's loss. This shop does not take that risk.
                DriveStep::Ask(ThreeDSecureDemand::Decide { .. }) => payment.handle_input(ThreeDSecureInput::Stop),
                DriveStep::Done(outcome) => return secured(outcome),
            }
        }
    }

    /// Drives a payment on the hosted page to its end.
    async fn check_out(self: Arc<Self>, checkout: CheckoutDrive, callback: String, mut seat: Seat) -> Status {
        let (payments, id) = (Arc::clone(&self), seat.id.clone());
        let mut checkout = checkout.store(move |saved| {
            let status = Status::Hosted { saved: saved.text().to_owned(), callback: callback.clone() };
            ready(payments.orders.change(&id, |order| order.status = status).map(drop))
        });
        loop {
            match checkout.next().await {
                DriveStep::Ask(CheckoutDemand::Redirect { url, until }) => {
                    seat.lead.send_replace(Some(url.as_str().to_owned()));
                    let told = tokio::select! {
                        told = seat.told.recv() => told,
                        () = self.client.sleep_until(until) => None,
                    };
                    seat.lead.send_replace(None);
                    match told {
                        Some(Told::Paid(key, Some(receipt))) => {
                            checkout.handle_received_input(CheckoutInput::Reported(key), receipt)
                        }
                        Some(Told::Paid(key, None)) => checkout.handle_input(CheckoutInput::Reported(key)),
                        Some(Told::Back) | None => {}
                    }
                }
                DriveStep::Done(outcome) => return checked_out(outcome),
            }
        }
    }

    /// Asks what became of a payment whose outcome is unknown. Nothing found is no answer.
    async fn look_up(self: Arc<Self>, order: Order) {
        let lookup = TransactionLookup::new().unique_merchant_reference(order.reference());
        let Ok(found) = self.client.call(&lookup).await else { return };
        let payments = found.transactions.into_iter().filter(|found| found.transaction_type == TransactionType::AUTH);
        let approved = payments.map(|found| Outcome::read(found, self.client.account().dialect())).find_map(
            |outcome| match outcome {
                Outcome::Approved(paid) => Some(paid.transaction_key.to_string()),
                _ => None,
            },
        );
        if let Some(transaction) = approved
            && let Err(error) = self.orders.change(&order.id, |order| order.status = Status::Paid { transaction })
        {
            eprintln!("order {}: {error}", order.id);
        }
    }

    /// Hands callbacks to the machines that wait for them.
    pub(crate) async fn route(self: Arc<Self>, mut receiver: Receiver) {
        while let Some(Received { token, notification, receipt, .. }) = receiver.next().await {
            let Notification::Paid(hint) = notification else { continue };
            let waits = |order: &Order| matches!(&order.status, Status::Hosted { callback, .. } if *callback == token);
            match self.orders.all().into_iter().find(waits) {
                Some(order) => self.tell(&order.id, Told::Paid(hint.trans_key().to_owned(), Some(receipt))),
                None => eprintln!("a callback for no payment under way; its transaction is {}", hint.trans_key()),
            }
        }
    }

    /// Passes a notification to the machine of an order, if one is running. If it cannot be passed, the service is asked to
    /// repeat it.
    pub(crate) fn tell(&self, id: &str, told: Told) {
        let untold = match lock(&self.desks).get(id) {
            Some(desk) => desk.tell.try_send(told).err().map(mpsc::error::TrySendError::into_inner),
            None => Some(told),
        };
        if let Some(Told::Paid(_, Some(receipt))) = untold {
            receipt.refuse();
        }
    }

    /// The next page for the customer now, if any.
    pub(crate) fn lead(&self, id: &str) -> Option<String> {
        lock(&self.desks).get(id)?.lead.borrow().clone()
    }

    /// The same, once the machine knows or has ended, or the customer's patience has.
    pub(crate) async fn next_lead(&self, id: &str) -> Option<String> {
        let mut lead = lock(&self.desks).get(id)?.lead.clone();
        timeout(PATIENCE, lead.wait_for(Option::is_some)).await.ok()?.ok()?.clone()
    }

    /// Stops every machine where it is. Each was saved before its request was sent, and continues at the next start.
    pub(crate) fn stop(&self) {
        lock(&self.tasks).abort_all();
    }
}

/// Paid, certainly not paid, or unknown: whatever is not known to be one of the first two is the third.
fn secured(outcome: ThreeDSecureOutcome) -> Status {
    let not_paid = |why: &str| Status::NotPaid { why: why.to_owned() };
    match outcome {
        ThreeDSecureOutcome::Approved(paid) => Status::Paid { transaction: paid.transaction_key.to_string() },
        ThreeDSecureOutcome::Declined(_) => not_paid("your bank has declined"),
        ThreeDSecureOutcome::Failed => not_paid("the confirmation at your bank has failed"),
        ThreeDSecureOutcome::Abandoned | ThreeDSecureOutcome::TimedOut => {
            not_paid("you have not confirmed it at your bank")
        }
        ThreeDSecureOutcome::NotInitiated(_) | ThreeDSecureOutcome::NotShifted(_) => {
            not_paid("the card has no 3-D Secure")
        }
        ThreeDSecureOutcome::NotSent(_) => not_paid("the payment service could not be reached"),
        ThreeDSecureOutcome::Refused(refused) if !refused.may_be_executed() => {
            eprintln!("{refused}");
            not_paid("the payment service has refused")
        }
        other => Status::Unknown { why: format!("{other:?}") },
    }
}

fn checked_out(outcome: CheckoutOutcome) -> Status {
    match outcome {
        CheckoutOutcome::Paid { trans_key } => Status::Paid { transaction: trans_key },
        CheckoutOutcome::NotOpened(_) => Status::NotPaid { why: "the payment service could not be reached".to_owned() },
        CheckoutOutcome::Lapsed { .. } => Status::NotPaid { why: "the time to pay is over".to_owned() },
        other => Status::Unknown { why: format!("{other:?}") },
    }
}

/// Nothing that holds one of these locks can leave it in disorder.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
