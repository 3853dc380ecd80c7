//! The application on top of a fleet: it posts orders to processes, redirects customers to pages, and receives outcomes.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use http::{Request, Response, header};
use pg_intents::{FleetError, FleetEvent, FleetQuestion, FleetStep, IntentKey, IntentStore as _, PaymentOutcome};

use super::{
    World, checks,
    orders::Order,
    process::{Process, Worker},
    verdicts,
};
use crate::{agenda::Millis, job::CV2, job::RETURN_PAGE, scenario::Disturbance};

/// How often a caller asks.
const MOST_CALLS: u32 = 12;

impl World {
    /// Posts an order to its processes, each time as planned.
    pub(super) fn place(self: &Arc<Self>, order: Arc<Order>) {
        for &(at, process) in &order.posts {
            let (world, order) = (Arc::clone(self), Arc::clone(&order));
            tokio::spawn(async move {
                world.shared.time.sleep_until(at).await;
                world.post(&order, process);
            });
        }
        self.orders.lock().unwrap_or_else(PoisonError::into_inner).push(order);
    }

    /// Chooses one of the processes of an account.
    pub(super) fn process(&self, account: usize, nth: usize) -> Option<(&Arc<Process>, Worker)> {
        let all: Vec<_> = self.processes.iter().filter(|process| process.seat.account == account).collect();
        let process = all.get(nth.checked_rem(all.len())?)?;
        Some((process, process.worker()?))
    }

    pub(super) fn post(self: &Arc<Self>, order: &Arc<Order>, process: usize) {
        let Some((process, worker)) = self.process(order.account, process) else {
            return self.shared.note(format_args!("{} is posted to a process that is down", order.job.name));
        };
        self.shared.note(format_args!("{} is posted to {}", order.job.name, process.seat.name));
        let (world, order) = (Arc::clone(self), Arc::clone(order));
        process.spawn(async move { world.serve(order, worker).await });
    }

    /// The handler of a request: it asks until there is an outcome or a question.
    async fn serve(self: Arc<Self>, order: Arc<Order>, worker: Worker) {
        let name = &order.job.name;
        for _ in 0..MOST_CALLS {
            match order.call(&worker).await {
                Ok(None) => return,
                Ok(Some(step)) => return self.goes_on(&order, step).await,
                Err(FleetError::ShuttingDown { .. }) => return,
                Err(
                    error @ (FleetError::Store(_)
                    | FleetError::MaybeSent { .. }
                    | FleetError::Pending { .. }
                    | FleetError::Stopped(_)
                    | FleetError::Unanswered(_)),
                ) => {
                    self.shared.note(format_args!("the caller of {name} waits: {error}"));
                }
                Err(error) => return self.shared.violated(checks::OWNED, format!("{name}: {error}")),
            }
            let pause = self.shared.between(1_000, 8_000);
            self.shared.time.sleep(pause).await;
        }
    }

    async fn goes_on(self: &Arc<Self>, order: &Arc<Order>, step: FleetStep) {
        match step {
            FleetStep::Done(outcome) => self.told(order, outcome).await,
            FleetStep::Ask(FleetQuestion::Challenge { url, .. }) => {
                if !std::mem::replace(&mut order.progress().led, true) {
                    let (world, order) = (Arc::clone(self), Arc::clone(order));
                    tokio::spawn(async move { world.at_the_bank(&order, &url).await });
                }
            }
            FleetStep::Ask(FleetQuestion::Redirect { url, .. }) => {
                order.progress().token = url.rsplit('/').next().map(str::to_owned);
                if !std::mem::replace(&mut order.progress().led, true) {
                    let (world, order) = (Arc::clone(self), Arc::clone(order));
                    tokio::spawn(async move { world.on_the_page(&order, &url).await });
                }
            }
            FleetStep::Ask(_) => {
                let event = if self.shared.below(10) < 6 { FleetEvent::Proceed } else { FleetEvent::Stop };
                self.comes(order, event);
            }
        }
    }

    async fn told(self: &Arc<Self>, order: &Arc<Order>, outcome: PaymentOutcome) {
        let (shared, name) = (&self.shared, &order.job.name);
        shared.note(format_args!("a caller is told that {name} is {}", outcome.name()));
        let key = IntentKey::new(&*shared.accounts[order.account], name.as_str());
        let row = self.database.store.find(&key).await.ok().flatten();
        verdicts::told(shared, order, &outcome, row.as_ref());
        if matches!(outcome, PaymentOutcome::Unknown { .. }) {
            return;
        }
        let before = order.progress().settled.get_or_insert_with(|| outcome.clone()).clone();
        if before != outcome {
            return shared.violated(checks::AGREED, format!("{name} is {} and {}", before.name(), outcome.name()));
        }
        if let (PaymentOutcome::Approved(paid), Some(kind)) = (&outcome, order.follow_up)
            && !std::mem::replace(&mut order.progress().followed, true)
        {
            let key = paid.transaction_key.as_str();
            let now = shared.time.now();
            let posts = (0..=shared.below(2)).map(|_| (now + shared.between(500, 30_000), shared.below(60))).collect();
            let follow_up = Arc::new(order.follow_up(kind, key, posts));
            shared.state().notes.aliases.insert(key.to_owned(), follow_up.job.name.clone());
            self.place(follow_up);
        }
    }

    /// The customer answers the bank, and returns to any server, to two of them, or never.
    async fn at_the_bank(self: Arc<Self>, order: &Arc<Order>, url: &str) {
        let shared = &self.shared;
        shared.time.sleep(shared.between(2_000, 60_000)).await;
        if shared.fault(Disturbance::Customers, 150) {
            return shared.note(format_args!("the customer of {} never comes back", order.job.name));
        }
        let outcome = if shared.below(10) == 0 { "fail" } else { "authenticate" };
        if self.submitted(url, &format!("outcome={outcome}"), RETURN_PAGE).await.is_none() {
            return self.comes(order, FleetEvent::Closed);
        }
        for _ in 0..=shared.below(2) {
            self.comes(order, FleetEvent::Returned);
        }
    }

    /// The customer pays on the hosted page; the return and the callback reach any server.
    async fn on_the_page(self: Arc<Self>, order: &Arc<Order>, url: &str) {
        let shared = &self.shared;
        shared.time.sleep(shared.between(2_000, 60_000)).await;
        if shared.fault(Disturbance::Customers, 200) {
            return self.comes(order, FleetEvent::Cancelled);
        }
        let page = self.page(url).await.unwrap_or_default();
        let Some((_, visit)) = page.split_once("name=\"visit\" value=\"") else { return };
        let visit = visit.split('"').next().unwrap_or_default();
        let card = order.job.card;
        let form = format!(
            "visit={visit}&cardNumber={}&cardExpiryMonth=12&cardExpiryYear={}&cardCV2={CV2}&cardholderName=A+Customer",
            card.number, card.year
        );
        let Some(back) = self.submitted(url, &form, "https://shop.example/thanks").await else { return };
        let Some((_, named)) = back.split_once("trans_key=") else { return };
        let trans_key = named.split(['&', '#']).next().unwrap_or_default().to_owned();
        for _ in 0..=shared.below(3) {
            self.comes(order, FleetEvent::Reported { trans_key: trans_key.clone() });
        }
    }

    /// Returns the text of a page once the service shows it.
    async fn page(&self, url: &str) -> Option<String> {
        self.asked(
            || Request::get(url).body(Bytes::new()).ok(),
            |reply| {
                let text = String::from_utf8_lossy(reply.body()).into_owned();
                reply.status().is_success().then_some(text)
            },
        )
        .await
    }

    /// Returns the target of a form, if it is the expected one.
    async fn submitted(&self, url: &str, form: &str, to: &str) -> Option<String> {
        let form = form.to_owned();
        let request = || {
            let post = Request::post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            post.body(Bytes::from(form.clone())).ok()
        };
        self.asked(request, |reply| {
            let location = reply.headers().get(header::LOCATION).and_then(|to| to.to_str().ok()).unwrap_or_default();
            location.starts_with(to).then(|| location.to_owned())
        })
        .await
    }

    /// Repeats the request while the service is down, as customers reload a page.
    async fn asked<R>(
        &self,
        request: impl Fn() -> Option<Request<Bytes>>,
        read: impl Fn(&Response<Bytes>) -> Option<R>,
    ) -> Option<R> {
        for _ in 0..4 {
            if let Some(read) = self.shared.browse(request()?).and_then(|reply| read(&reply)) {
                return Some(read);
            }
            self.shared.time.sleep(8_000).await;
        }
        None
    }

    /// Delivers an event to any server after any time, or to none.
    fn comes(self: &Arc<Self>, order: &Arc<Order>, event: FleetEvent) {
        let shared = &self.shared;
        if shared.fault(Disturbance::LostRequests, 100) {
            return shared.note(format_args!("{event:?} of {} is lost", order.job.name));
        }
        let (world, order) = (Arc::clone(self), Arc::clone(order));
        let (delay, process): (Millis, usize) = (shared.between(50, 15_000), shared.below(60));
        tokio::spawn(async move {
            world.shared.time.sleep(delay).await;
            let Some((process, worker)) = world.process(order.account, process) else { return };
            world.shared.note(format_args!("{event:?} of {} reaches {}", order.job.name, process.seat.name));
            let handler = Arc::clone(&world);
            process.spawn(async move { handler.heard(order, worker, event).await });
        });
    }

    async fn heard(self: Arc<Self>, order: Arc<Order>, worker: Worker, event: FleetEvent) {
        for _ in 0..MOST_CALLS {
            match worker.event(&order.job.name, &event).await {
                Ok(()) => break,
                Err(FleetError::NotWaiting { .. }) => return,
                Err(_) => self.shared.time.sleep(3_000).await,
            }
        }
        if let Ok(step) = worker.step(&order.job.name).await {
            self.goes_on(&order, step).await;
        }
    }
}
