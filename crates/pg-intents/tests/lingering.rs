//! Checkouts that wait for late reports, or for the next attempt to cancel their token, in their rows.

use std::{sync::Arc, sync::atomic::Ordering, time::Duration};

use pg_hyper::{Clock as _, proto::machine::checkout::CheckoutPlan};
use pg_intents::{Fleet, FleetEvent, FleetStep, IntentStatus, SqliteStore};

use crate::{
    machines::{row, token},
    world::{Wire, World, by_key},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A worker with one place.
async fn worker(name: &str, world: &World, wire: &Wire) -> Fleet<SqliteStore, Wire> {
    let plan = World::plan(name).at_once(1).checkouts(CheckoutPlan::default().wait(30 * MINUTE));
    Fleet::new(world.client(wire), Arc::clone(&world.store), plan).await.unwrap()
}

/// A worker, and a page whose time is over.
async fn abandoned(world: &World, wire: &Wire) -> Fleet<SqliteStore, Wire> {
    let fleet = worker("one", world, wire).await;
    assert!(matches!(fleet.checkout("cart-1", token()).await.unwrap(), FleetStep::Ask(_)));
    world.sandbox.advance(30 * MINUTE);
    fleet
}

#[tokio::test]
async fn a_checkout_that_waits_for_late_reports_takes_no_place_and_no_server() {
    let (world, wire, key) = World::with_card().await;
    let (clock, fleet) = (world.clock(), abandoned(&world, &wire).await);
    let start = clock.now();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let rests = row(&fleet, "cart-1").await;
    assert_eq!((rests.status, rests.owner, rests.asks, rests.claims), (IntentStatus::Open, None, None, 0));
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("order-1").await.unwrap().unwrap().name(), "approved");
    assert!(clock.now().since(start) < MINUTE);
    // Another server goes on with it.
    let other = worker("other", &world, &wire).await;
    let mut parts = 0;
    while row(&fleet, "cart-1").await.status == IntentStatus::Open {
        world.sandbox.advance(Duration::from_secs(1));
        parts += if parts % 2 == 0 { &fleet } else { &other }.work_once().await.unwrap();
    }
    let waited = clock.now().since(start);
    assert!(waited >= 20 * MINUTE && waited <= 22 * MINUTE, "{waited:?}");
    assert!((20..=24).contains(&parts), "{parts}");
}

#[tokio::test]
async fn a_checkout_whose_token_is_not_cancelled_for_days_is_never_parked() {
    let (world, wire, _) = World::with_card().await;
    let fleet = abandoned(&world, &wire).await;
    wire.away.store(true, Ordering::SeqCst);
    for _ in 0..30 {
        while fleet.work_once().await.unwrap() == 0 {
            world.sandbox.advance(5 * MINUTE);
        }
        let rests = row(&fleet, "cart-1").await;
        assert_eq!((rests.status, rests.owner, rests.claims), (IntentStatus::Open, None, 0), "{}", rests.history);
    }
    wire.away.store(false, Ordering::SeqCst);
    while row(&fleet, "cart-1").await.status == IntentStatus::Open {
        world.sandbox.advance(MINUTE);
        fleet.work_once().await.unwrap();
    }
}

/// The clocks of servers differ, so an event must not pass the machine on at once.
#[tokio::test]
async fn a_checkout_stays_with_its_server_for_a_minute_after_an_event() {
    let (world, wire, _) = World::with_card().await;
    let (clock, fleet) = (world.clock(), abandoned(&world, &wire).await);
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let start = clock.now();
    fleet.event("cart-1", &FleetEvent::Reported { trans_key: "made-up".to_owned() }).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let stayed = clock.now().since(start);
    assert!(stayed >= MINUTE && stayed <= 3 * MINUTE, "{stayed:?}");
    assert_eq!(row(&fleet, "cart-1").await.owner, None);
}

/// The report arrives in time. No worker is free before the time for late reports is over.
#[tokio::test]
async fn a_report_that_waits_in_the_row_is_looked_up_before_the_checkout_lapses() {
    let (world, wire, _) = World::with_card().await;
    let fleet = worker("one", &world, &wire).await;
    let token = token().trans_reference("cart-1");
    assert!(matches!(fleet.checkout("cart-1", token).await.unwrap(), FleetStep::Ask(_)));
    world.sandbox.advance(30 * MINUTE);
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    for _ in 0..19 {
        while fleet.work_once().await.unwrap() == 0 {
            world.sandbox.advance(Duration::from_secs(1));
        }
    }
    assert_eq!(row(&fleet, "cart-1").await.status, IntentStatus::Open, "one part is left");
    fleet.event("cart-1", &FleetEvent::Reported { trans_key: "made-up".to_owned() }).await.unwrap();
    world.sandbox.advance(2 * MINUTE);
    wire.sent.lock().unwrap().clear();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("cart-1").await.unwrap().unwrap().name(), "not-paid");
    let sent = wire.sent.lock().unwrap().clone();
    assert_eq!(sent, ["transaction_lookup", "lookup"], "the reported transaction, then the search");
}
