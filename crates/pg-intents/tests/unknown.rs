//! Unknown payments: events of anyone, and the lookups of the plan.

use std::{
    sync::{Arc, Mutex, atomic::Ordering},
    time::Duration,
};

use pg_faulty_intents::Before;
use pg_hyper::proto::{
    machine::{charge::ChargeBounds, three_d_secure::ThreeDSecurePlan},
    model::InitiateThreeDSecureCardKey,
};
use pg_intents::{
    Directive, Fleet, FleetError, FleetEvent, FleetQuestion, FleetStep, IntentKey, IntentKind, IntentStatus,
    IntentStore, PaymentOutcome, PostgresStore,
};
use pg_stores::Postgres;

use crate::{
    fleet::crash,
    machines::{ASKS, form, paid_on_page, row, token},
    world::{Fault, LEASE, Wire, World, by_key, order},
};

const MINUTE: u64 = 60;
/// The lookups that the guide promises.
const PLAN: [u64; 5] = [MINUTE, 5 * MINUTE, 30 * MINUTE, 120 * MINUTE, 720 * MINUTE];

/// The customer has paid, no callback has arrived, and the checkout has ended as unknown. Returns the transaction.
async fn unknown_checkout<S: IntentStore>(world: &World, fleet: &Fleet<S, Wire>, name: &str) -> String {
    let opened = fleet.checkout(name, token()).await.unwrap();
    let FleetStep::Ask(FleetQuestion::Redirect { url, .. }) = &opened else { panic!("{opened:?}") };
    let trans_key = paid_on_page(world, url);
    fleet.event(name, &FleetEvent::Cancelled).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let unknown = fleet.outcome(name).await.unwrap().unwrap();
    assert_eq!(unknown.name(), "unknown", "{unknown:?}");
    trans_key
}

fn reported(trans_key: &str) -> FleetEvent {
    FleetEvent::Reported { trans_key: trans_key.to_owned() }
}

fn forged(number: usize) -> FleetEvent {
    reported(&format!("{number:032x}"))
}

async fn a_genuine_callback_after_forged_ones_over<S: IntentStore>(store: &Arc<S>) {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = world.worker_over("one", store, &wire).await;
    let trans_key = unknown_checkout(&world, &fleet, "forged-1").await;
    for number in 0..24 {
        fleet.event("forged-1", &forged(number)).await.unwrap();
    }
    fleet.event("forged-1", &reported(&trans_key)).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1, "events make it due");
    let paid = FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key });
    assert_eq!(fleet.step("forged-1").await.unwrap(), paid);
}

#[tokio::test]
async fn over_sqlite_a_genuine_callback_is_found_among_dozens_of_forged_ones() {
    a_genuine_callback_after_forged_ones_over(&World::new().store).await;
}

#[tokio::test]
async fn over_postgres_a_genuine_callback_is_found_among_dozens_of_forged_ones() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    a_genuine_callback_after_forged_ones_over(&store).await;
}

#[tokio::test]
async fn a_callback_that_is_stored_just_before_the_end_of_a_lookup_is_kept() {
    let world = World::new();
    let wire = world.wire(None);
    let receiver = Arc::new(world.worker("receiver", &wire).await);
    let late: Arc<Mutex<Option<String>>> = Arc::default();
    let store = world.faulty(None).before({
        let late = Arc::clone(&late);
        move |method| -> Before {
            let trans_key = late.lock().unwrap().take_if(|_| method == "end");
            let receiver = Arc::clone(&receiver);
            Box::pin(async move {
                if let Some(trans_key) = trans_key {
                    receiver.event("late-1", &reported(&trans_key)).await.unwrap();
                }
                Ok(())
            })
        }
    });
    let fleet = world.worker_over("one", &Arc::new(store), &wire).await;
    let trans_key = unknown_checkout(&world, &fleet, "late-1").await;
    fleet.event("late-1", &forged(1)).await.unwrap();
    *late.lock().unwrap() = Some(trans_key.clone());
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(*late.lock().unwrap(), None, "it was stored");
    world.sandbox.advance(Duration::from_secs(MINUTE));
    fleet.work_once().await.unwrap();
    assert_eq!(fleet.outcome("late-1").await.unwrap(), Some(PaymentOutcome::PaidOnPage { trans_key }));
}

#[tokio::test]
async fn forged_events_cost_a_lookup_a_minute_and_use_up_none_of_the_plan() {
    let (world, _, fleet) = World::of_one().await;
    let trans_key = unknown_checkout(&world, &fleet, "plan-1").await;
    // It looks once for the event that withdrew it.
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let mut number = 0;
    for (lookup, pause) in PLAN.into_iter().enumerate() {
        let before = row(&fleet, "plan-1").await;
        let planned = before.due;
        assert_eq!(usize::try_from(before.lookups), Ok(lookup));
        assert!(
            planned - before.read_at <= i64::try_from(pause * 1000).unwrap(),
            "after {pause} seconds at the latest"
        );
        // Dozens of events within seconds cause at most one lookup, and the plan stays.
        let mut looked = 0;
        for _ in 0..24 {
            number += 1;
            fleet.event("plan-1", &forged(number)).await.unwrap();
            looked += fleet.work_once().await.unwrap();
            world.sandbox.advance(Duration::from_millis(100));
        }
        assert!(looked <= 1, "{looked} lookups within seconds");
        world.sandbox.advance(Duration::from_secs(61));
        fleet.work_once().await.unwrap();
        if lookup > 0 {
            let after = row(&fleet, "plan-1").await;
            assert_eq!((after.due, after.lookups), (planned, before.lookups), "lookup {lookup} keeps its time");
            world.sandbox.advance(Duration::from_millis(u64::try_from(planned - after.read_at).unwrap()));
            assert_eq!(fleet.work_once().await.unwrap(), 1, "the planned lookup {lookup}");
        }
    }
    let over = row(&fleet, "plan-1").await;
    assert_eq!((over.status, over.lookups, over.due), (IntentStatus::Unknown, 5, i64::MAX));
    world.sandbox.advance(Duration::from_secs(MINUTE));
    fleet.event("plan-1", &reported(&trans_key)).await.unwrap();
    fleet.work_once().await.unwrap();
    assert_eq!(fleet.outcome("plan-1").await.unwrap(), Some(PaymentOutcome::PaidOnPage { trans_key }));
}

#[tokio::test]
async fn a_customer_who_reloads_the_return_page_uses_up_no_lookup() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let fleet = world.worker("one", &wire).await;
    let initiation =
        InitiateThreeDSecureCardKey::new(&key, order("reload-1", 499)).return_url("https://shop.example/back");
    let asked = fleet.three_d_secure(initiation, ThreeDSecurePlan::default().lookups(2)).await.unwrap();
    let FleetStep::Ask(FleetQuestion::Challenge { url, .. }) = &asked else { panic!("{asked:?}") };
    world.sandbox.send(form(url, "outcome=authenticate")).unwrap();
    // The reply to the payment is lost, and those to the lookups.
    *wire.fault.lock().unwrap() = Some(Fault::Silence);
    fleet.event("reload-1", &FleetEvent::Returned).await.unwrap();
    let FleetStep::Done(unknown) = fleet.step("reload-1").await.unwrap() else { panic!("it asks") };
    assert_eq!(unknown.name(), "unknown", "{unknown:?}");
    for _ in 0..25 {
        fleet.event("reload-1", &FleetEvent::Returned).await.unwrap();
        fleet.work_once().await.unwrap();
        world.sandbox.advance(Duration::from_secs(2));
    }
    let left = row(&fleet, "reload-1").await;
    assert_eq!(left.status, IntentStatus::Unknown, "{left:?}");
    assert!(left.lookups <= 1 && left.due < i64::MAX, "{left:?}");
    wire.silent.store(false, Ordering::SeqCst);
    world.sandbox.advance(Duration::from_secs(5 * MINUTE));
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("reload-1").await.unwrap().unwrap().name(), "approved");
}

#[tokio::test]
async fn events_that_were_processed_do_not_make_an_intent_due_again() {
    let (world, _, fleet) = World::of_one().await;
    assert!(matches!(fleet.checkout("rests-1", token()).await.unwrap(), FleetStep::Ask(_)));
    fleet.event("rests-1", &forged(1)).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let key = IntentKey::new(fleet.account(), "rests-1");
    assert!(world.store.direct(&key, Directive::Reconcile).await.unwrap());
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.work_once().await.unwrap(), 0, "it waits for its customer");
    assert!(matches!(fleet.step("rests-1").await.unwrap(), FleetStep::Ask(_)));
}

/// Workers die on it, whether they look for an event or by the plan.
#[tokio::test]
async fn an_unknown_intent_that_kills_its_workers_is_parked_and_a_genuine_event_still_resolves_it() {
    let (world, _, fleet) = World::of_one().await;
    let trans_key = unknown_checkout(&world, &fleet, "poison-1").await;
    let told = fleet.outcome("poison-1").await.unwrap();
    let kinds = [IntentKind { name: "checkout".to_owned(), version: 1 }];
    let dies = async || {
        let claimed = world.store.claim(fleet.account(), "dies#1", 1, Duration::ZERO, &kinds).await;
        assert_eq!(claimed.unwrap().len(), 1);
    };
    let parks = async || {
        assert_eq!(fleet.work_once().await.unwrap(), 1);
        assert_eq!(row(&fleet, "poison-1").await.status, IntentStatus::Parked);
        assert_eq!(fleet.outcome("poison-1").await.unwrap(), told, "what was told stays");
        world.sandbox.advance(Duration::from_secs(MINUTE));
        assert_eq!(fleet.work_once().await.unwrap(), 0, "no worker touches it");
    };
    for number in 0..20 {
        fleet.event("poison-1", &forged(number)).await.unwrap();
        dies().await;
    }
    parks().await;
    // One event, one more attempt.
    fleet.event("poison-1", &forged(20)).await.unwrap();
    dies().await;
    parks().await;
    fleet.event("poison-1", &reported(&trans_key)).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("poison-1").await.unwrap(), Some(PaymentOutcome::PaidOnPage { trans_key }));
}

/// The reason why it was parked is no outcome of a payment that goes on.
#[tokio::test]
async fn a_payment_that_was_parked_and_asks_again_has_no_outcome_yet() {
    let (world, _, fleet) = World::of_one().await;
    let asked = fleet.checkout("again-1", token()).await.unwrap();
    let kinds = [IntentKind { name: "checkout".to_owned(), version: 1 }];
    for number in 0..20 {
        fleet.event("again-1", &forged(number)).await.unwrap();
        let claimed = world.store.claim(fleet.account(), "dies#1", 1, Duration::ZERO, &kinds).await;
        assert_eq!(claimed.unwrap().len(), 1);
    }
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("again-1").await.unwrap().unwrap().name(), "unknown", "it is parked");
    world.sandbox.advance(Duration::from_secs(MINUTE));
    fleet.event("again-1", &forged(20)).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.step("again-1").await.unwrap(), asked);
    let error = fleet.outcome("again-1").await.unwrap_err();
    assert!(matches!(error, FleetError::Pending { .. }), "{error}");
}

#[tokio::test]
async fn an_intent_that_an_operator_has_parked_keeps_its_callback_until_it_is_reconciled() {
    let (world, _, fleet) = World::of_one().await;
    let trans_key = unknown_checkout(&world, &fleet, "operator-1").await;
    let key = IntentKey::new(fleet.account(), "operator-1");
    assert!(world.store.direct(&key, Directive::Park).await.unwrap());
    fleet.event("operator-1", &reported(&trans_key)).await.unwrap();
    world.sandbox.advance(Duration::from_secs(MINUTE));
    assert_eq!(fleet.work_once().await.unwrap(), 0);
    assert!(world.store.direct(&key, Directive::Reconcile).await.unwrap());
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("operator-1").await.unwrap(), Some(PaymentOutcome::PaidOnPage { trans_key }));
}

async fn a_genuine_callback_in_a_flood_over<S: IntentStore>(store: &Arc<S>) {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = world.worker_over("one", store, &wire).await;
    for (name, before, after) in [("flood-1", 100, 10), ("flood-2", 10, 100)] {
        let trans_key = unknown_checkout(&world, &fleet, name).await;
        for number in 0..before + after {
            if number == before {
                fleet.event(name, &reported(&trans_key)).await.unwrap();
            }
            fleet.event(name, &forged(number)).await.unwrap();
        }
        assert_eq!(fleet.work_once().await.unwrap(), 1, "events make it due");
        assert_eq!(fleet.outcome(name).await.unwrap(), Some(PaymentOutcome::PaidOnPage { trans_key }), "{name}");
    }
}

#[tokio::test]
async fn over_sqlite_a_flood_of_forged_events_keeps_no_genuine_callback_out() {
    a_genuine_callback_in_a_flood_over(&World::new().store).await;
}

#[tokio::test]
async fn over_postgres_a_flood_of_forged_events_keeps_no_genuine_callback_out() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    a_genuine_callback_in_a_flood_over(&store).await;
}

/// No worker runs: the handler of the callback and the page of the order are all that there is.
#[tokio::test]
async fn a_step_or_another_call_continues_an_unknown_payment_whose_event_waits() {
    let (world, _, fleet) = World::of_one().await;
    for name in ["step-1", "call-1"] {
        let trans_key = unknown_checkout(&world, &fleet, name).await;
        fleet.event(name, &reported(&trans_key)).await.unwrap();
        let told = if name == "step-1" { fleet.step(name).await } else { fleet.checkout(name, token()).await };
        assert_eq!(told.unwrap(), FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key }), "{name}");
    }
}

#[tokio::test]
async fn a_step_returns_unknown_at_once_while_events_wait_for_the_minute_or_nothing_may_be_sent() {
    let (world, wire, fleet) = World::of_one().await;
    let trans_key = unknown_checkout(&world, &fleet, "minute-1").await;
    assert_eq!(fleet.work_once().await.unwrap(), 1, "it looks for the event that withdrew it");
    let unknown = fleet.outcome("minute-1").await.unwrap().unwrap();
    fleet.event("minute-1", &reported(&trans_key)).await.unwrap();
    assert!(!row(&fleet, "minute-1").await.is_due(), "it was looked at less than a minute ago");
    assert_eq!(fleet.step("minute-1").await.unwrap(), FleetStep::Done(unknown.clone()));
    world.sandbox.advance(Duration::from_secs(MINUTE));
    world.store.stop(fleet.account(), Some("wrong credentials")).await.unwrap();
    assert!(row(&fleet, "minute-1").await.is_due());
    let other = world.worker("other", &wire).await;
    assert_eq!(other.step("minute-1").await.unwrap(), FleetStep::Done(unknown));
    other.resume_sending().await.unwrap();
    assert_eq!(other.step("minute-1").await.unwrap(), FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key }));
}

#[tokio::test]
async fn a_step_waits_for_the_worker_that_looks_an_unknown_payment_up() {
    let world = World::new();
    let wire = world.wire(None);
    let (fleet, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
    let trans_key = unknown_checkout(&world, &fleet, "waits-1").await;
    fleet.event("waits-1", &reported(&trans_key)).await.unwrap();
    // The other one has claimed it, and has not looked yet, when the step finds it.
    wire.yields.store(1_000, Ordering::SeqCst);
    let (looked, told) = tokio::join!(other.work_once(), fleet.step("waits-1"));
    assert_eq!(looked.unwrap(), 1);
    assert_eq!(told.unwrap(), FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key }));
}

/// Its request is stored, so a worker could send it again.
#[tokio::test]
async fn a_payment_that_was_told_to_be_unknown_is_looked_up_and_never_sent_again() {
    let (world, wire, key) = World::with_card().await;
    *wire.fault.lock().unwrap() = Some(Fault::Before);
    crash(&world.worker("dead", &wire).await, &wire, by_key(&key, "unknown-1")).await;
    world.sandbox.advance(LEASE);
    wire.silent.store(true, Ordering::SeqCst);
    let plan = World::plan("other").bounds(ChargeBounds::default().lookups(1));
    let other = Fleet::new(world.client(&wire), Arc::clone(&world.store), plan).await.unwrap();
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(row(&other, "unknown-1").await.status, IntentStatus::Unknown);
    wire.silent.store(false, Ordering::SeqCst);
    world.sandbox.advance(Duration::from_secs(60));
    assert_eq!(other.work_once().await.unwrap(), 1, "it is looked up again");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "the request that never arrived");
    assert_eq!(world.ledger("unknown-1").await, []);
}
