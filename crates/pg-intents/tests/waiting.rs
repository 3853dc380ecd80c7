//! How calls and requests wait for other processes: not for longer than necessary, and without asking the store for each request.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use pg_faulty_intents::{Before, FaultyStore};
use pg_hyper::{
    Client, ClientBuilder, Clock, VirtualClock,
    proto::{
        machine::{Moment, checkout::CheckoutPlan, three_d_secure::ThreeDSecurePlan, throttle::ThrottleLimits},
        model::{CardKey, InitiateThreeDSecureCardKey},
    },
};
use pg_intents::{
    Fleet, FleetError, FleetEvent, FleetQuestion, FleetStep, IntentKey, IntentStatus, IntentStore as _, SqliteStore,
    StoreError,
};
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use crate::{
    machines::{ASKS, token},
    planted::Still,
    world::{Fault, LEASE, Wire, World, by_key, order},
};

/// Its deadlines go by the real clock: the shared one leaps over the time of every other request that is in flight.
fn client(world: &World, wire: &Wire) -> Client<Wire> {
    ClientBuilder::with_transport(world.account(), wire.clone()).limits(ThrottleLimits::unlimited()).build()
}

const NEVER: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn a_call_that_joins_another_servers_payment_has_the_outcome_before_the_next_poll() {
    let (world, wire, key) = World::with_card().await;
    let one = world.worker("one", &wire).await;
    let other = Fleet::new(world.client(&wire), Arc::clone(&world.store), World::plan("other").poll(NEVER)).await;
    let other = other.unwrap();
    // Long enough for the other call to look and to find it begun.
    wire.yields.store(1_000, Ordering::SeqCst);
    let (first, joined) = tokio::join!(one.charge(by_key(&key, "order-1")), other.charge(by_key(&key, "order-1")));
    assert_eq!((first.unwrap().name(), joined.unwrap().name()), ("approved", "approved"));
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_step_does_not_wait_forever_for_sending_to_be_resumed() {
    let (world, wire, key) = World::with_card().await;
    let plan = World::plan("one").patience(Duration::from_millis(50));
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    world.store.stop(fleet.account(), Some("wrong credentials")).await.unwrap();
    let error = fleet.step("order-1").await.unwrap_err();
    assert!(matches!(error, FleetError::Pending { .. }), "{error}");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 0);
}

/// A clock that is two hours ahead of the shared one.
struct Ahead(VirtualClock);

impl Clock for Ahead {
    fn now(&self) -> Moment {
        self.0.now().after(Duration::from_secs(2 * 60 * 60))
    }

    fn sleep_until(&self, _: Moment) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::task::yield_now())
    }
}

#[tokio::test]
async fn a_question_keeps_its_deadline_if_the_clocks_of_plan_and_client_differ() {
    let world = World::new();
    let (wire, claims) = (world.wire(None), AtomicUsize::new(0));
    let store = world.faulty(None).before(move |method| -> Before {
        let claimed = if method == "claim_one" { claims.fetch_add(1, Ordering::SeqCst) } else { 0 };
        assert!(claimed < 1_000, "it claims without a pause");
        Box::pin(std::future::ready(Ok(())))
    });
    let plan = World::plan("one").clock(Ahead(world.clock()));
    let plan = plan.checkouts(CheckoutPlan::default().wait(Duration::from_secs(30 * 60)));
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    let opened = fleet.checkout("cart-1", token()).await.unwrap();
    assert!(matches!(opened, FleetStep::Ask(FleetQuestion::Redirect { .. })), "{opened:?}");
    assert_eq!(fleet.step("cart-1").await.unwrap(), opened);
}

/// Time passes only while nothing else can happen.
#[tokio::test(start_paused = true)]
async fn a_step_with_little_patience_returns_what_it_has_just_found() {
    let (world, wire, key) = World::with_card().await;
    let plan = World::plan("one").patience(Duration::from_millis(1));
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    let step = fleet.step("order-1").await.unwrap();
    assert!(matches!(&step, FleetStep::Done(outcome) if outcome.name() == "approved"), "{step:?}");
}

const PATIENCE: Duration = Duration::from_secs(10);

/// Ends with what a customer's page gets. Time passes only while nothing else can happen.
async fn page(call: impl Future<Output = Result<FleetStep, FleetError>>) -> Result<FleetStep, FleetError> {
    timeout(PATIENCE + Duration::from_secs(2), call).await.expect("it does not wait for longer than its patience")
}

async fn time_passes() {
    timeout(PATIENCE, std::future::pending::<()>()).await.unwrap_err();
}

fn is_pending(step: &Result<FleetStep, FleetError>) -> bool {
    matches!(step, Err(FleetError::Pending { .. }))
}

#[tokio::test(start_paused = true)]
async fn a_step_waits_no_longer_than_its_patience_for_a_payment_that_goes_on_in_its_own_process() {
    let (world, wire, key) = World::with_card().await;
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let plan = World::plan("one").patience(PATIENCE);
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    for _ in 0..2 {
        let step = page(fleet.step("order-1")).await;
        assert!(is_pending(&step), "{step:?}");
    }
    let row = async || world.store.find(&IntentKey::new(fleet.account(), "order-1")).await.unwrap().unwrap();
    let held = row().await;
    assert_eq!((held.owner.as_deref(), held.fence), (Some(fleet.owner()), 2), "it goes on: {}", held.history);
    assert_eq!(fleet.work_once().await.unwrap(), 0);
    wire.released.notify_one();
    let FleetStep::Done(paid) = page(fleet.step("order-1")).await.unwrap() else { panic!("it asks nothing") };
    assert_eq!((paid.name(), wire.paid.load(Ordering::SeqCst)), ("approved", 1));
    assert_eq!(row().await.fence, 2, "by one claim");
}

#[tokio::test(start_paused = true)]
async fn a_page_waits_no_longer_than_its_patience_for_its_own_checkout_or_challenge() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let (store, gate, stored) = gated(&world, "rest");
    let plan = World::plan("one").patience(PATIENCE);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    for (reference, event) in [
        ("cart-1", FleetEvent::Reported { trans_key: "0123456789abcdef0123456789abcdef".to_owned() }),
        ("order-2", FleetEvent::Returned),
    ] {
        let call = async || match reference {
            "cart-1" => page(fleet.checkout(reference, token())).await,
            _ => page(fleet.three_d_secure(initiation(&key, "order-2"), ThreeDSecurePlan::default())).await,
        };
        stored.store(0, Ordering::SeqCst);
        for step in [call().await, call().await, page(fleet.step(reference)).await] {
            assert!(is_pending(&step), "{reference}: {step:?}");
        }
        gate.add_permits(1);
        let asked = page(fleet.step(reference)).await.unwrap();
        assert!(matches!(asked, FleetStep::Ask(_)), "{reference}: {asked:?}");
        assert_eq!(call().await.unwrap(), asked, "{reference}");
        assert_eq!(stored.load(Ordering::SeqCst), 1, "{reference} was begun once");
        // The same call continues the payment after an event.
        fleet.event(reference, &event).await.unwrap();
        let step = call().await;
        assert!(is_pending(&step), "{reference}: {step:?}");
        gate.add_permits(1);
        assert_eq!(call().await.unwrap(), asked, "{reference}");
        assert_eq!(stored.load(Ordering::SeqCst), 2, "{reference} was continued once");
    }
}

fn initiation(key: &CardKey, reference: &str) -> InitiateThreeDSecureCardKey {
    InitiateThreeDSecureCardKey::new(key, order(reference, 499)).return_url("https://shop.example/back")
}

/// A store whose statements of this name get their answers when the gate is open, and how often they were asked.
fn gated(world: &World, name: &'static str) -> (FaultyStore<SqliteStore>, Arc<Semaphore>, Arc<AtomicUsize>) {
    let (gate, asked) = (Arc::new(Semaphore::new(0)), Arc::new(AtomicUsize::new(0)));
    let (opened, count) = (Arc::clone(&gate), Arc::clone(&asked));
    let store = world.faulty(None).before(move |method| -> Before {
        let (gate, count) = (Arc::clone(&opened), Arc::clone(&count));
        Box::pin(async move {
            if method == name {
                count.fetch_add(1, Ordering::SeqCst);
                gate.acquire().await.unwrap().forget();
            }
            Ok(())
        })
    });
    (store, gate, asked)
}

/// A shop that was told that nothing was begun may take the money in another way.
#[tokio::test(start_paused = true)]
async fn a_page_whose_patience_ends_before_its_payment_is_stored_sends_nothing_later() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    // Another process has all the places, or the throttle of this process permits one request at a time.
    let (shares, gate, _) = gated(&world, "shares");
    let plan = || World::plan("one").patience(PATIENCE);
    let limited = Fleet::new(world.client(&wire), Arc::new(shares), plan().failures(5)).await.unwrap();
    let throttled = Fleet::new(narrow(&world, &wire), Arc::new(world.faulty(None)), plan()).await.unwrap();
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let busy = tokio::spawn({
        let (throttled, payment) = (throttled.clone(), by_key(&key, "busy"));
        async move { throttled.charge(payment).await }
    });
    wire.hanging.notified().await;
    let before = wire.sent.lock().unwrap().len();
    for (name, fleet) in [("limited", &limited), ("throttled", &throttled)] {
        let (cart, order) = (format!("cart-{name}"), format!("order-{name}"));
        let secured = || fleet.three_d_secure(initiation(&key, &order), ThreeDSecurePlan::default());
        for step in [page(fleet.checkout(&cart, token())).await, page(secured()).await, page(secured()).await] {
            assert!(is_pending(&step), "{name}: {step:?}");
        }
        for reference in [&cart, &order] {
            assert_eq!(fleet.outcome(reference).await.unwrap(), None, "{reference}");
            let step = fleet.step(reference).await;
            assert!(matches!(step, Err(FleetError::NotWaiting { .. })), "{reference}: {step:?}");
        }
    }
    gate.add_permits(1_000);
    wire.released.notify_one();
    assert_eq!(busy.await.unwrap().unwrap().name(), "approved");
    for _ in 0..10 {
        world.sandbox.advance(LEASE);
        time_passes().await;
        assert_eq!(limited.work_once().await.unwrap() + throttled.work_once().await.unwrap(), 0);
    }
    assert_eq!(wire.sent.lock().unwrap().len(), before, "nothing has left");
    // The same call begins it.
    for (order, fleet) in [("order-limited", &limited), ("order-throttled", &throttled)] {
        assert_eq!(fleet.outcome(order).await.unwrap(), None);
        let asked = page(fleet.three_d_secure(initiation(&key, order), ThreeDSecurePlan::default())).await;
        assert!(matches!(asked, Ok(FleetStep::Ask(_))), "{order}: {asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_says_that_the_database_is_away() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let store = world.faulty(None).before(|method| -> Before {
        let is_away = method == "shares";
        Box::pin(async move { if is_away { Err(StoreError::Unavailable("away".to_owned())) } else { Ok(()) } })
    });
    let plan = World::plan("one").patience(PATIENCE).failures(5);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    let asked = page(fleet.three_d_secure(initiation(&key, "order-1"), ThreeDSecurePlan::default())).await;
    assert!(matches!(asked, Err(FleetError::Store(StoreError::Unavailable(_)))), "{asked:?}");
}

/// The answer decides whether the payment goes on or was never begun.
#[tokio::test(start_paused = true)]
async fn a_page_waits_for_the_answer_whether_its_payment_was_stored() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let (store, gate, _) = gated(&world, "begin");
    let plan = World::plan("one").lease(8 * PATIENCE).patience(PATIENCE);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    let mut call = Box::pin(fleet.three_d_secure(initiation(&key, "order-1"), ThreeDSecurePlan::default()));
    timeout(PATIENCE * 2, &mut call).await.expect_err("the store has not answered");
    wire.yields.store(100, Ordering::SeqCst);
    gate.add_permits(1);
    let step = call.await;
    assert!(is_pending(&step), "its row exists, and it goes on: {step:?}");
    let error = fleet.outcome("order-1").await.unwrap_err();
    assert!(matches!(error, FleetError::Pending { .. }), "{error}");
    let asked = page(fleet.step("order-1")).await.unwrap();
    assert!(matches!(asked, FleetStep::Ask(_)), "{asked:?}");
}

/// The worker, and a page that has left its payment over a held reply.
async fn left(world: &World, wire: &Wire) -> Fleet<SqliteStore, Wire> {
    let key = world.card_key().await;
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let plan = World::plan("one").patience(PATIENCE).poll(NEVER);
    let fleet = Fleet::new(world.client(wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    let step = page(fleet.step("order-1")).await;
    assert!(is_pending(&step), "{step:?}");
    fleet
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_shuts_down_waits_for_the_reply_to_a_payment_that_a_page_has_left() {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = left(&world, &wire).await;
    let running = fleet.clone();
    let mut running = tokio::spawn(async move { running.run().await });
    fleet.shut_down();
    timeout(Duration::from_secs(40), &mut running).await.expect_err("the reply is held");
    wire.released.notify_one();
    running.await.unwrap();
    assert_eq!(fleet.outcome("order-1").await.unwrap().unwrap().name(), "approved");
}

/// `run` may have ended already, and the server waits for its open requests.
#[tokio::test(start_paused = true)]
async fn a_page_stays_with_its_payment_while_the_worker_shuts_down() {
    let (world, wire, key) = World::with_card().await;
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let plan = World::plan("one").patience(PATIENCE);
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    let mut step = Box::pin(fleet.step("order-1"));
    timeout(PATIENCE / 2, &mut step).await.expect_err("the reply is held");
    fleet.shut_down();
    fleet.run().await;
    timeout(PATIENCE * 2, &mut step).await.expect_err("the reply is held");
    wire.released.notify_one();
    let FleetStep::Done(paid) = step.await.unwrap() else { panic!("it asks nothing") };
    assert_eq!((paid.name(), wire.paid.load(Ordering::SeqCst)), ("approved", 1));
}

#[tokio::test(start_paused = true)]
async fn what_pages_have_left_ends_with_the_future_of_a_worker() {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = left(&world, &wire).await;
    let running = fleet.clone();
    let running = tokio::spawn(async move { running.run().await });
    time_passes().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    wire.released.notify_one();
    time_passes().await;
    assert!(matches!(fleet.outcome("order-1").await, Err(FleetError::Pending { .. })), "its reply was not heard");
    // As after a crash.
    world.sandbox.advance(LEASE);
    let other = world.worker("other", &wire).await;
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(other.outcome("order-1").await.unwrap().unwrap().name(), "approved");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
}

/// The customer has closed the page: the call of a web server ends with its connection.
#[tokio::test(start_paused = true)]
async fn a_payment_whose_caller_leaves_is_left_to_the_worker() {
    let (world, wire, key) = World::with_card().await;
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let plan = World::plan("one").patience(PATIENCE);
    let fleet = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    tokio::select! {
        step = fleet.step("order-1") => panic!("its reply is held: {step:?}"),
        () = wire.hanging.notified() => {}
    }
    world.sandbox.advance(LEASE);
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let FleetStep::Done(paid) = page(fleet.step("order-1")).await.unwrap() else { panic!("it asks nothing") };
    assert_eq!((paid.name(), wire.paid.load(Ordering::SeqCst)), ("approved", 1));
}

#[tokio::test]
async fn a_process_whose_credentials_were_refused_leaves_the_work_to_others() {
    let (world, wire, key) = World::with_card().await;
    // It reads the stop before each claim.
    let plan = World::plan("one").poll(Duration::ZERO);
    let one = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    let other = world.worker("other", &wire).await;
    assert_eq!(one.charge(by_key(&key, "order-0")).await.unwrap().name(), "approved");
    wire.invalid.store(true, Ordering::SeqCst);
    assert_ne!(one.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    wire.invalid.store(false, Ordering::SeqCst);
    other.resume_sending().await.unwrap();
    other.submit(by_key(&key, "order-2")).await.unwrap();
    assert_eq!(one.work_once().await.unwrap(), 0);
    let row = world.store.find(&IntentKey::new(one.account(), "order-2")).await.unwrap().unwrap();
    assert_eq!(row.fence, 1, "no worker has claimed it: {}", row.history);
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(other.outcome("order-2").await.unwrap().unwrap().name(), "approved");
}

#[tokio::test]
async fn a_busy_process_passes_slots_to_its_waiters_without_asking_the_store() {
    let (world, wire, key) = World::with_card().await;
    let store = Arc::new(world.faulty(None));
    let plan = World::plan("one").failures(5).clock(Still);
    let fleet = Fleet::new(client(&world, &wire), Arc::clone(&store), plan).await.unwrap();
    assert_eq!(fleet.charge(by_key(&key, "accepted")).await.unwrap().name(), "approved");
    assert_eq!(store.places.swap(0, Ordering::SeqCst), 2, "the probe share is taken and given back");
    wire.yields.store(20, Ordering::SeqCst);
    let mut calls = JoinSet::new();
    for number in 0..100 {
        let (fleet, payment) = (fleet.clone(), by_key(&key, &format!("order-{number}")));
        calls.spawn(async move { fleet.charge(payment).await.unwrap().name() });
    }
    while let Some(settled) = calls.join_next().await {
        assert_eq!(settled.unwrap(), "approved");
    }
    let asked = store.places.load(Ordering::SeqCst);
    println!("100 charges: {asked} questions about places");
    // Each of the five is taken once and given back once, and a request that finds none free asks for a place and for the probe share. Without
    // handing over, each of the charges would take a place and give it back.
    assert!((10..100).contains(&asked), "{asked}");
    // All are free again: another process has them.
    let other = Fleet::new(client(&world, &wire), Arc::clone(&store), World::plan("other").failures(5).clock(Still));
    assert_eq!(other.await.unwrap().charge(by_key(&key, "last")).await.unwrap().name(), "approved");
}

#[tokio::test]
async fn a_process_that_always_sends_lets_another_one_have_its_place() {
    let (world, wire, key) = World::with_card().await;
    // One request in flight, of all processes.
    let plan = |name| World::plan(name).failures(1).lease(Duration::from_millis(300));
    let busy = Fleet::new(client(&world, &wire), Arc::clone(&world.store), plan("busy")).await.unwrap();
    let other = Fleet::new(client(&world, &wire), Arc::clone(&world.store), plan("other")).await.unwrap();
    wire.yields.store(20, Ordering::SeqCst);
    let done = Arc::new(AtomicBool::new(false));
    let mut calls = JoinSet::new();
    for lane in 0..3 {
        let (busy, key, done) = (busy.clone(), key.clone(), Arc::clone(&done));
        calls.spawn(async move {
            let mut number = 0;
            while !done.load(Ordering::SeqCst) {
                let settled = busy.charge(by_key(&key, &format!("busy-{lane}-{number}"))).await.unwrap();
                assert_eq!(settled.name(), "approved");
                number += 1;
            }
            number
        });
    }
    let others = async {
        while wire.paid.load(Ordering::SeqCst) < 10 {
            tokio::task::yield_now().await;
        }
        other.charge(by_key(&key, "other")).await.unwrap().name()
    };
    tokio::select! {
        ended = calls.join_next() => panic!("a lane has ended: {ended:?}"),
        settled = others => assert_eq!(settled, "approved"),
    }
    done.store(true, Ordering::SeqCst);
    let sent: usize = calls.join_all().await.into_iter().sum();
    assert!(sent >= 10, "{sent}");
}

/// One request in flight, of this process alone.
fn narrow(world: &World, wire: &Wire) -> Client<Wire> {
    let limits = ThrottleLimits::unlimited().in_flight(1);
    ClientBuilder::with_transport(world.account(), wire.clone()).limits(limits).build()
}

/// The process has begun a request that gets no reply, and its next one waits for it.
#[tokio::test]
async fn a_process_whose_own_call_waits_to_begin_a_payment_counts_no_failure() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::Before)), world.card_key().await);
    let busy = Fleet::new(narrow(&world, &wire), Arc::clone(&world.store), World::plan("busy").poll(NEVER)).await;
    let busy = busy.unwrap();
    let hangs = tokio::spawn({
        let (busy, payment) = (busy.clone(), by_key(&key, "hangs"));
        async move { busy.charge(payment).await }
    });
    wire.hanging.notified().await;
    // Another process has begun the payment, and died.
    let other = world.worker("other", &world.wire(None)).await;
    other.submit(by_key(&key, "order-1")).await.unwrap();
    let mut waits = std::pin::pin!(busy.charge(by_key(&key, "order-1")));
    tokio::select! {
        biased;
        settled = &mut waits => panic!("no request is permitted: {settled:?}"),
        () = tokio::task::yield_now() => {}
    }
    let row = async || world.store.find(&IntentKey::new(busy.account(), "order-1")).await.unwrap().unwrap();
    for _ in 0..30 {
        assert_eq!(busy.work_once().await.unwrap(), 0, "a call of this process is about to begin it");
        world.sandbox.advance(NEVER);
    }
    let released = row().await;
    assert_eq!((released.status, released.claims), (IntentStatus::Open, 0), "{}", released.history);
    hangs.abort();
}

#[tokio::test]
async fn a_call_that_waits_for_its_throttle_has_the_outcome_of_another_process() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::Before)), world.card_key().await);
    // The service has accepted its credentials, so it does not wait for the request of the other process.
    let other = world.worker("other", &world.wire(None)).await;
    assert_eq!(other.charge(by_key(&key, "accepted")).await.unwrap().name(), "approved");
    let busy = Fleet::new(narrow(&world, &wire), Arc::clone(&world.store), World::plan("busy")).await.unwrap();
    let hangs = tokio::spawn({
        let (busy, payment) = (busy.clone(), by_key(&key, "hangs"));
        async move { busy.charge(payment).await }
    });
    wire.hanging.notified().await;
    let (waits, settled) = tokio::join!(busy.charge(by_key(&key, "order-1")), async {
        // The call of the busy process has looked for the payment, and begins it.
        tokio::task::yield_now().await;
        other.charge(by_key(&key, "order-1")).await
    });
    assert_eq!((waits.unwrap().name(), settled.unwrap().name()), ("approved", "approved"));
    hangs.abort();
}
