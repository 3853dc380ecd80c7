//! Failures of the matrix in `docs/internals/fleet.md` that no other file shows: lost answers and replies, a service that is
//! away, a shutdown, an operator who parks, a broken `LISTEN`.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_faulty_intents::{Before, FaultyStore, StoreBug};
use pg_hyper::proto::model::{CheckoutItem, GetToken, Refund};
use pg_intents::{
    Directive, Fleet, FleetError, FleetEvent, FleetQuestion, FleetStep, IntentKey, IntentStatus, IntentStore as _,
    PaymentOutcome, PostgresStore, SqliteStore, StoreError,
};
use pg_stores::Postgres;
use tokio::sync::{Notify, Semaphore};

use crate::{
    connections::Beats,
    machines::{row, token},
    world::{Fault, LEASE, World, by_card, by_key},
};

/// The change is made, or the question answered, and the answer is lost.
#[tokio::test]
async fn a_commit_with_a_lost_reply_is_neither_repeated_nor_lost() {
    for (method, fault) in [("stopped", None), ("begin", None), ("save", Some(Fault::Lost)), ("end", None)] {
        let world = World::new();
        let (wire, key) = (world.wire(fault), world.card_key().await);
        let store = Arc::new(world.faulty(None));
        *store.unanswered.lock().unwrap() = Some(method);
        let fleet = world.worker_over("one", &store, &wire).await;
        let settled = fleet.charge(by_key(&key, "order-1")).await.unwrap();
        assert_eq!(settled.name(), "approved", "{method}");
        assert_eq!(*store.unanswered.lock().unwrap(), None, "{method}: the answer was lost");
        assert_eq!((world.ledger("order-1").await.len(), wire.paid.load(Ordering::SeqCst)), (1, 1), "{method}");
        let row = world.store.find(&IntentKey::new(fleet.account(), "order-1")).await.unwrap().unwrap();
        assert_eq!((row.status, row.event), (IntentStatus::Ended, 1), "{method}");
    }
}

#[tokio::test]
async fn a_page_or_event_whose_commit_gets_no_reply_is_stored_once() {
    let world = World::new();
    let wire = world.wire(None);
    let store = Arc::new(world.faulty(None));
    *store.unanswered.lock().unwrap() = Some("rest");
    let fleet = world.worker_over("one", &store, &wire).await;
    let token = || {
        let token = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
        let token = token.callback_url("https://shop.example/paid").success_url("https://shop.example/thanks");
        token.trans_reference("cart-1")
    };
    let opened = fleet.checkout("cart-1", token()).await.unwrap();
    assert!(matches!(&opened, FleetStep::Ask(FleetQuestion::Redirect { .. })), "{opened:?}");
    assert_eq!(*store.unanswered.lock().unwrap(), None, "the answer was lost");
    let other = world.worker("other", &wire).await;
    assert_eq!(other.checkout("cart-1", token()).await.unwrap(), opened, "every server leads to the same page");
    *store.unanswered.lock().unwrap() = Some("deliver");
    let error = fleet.event("cart-1", &FleetEvent::Cancelled).await.unwrap_err();
    assert!(matches!(error, FleetError::Store(StoreError::Unavailable(_))), "{error}");
    // The callback is sent again, since it was not acknowledged.
    fleet.event("cart-1", &FleetEvent::Cancelled).await.unwrap();
    let ended = fleet.step("cart-1").await.unwrap();
    assert!(matches!(&ended, FleetStep::Done(settled) if settled.name() == "not-paid"), "{ended:?}");
}

#[tokio::test]
async fn a_lost_reply_is_looked_up_and_a_service_that_is_away_charges_nothing() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::Lost)), world.card_key().await);
    let fleet = world.worker("one", &wire).await;
    assert_eq!(fleet.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
    assert_eq!((world.ledger("order-1").await.len(), wire.paid.load(Ordering::SeqCst)), (1, 1));
    wire.away.store(true, Ordering::SeqCst);
    assert_eq!(fleet.charge(by_key(&key, "order-2")).await.unwrap().name(), "not-sent");
    let row = world.store.find(&IntentKey::new(fleet.account(), "order-2")).await.unwrap().unwrap();
    assert_eq!(row.status, IntentStatus::Ended);
    wire.away.store(false, Ordering::SeqCst);
    assert_eq!(fleet.charge(by_key(&key, "order-2")).await.unwrap().name(), "not-sent", "a reference has one outcome");
    assert_eq!(world.ledger("order-2").await, []);
}

/// A store that does not make the first of these statements: the connection breaks before it.
fn failing_once(world: &World, method: &'static str) -> (Arc<FaultyStore<SqliteStore>>, Arc<AtomicBool>) {
    let failed = Arc::<AtomicBool>::default();
    let has_failed = Arc::clone(&failed);
    let store = world.faulty(None).before(move |asked| -> Before {
        let fails = asked == method && !has_failed.swap(true, Ordering::SeqCst);
        let unavailable = || StoreError::Unavailable("the connection broke".to_owned());
        Box::pin(std::future::ready(if fails { Err(unavailable()) } else { Ok(()) }))
    });
    (Arc::new(store), failed)
}

#[tokio::test]
async fn an_outcome_that_could_not_be_stored_is_stored_when_the_database_responds() {
    let world = World::new();
    let wire = world.wire(None);
    let other = world.worker("other", &wire).await;
    let PaymentOutcome::Approved(paid) = other.charge(by_card("paid-1", 499)).await.unwrap() else { panic!() };
    let (store, failed) = failing_once(&world, "end");
    let fleet = world.worker_over("one", &store, &wire).await;
    let refunded = fleet.operation("refund paid-1", Refund::new(&paid.transaction_key)).await.unwrap();
    assert!(failed.load(Ordering::SeqCst));
    assert_eq!((refunded.name(), wire.paid.load(Ordering::SeqCst)), ("approved", 2), "{refunded:?}");
    assert_eq!(other.outcome("refund paid-1").await.unwrap().unwrap().name(), "approved");
}

/// Its begin fails, meanwhile another process begins a payment with another card under the reference, and dies.
#[tokio::test]
async fn a_call_that_claims_a_payment_with_another_card_sends_nothing() {
    let (world, wire, key) = World::with_card().await;
    let (store, failed) = failing_once(&world, "begin");
    let fleet = world.worker_over("one", &store, &wire).await;
    let dead = world.worker("dead", &wire).await;
    dead.submit(by_key(&key, "order-3")).await.unwrap();
    let told = fleet.charge(by_key(&"another".into(), "order-3")).await;
    assert!(failed.load(Ordering::SeqCst));
    assert!(matches!(told, Err(FleetError::OtherPayment { .. })), "{told:?}");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 0);
    assert_eq!(dead.work_once().await.unwrap(), 1, "the other payment is not held back");
}

#[tokio::test]
async fn a_page_that_could_not_be_stored_is_stored_when_the_database_responds() {
    let world = World::new();
    let (wire, (store, failed)) = (world.wire(None), failing_once(&world, "rest"));
    let fleet = world.worker_over("one", &store, &wire).await;
    let opened = fleet.checkout("cart-1", token()).await.unwrap();
    assert!(failed.load(Ordering::SeqCst));
    assert!(matches!(&opened, FleetStep::Ask(FleetQuestion::Redirect { .. })), "{opened:?}");
}

/// The payment leaves, its reply is lost, another worker takes the intent, and the database goes away.
#[tokio::test]
async fn a_call_that_has_sent_says_so_also_if_it_has_lost_its_intent() {
    let world = World::new();
    let (wire, key, is_away) = (world.wire(Some(Fault::Lost)), world.card_key().await, AtomicBool::new(false));
    let store = world.faulty(None).before(move |method| -> Before {
        let reached = if is_away.load(Ordering::SeqCst) {
            Err(StoreError::Unavailable("it is away".to_owned()))
        } else if method == "save" {
            is_away.store(true, Ordering::SeqCst);
            Err(StoreError::Lost)
        } else {
            Ok(())
        };
        Box::pin(std::future::ready(reached))
    });
    let plan = World::plan("one").patience(Duration::ZERO);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    let error = fleet.charge(by_key(&key, "order-1")).await.unwrap_err();
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
    assert!(matches!(error, FleetError::MaybeSent { .. }), "{error}");
}

#[tokio::test]
async fn a_worker_that_shuts_down_hands_its_intents_over() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::Held)), world.card_key().await);
    let leaving = world.worker("one", &wire).await;
    let call = tokio::spawn({
        let (leaving, payment) = (leaving.clone(), by_key(&key, "order-1"));
        async move { leaving.charge(payment).await }
    });
    wire.hanging.notified().await;
    leaving.shut_down();
    // The reply is lost, so the next request would be a lookup.
    wire.silent.store(true, Ordering::SeqCst);
    wire.released.notify_one();
    let error = call.await.unwrap().unwrap_err();
    assert!(matches!(error, FleetError::ShuttingDown { .. }), "{error}");
    let row = world.store.find(&IntentKey::new(leaving.account(), "order-1")).await.unwrap().unwrap();
    assert_eq!(row.owner, None, "the lease need not expire");
    wire.silent.store(false, Ordering::SeqCst);
    let other = world.worker("other", &wire).await;
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(other.outcome("order-1").await.unwrap().unwrap().name(), "approved");
    assert_eq!((world.ledger("order-1").await.len(), wire.paid.load(Ordering::SeqCst)), (1, 1));
}

#[tokio::test]
async fn a_worker_that_shuts_down_waits_for_the_reply_to_a_refund() {
    let (world, beats, renewed) = (World::new(), Beats::default(), Arc::<Notify>::default());
    let wire = world.wire(None);
    let renews = Arc::clone(&renewed);
    let store = world.faulty(None).before(move |method| -> Before {
        if method == "renew" {
            renews.notify_one();
        }
        Box::pin(std::future::ready(Ok(())))
    });
    let leaving = Fleet::new(world.client(&wire), Arc::new(store), beats.plan("leaving")).await.unwrap();
    // From now on it needs no probe share, whose lease it would also extend.
    let PaymentOutcome::Approved(paid) = leaving.charge(by_card("paid-1", 499)).await.unwrap() else { panic!() };
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    let call = tokio::spawn({
        let (leaving, refund) = (leaving.clone(), Refund::new(&paid.transaction_key));
        async move { leaving.operation("refund paid-1", refund).await }
    });
    wire.hanging.notified().await;
    leaving.shut_down();
    beats.beat();
    renewed.notified().await;
    wire.released.notify_one();
    assert_eq!(call.await.unwrap().unwrap().name(), "approved");
}

#[tokio::test]
async fn no_worker_touches_a_parked_intent_until_it_is_reconciled() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("one", &wire).await;
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    let intent = IntentKey::new(fleet.account(), "order-1");
    assert!(world.store.direct(&intent, Directive::Park).await.unwrap());
    assert_eq!(fleet.work_once().await.unwrap(), 0);
    let error = fleet.charge(by_key(&key, "order-1")).await.unwrap_err();
    assert!(matches!(error, FleetError::Parked { .. }), "{error}");
    let error = fleet.outcome("order-1").await.unwrap_err();
    assert!(matches!(error, FleetError::Parked { .. }), "{error}");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 0);
    assert!(world.store.direct(&intent, Directive::Reconcile).await.unwrap());
    assert_eq!(fleet.charge(by_key(&key, "order-1")).await.unwrap().name(), "approved");
}

#[tokio::test]
async fn when_listen_breaks_workers_poll() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let (world, wire, key) = World::with_card().await;
    let listening =
        PostgresStore::migrate(&server.url("postgres")).await.unwrap().listening(&server.url("postgres")).unwrap();
    let fleet = world.worker_over("one", &Arc::new(listening), &wire).await;
    let running = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.run().await }
    });
    // A process that does not listen.
    let silent = Arc::new(PostgresStore::connect(&server.url("postgres")).await.unwrap());
    let other = world.worker_over("other", &silent, &wire).await;
    let listeners = "FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
    while server.psql("postgres", &format!("SELECT count(*) {listeners}")).unwrap() != "1" {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.psql("postgres", &format!("SELECT pg_terminate_backend(pid) {listeners}")).unwrap(), "t");
    other.submit(by_key(&key, "order-1")).await.unwrap();
    loop {
        match other.outcome("order-1").await {
            Ok(settled) => break assert_eq!(settled.unwrap().name(), "approved"),
            Err(FleetError::Pending { .. }) => tokio::task::yield_now().await,
            Err(error) => panic!("{error}"),
        }
    }
    fleet.shut_down();
    running.await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_after_a_save_that_took_half_a_lease() {
    let (world, wire, key) = World::with_card().await;
    let sandbox = world.sandbox.clone();
    let store = world.faulty(None).before(move |method| -> Before {
        if method == "begin" {
            sandbox.advance(LEASE / 2);
        }
        Box::pin(std::future::ready(Ok(())))
    });
    let plan = World::plan("one").clock(world.clock());
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    assert_eq!(fleet.charge(by_key(&key, "late-1")).await.unwrap().name(), "approved");
    assert_eq!(row(&fleet, "late-1").await.fence, 2, "it was sent after another claim");
}

/// The request leaves, its reply is lost, the database has lost the row, and the payment waits for a place to begin again.
#[tokio::test(start_paused = true)]
async fn a_payment_whose_row_the_database_lost_does_not_become_one_that_was_never_begun() {
    let world = World::new();
    let wire = world.wire(None);
    *wire.losing.lock().unwrap() = Some("gettoken");
    let (gate, has_failed, is_claimed) = (Arc::new(Semaphore::new(0)), AtomicBool::new(false), AtomicBool::new(false));
    let opened = Arc::clone(&gate);
    let store = world.faulty(Some(StoreBug::DoubtTakenForSuccess)).before(move |method| -> Before {
        let fails = method == "save" && !has_failed.swap(true, Ordering::SeqCst);
        let is_late = is_claimed.fetch_or(method == "claim_one", Ordering::SeqCst);
        let gate = (method == "shares" && is_late).then(|| Arc::clone(&opened));
        Box::pin(async move {
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            if fails { Err(StoreError::Unavailable("the connection broke".to_owned())) } else { Ok(()) }
        })
    });
    // Its begin is acknowledged, and no row is there.
    store.lost.store(1, Ordering::SeqCst);
    let patience = Duration::from_secs(5);
    let plan = World::plan("one").patience(patience).failures(5);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    let step = tokio::time::timeout(patience * 2, fleet.checkout("cart-1", token())).await.unwrap();
    assert!(matches!(step, Err(FleetError::Pending { .. })), "{step:?}");
    assert_eq!(*wire.sent.lock().unwrap(), ["gettoken"]);
    // It goes on without the page.
    gate.add_permits(1_000);
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    let step = fleet.step("cart-1").await;
    assert!(matches!(step, Ok(FleetStep::Ask(_))), "{step:?}");
}
