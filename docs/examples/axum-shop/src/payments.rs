//! Payments in progress: one task for each order drives the machine, which is saved in the order before each request is
//! sent.

use std::{
    collections::HashMap,
    error::Error,
    future::{pending, ready},
    io,
    mem::discriminant,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pg_hyper::{
    CheckoutDrive, Client, DriveStep, EndpointPurpose, Notification, Received, Receiver, ReceiverService,
    ThreeDSecureDrive,
    proto::{
        machine::{
            SavedState,
            checkout::{CheckoutDemand, CheckoutInput, CheckoutOutcome},
            three_d_secure::{ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome},
        },
        model::{
            CheckoutItem, Currency, EnterpriseTransactionLookup, Flag, GetToken, InitiateThreeDSecureSessionKey, Item,
            Order as Basket, Outcome, TransactionLookup,
        },
    },
};
use tokio::{
    sync::{Notify, watch},
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    Config,
    orders::{Hosted, Order, Orders, Status},
};

/// How long a browser waits for the next step before it gets a page that asks again.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of returns that wait for one machine.
const RETURNS: usize = 16;

/// The payments of the shop.
pub(crate) struct Payments {
    pub(crate) client: Client,
    pub(crate) orders: Orders,
    pub(crate) config: Config,
    callbacks: ReceiverService,
    /// The orders whose machine is running.
    desks: Mutex<HashMap<String, Desk>>,
    tasks: Mutex<JoinSet<()>>,
}

/// A running machine, as the routes see it.
struct Desk {
    /// The order has changed.
    news: Arc<Notify>,
    /// The next page for the customer, if any.
    lead: watch::Receiver<Option<String>>,
}

/// A running machine, as its task sees it.
struct Seat {
    id: String,
    news: Arc<Notify>,
    lead: watch::Sender<Option<String>>,
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
                Status::Card { saved, .. } => {
                    let payment = payments.client.resume_three_d_secure(&SavedState::from_text(saved.as_str()))?;
                    payments.begin(&order, |payments, seat| payments.secure(payment, seat));
                }
                Status::Hosted(hosted) => {
                    let endpoint = payments.callbacks.reopen(EndpointPurpose::CheckoutCallback, &hosted.callback)?;
                    let saved = SavedState::from_text(hosted.saved.as_str());
                    // A payment whose outcome is unknown is looked at again later, and stops no other order.
                    let checkout = match hosted.unknown {
                        Some(_) => None,
                        None => Some(payments.client.resume_checkout(&saved, payments.config.checkout)?),
                    };
                    let token = endpoint.token().to_owned();
                    payments.begin(&order, |payments, seat| payments.check_out(checkout, token, seat));
                }
                Status::Unknown { .. } => {
                    lock(&payments.tasks).spawn(Arc::clone(&payments).look_up(order.id));
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

    /// Pays on the service's hosted page.
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
        self.begin(order, |payments, seat| payments.check_out(Some(checkout), token, seat));
        Ok(())
    }

    /// Starts a machine, unless the order has one or has changed since it was read.
    fn begin<F>(self: &Arc<Self>, order: &Order, work: impl FnOnce(Arc<Self>, Seat) -> F)
    where
        F: Future<Output = Status> + Send + 'static,
    {
        let news = Arc::new(Notify::new());
        let (show, lead) = watch::channel(None);
        {
            let mut desks = lock(&self.desks);
            let same = self.orders.get(&order.id).is_some_and(|now| {
                now.attempt == order.attempt && discriminant(&now.status) == discriminant(&order.status)
            });
            if !same || desks.contains_key(&order.id) {
                return;
            }
            desks.insert(order.id.clone(), Desk { news: Arc::clone(&news), lead });
        }
        let work = work(Arc::clone(self), Seat { id: order.id.clone(), news, lead: show });
        let (payments, id) = (Arc::clone(self), order.id.clone());
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let status = work.await;
            let unknown = matches!(status, Status::Unknown { .. });
            // One write stores the outcome and removes the machine, so a machine that has ended is never resumed.
            if let Err(error) = payments.orders.change(&id, |order| order.status = status) {
                eprintln!("order {id}: the outcome is not on the disk, the next start asks for it again: {error}");
            }
            lock(&payments.desks).remove(&id);
            if unknown {
                payments.look_up(id).await;
            }
        });
    }

    /// Drives a card payment with 3-D Secure to its end.
    async fn secure(self: Arc<Self>, payment: ThreeDSecureDrive, seat: Seat) -> Status {
        let (payments, id) = (Arc::clone(&self), seat.id.clone());
        let mut payment = payment.store(move |saved| {
            // Every query from here on is made after the customer returned.
            let status = Status::Card { saved: saved.text().to_owned(), returned: false };
            ready(payments.orders.change(&id, |order| order.status = status).map(drop))
        });
        loop {
            match payment.next().await {
                DriveStep::Ask(ThreeDSecureDemand::Challenge { url, until }) => {
                    seat.lead.send_replace(Some(url.as_str().to_owned()));
                    let back = |status: &Status| matches!(status, Status::Card { returned: true, .. }).then_some(());
                    tokio::select! {
                        () = self.news(&seat, back) => payment.handle_input(ThreeDSecureInput::Returned),
                        () = self.client.sleep_until(until) => {}
                    }
                    seat.lead.send_replace(None);
                }
                // The bank does not vouch for the customer, so the shop would bear the loss of a fraud. This shop does
                // not take that risk.
                DriveStep::Ask(ThreeDSecureDemand::Decide { .. }) => payment.handle_input(ThreeDSecureInput::Stop),
                DriveStep::Done(outcome) => return secured(outcome),
            }
        }
    }

    /// Drives a payment on the hosted page to its end. Without a `checkout`, its outcome is unknown.
    async fn check_out(self: Arc<Self>, checkout: Option<CheckoutDrive>, callback: String, seat: Seat) -> Status {
        let stored = |checkout: CheckoutDrive| {
            let (payments, id, callback) = (Arc::clone(&self), seat.id.clone(), callback.clone());
            checkout.store(move |saved| {
                let saved = saved.text().to_owned();
                let keep = |order: &mut Order| match &mut order.status {
                    Status::Hosted(hosted) => hosted.saved = saved,
                    status => *status = Status::Hosted(Hosted::new(saved, callback.clone())),
                };
                ready(payments.orders.change(&id, keep).map(drop))
            })
        };
        let mut checkout = match checkout {
            Some(checkout) => stored(checkout),
            None => stored(self.look_again(&seat).await),
        };
        // The reports that the machine may not have looked up yet.
        let (mut given, mut earlier) = (Vec::new(), 0);
        loop {
            let step = tokio::select! {
                step = checkout.next() => Some(step),
                key = self.news(&seat, |status| status.hosted()?.report(&given)) => {
                    checkout.handle_input(CheckoutInput::Reported(key.clone()));
                    given.push(key);
                    None
                }
            };
            match step {
                None => {}
                Some(DriveStep::Ask(CheckoutDemand::Redirect { url, until })) => {
                    // The machine asks again after it has looked up all of them.
                    self.looked_up(&seat.id, &std::mem::take(&mut given));
                    seat.lead.send_replace(Some(url.as_str().to_owned()));
                    tokio::select! {
                        withdrawn = self.news(&seat, |status| status.hosted()?.news()) => {
                            if withdrawn {
                                checkout.handle_input(CheckoutInput::Cancel);
                            }
                        }
                        () = self.client.sleep_until(until) => {}
                    }
                    seat.lead.send_replace(None);
                }
                Some(DriveStep::Done(outcome)) => {
                    let status = checked_out(outcome);
                    let Status::Unknown { why } = &status else { return status };
                    // A callback or a return may still name the payment, and the machine can look again.
                    self.unknown(&seat, why, &given, earlier).await;
                    checkout = stored(self.look_again(&seat).await);
                    given.clear();
                    earlier += 1;
                }
            }
        }
    }

    /// Stores why a payment on the hosted page is unknown, and waits for a report or for the next lookup.
    #[expect(clippy::disallowed_methods, reason = "it waits between lookups")]
    async fn unknown(&self, seat: &Seat, why: &str, given: &[String], earlier: u32) {
        let keep = |order: &mut Order| {
            if let Status::Hosted(hosted) = &mut order.status {
                hosted.unknown = Some(why.to_owned());
                hosted.returned.retain(|returned| !given.contains(returned));
            }
        };
        if let Err(error) = self.orders.change(&seat.id, keep) {
            eprintln!("order {}: {error}", seat.id);
        }
        tokio::select! {
            _ = self.news(seat, |status| status.hosted()?.report(given)) => {}
            () = sleep(self.config.lookups.next(earlier, 0)) => {}
        }
    }

    /// Returns the machine that looks again at a payment on the hosted page. If its state cannot be resumed, the order
    /// waits for the operator: it keeps its address for the callback, and every report.
    async fn look_again(&self, seat: &Seat) -> CheckoutDrive {
        let order = self.orders.get(&seat.id);
        let saved = order.as_ref().and_then(|order| order.status.hosted()).map_or("", |hosted| &hosted.saved);
        match self.client.look_again_at_checkout(&SavedState::from_text(saved), self.config.checkout) {
            Ok(again) => again,
            Err(error) => {
                eprintln!("order {} is unknown, and its payment cannot be looked up: {error}", seat.id);
                pending().await
            }
        }
    }

    /// Returns the news about an order, once there is some.
    async fn news<T>(&self, seat: &Seat, news: impl Fn(&Status) -> Option<T>) -> T {
        loop {
            if let Some(news) = self.orders.get(&seat.id).and_then(|order| news(&order.status)) {
                return news;
            }
            seat.news.notified().await;
        }
    }

    /// Removes reports that led to nothing.
    fn looked_up(&self, id: &str, keys: &[String]) {
        let remove = |order: &mut Order| {
            if let Status::Hosted(hosted) = &mut order.status {
                hosted.called.retain(|called| !keys.contains(called));
                hosted.returned.retain(|returned| !keys.contains(returned));
            }
        };
        if !keys.is_empty()
            && let Err(error) = self.orders.change(id, remove)
        {
            eprintln!("order {id}: {error}");
        }
    }

    /// Looks up a card payment whose outcome is unknown, until the outcome is known. An empty result does not settle it,
    /// nor does one that does not agree with the order: then the operator decides.
    #[expect(clippy::disallowed_methods, reason = "it waits between lookups")]
    async fn look_up(self: Arc<Self>, id: String) {
        for earlier in 0.. {
            let Some(order) = self.orders.get(&id) else { return };
            match self.settled(&order).await {
                Ok(None) => {}
                Ok(Some(status)) => match self.orders.change(&id, |order| order.status = status) {
                    Ok(_) => return,
                    Err(error) => eprintln!("order {id}: {error}"),
                },
                Err(why) => eprintln!("order {id} is still unknown: {why}"),
            }
            sleep(self.config.lookups.next(earlier, 0)).await;
        }
    }

    /// Settles an order by the only payment with its reference: paid if it is approved, of the order's amount, and not
    /// refunded; not paid if it is declined.
    async fn settled(&self, order: &Order) -> Result<Option<Status>, Box<dyn Error + Send + Sync>> {
        let lookup = TransactionLookup::new().unique_merchant_reference(order.reference());
        let listed = self.client.call(&lookup).await?.transactions;
        let Some(payment) = order.payment(listed)? else { return Ok(None) };
        let key = payment.transaction_key.clone();
        match Outcome::read(payment, self.client.account().dialect()) {
            Outcome::Declined(_) => Ok(Some(Status::NotPaid { why: "your bank has declined".to_owned() })),
            Outcome::Other(other) => Err(format!("{key} has the status {}", other.transaction_status_code).into()),
            // This lookup knows refunds.
            Outcome::Approved(_) => {
                let found = self.client.call(&EnterpriseTransactionLookup::new(key.as_str())).await?;
                if found.status == "Success" {
                    Ok(Some(Status::Paid { transaction: key.to_string() }))
                } else {
                    Err(format!("the status of the payment {key} is {:?} now", found.status).into())
                }
            }
        }
    }

    /// Receives callbacks. Each is answered once it is stored.
    pub(crate) async fn route(self: Arc<Self>, mut receiver: Receiver) {
        while let Some(Received { token, notification, receipt, .. }) = receiver.next().await {
            let Notification::Paid(hint) = notification else { continue };
            let key = hint.trans_key().to_owned();
            let waits = |order: &Order| order.status.hosted().is_some_and(|hosted| hosted.callback == token);
            let Some(order) = self.orders.all().into_iter().find(waits) else {
                eprintln!("a callback for no payment under way; its transaction is {key}");
                receipt.acknowledge();
                continue;
            };
            let call = |status: &mut Status| {
                if let Status::Hosted(hosted) = status {
                    hosted.called.push(key);
                }
            };
            match self.tell(&order.id, call) {
                Ok(()) => receipt.acknowledge(),
                Err(error) => {
                    eprintln!("order {}: {error}", order.id);
                    receipt.refuse();
                }
            }
        }
    }

    /// Stores a return from the hosted page.
    ///
    /// # Errors
    /// If it cannot be stored, or too many wait.
    pub(crate) fn returned(&self, id: &str, key: &str) -> io::Result<()> {
        let mut full = false;
        self.tell(id, |status| {
            if let Status::Hosted(hosted) = status
                && !hosted.returned.iter().any(|returned| returned == key)
            {
                full = hosted.returned.len() >= RETURNS;
                if !full {
                    hosted.returned.push(key.to_owned());
                }
            }
        })?;
        if full { Err(io::Error::other(format!("order {id}: too many returns wait"))) } else { Ok(()) }
    }

    /// Stores what happened to an order, and wakes its machine.
    ///
    /// # Errors
    /// If it cannot be stored.
    pub(crate) fn tell(&self, id: &str, change: impl FnOnce(&mut Status)) -> io::Result<()> {
        self.orders.change(id, |order| change(&mut order.status))?;
        if let Some(desk) = lock(&self.desks).get(id) {
            desk.news.notify_one();
        }
        Ok(())
    }

    /// Returns the next page for the customer, if there is one now.
    pub(crate) fn lead(&self, id: &str) -> Option<String> {
        lock(&self.desks).get(id)?.lead.borrow().clone()
    }

    /// Waits for the next page, until the machine knows it or has ended, or the browser has waited long enough.
    pub(crate) async fn next_lead(&self, id: &str) -> Option<String> {
        let mut lead = lock(&self.desks).get(id)?.lead.clone();
        timeout(PATIENCE, lead.wait_for(Option::is_some)).await.ok()?.ok()?.clone()
    }

    /// Stops every machine at its current step. Each was saved before its request was sent, and continues at the next
    /// start.
    pub(crate) fn stop(&self) {
        lock(&self.tasks).abort_all();
    }
}

/// Paid, certainly not paid, or unknown: every outcome that is not known to be one of the first two is unknown.
fn secured(outcome: ThreeDSecureOutcome) -> Status {
    let not_paid = |why: &str| Status::NotPaid { why: why.to_owned() };
    match outcome {
        ThreeDSecureOutcome::Approved(paid) => Status::Paid { transaction: paid.transaction_key.to_string() },
        ThreeDSecureOutcome::Declined(_) => not_paid("your bank has declined"),
        ThreeDSecureOutcome::Failed => not_paid("the confirmation at your bank has failed"),
        ThreeDSecureOutcome::Abandoned | ThreeDSecureOutcome::TimedOut => {
            not_paid("you have not confirmed it at your bank")
        }
        ThreeDSecureOutcome::NotInitiated(_) => not_paid("your bank could not be asked to confirm it"),
        // Only the text of the service gives the reason: the card has no 3-D Secure, or the customer left the bank too
        // soon.
        ThreeDSecureOutcome::NotShifted(status) => {
            not_paid(&format!("your bank has not confirmed it ({})", status.transaction_status))
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
        CheckoutOutcome::Lapsed { .. } => Status::NotPaid { why: "the payment page is closed".to_owned() },
        other => Status::Unknown { why: format!("{other:?}") },
    }
}

/// No holder of one of these locks can leave the data inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
