//! A server's clock that is set back, and a clock of the database that was ahead.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};

use pg_hyper::{
    Clock, SharedLimit as _,
    proto::{machine::Moment, model::ApiRequest as _, model::AuthCardKey},
};
use pg_intents::{Fleet, FleetError, FleetLimits, FleetPlan, IntentStore as _, SqliteStore};

use crate::world::{World, by_key};

const NOW: u64 = 1_777_888_800_000;
const HOUR: u64 = 3_600_000;

/// A clock that a test sets. A wait lets other tasks run.
#[derive(Clone)]
struct Set(Arc<AtomicU64>);

impl Set {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(NOW)))
    }

    fn back(&self) {
        self.0.fetch_sub(HOUR, Ordering::SeqCst);
    }
}

impl Clock for Set {
    fn now(&self) -> Moment {
        Moment::from_millis(self.0.load(Ordering::SeqCst))
    }

    fn sleep_until(&self, _: Moment) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::task::yield_now())
    }
}

#[tokio::test]
async fn a_process_whose_clock_is_set_back_notices_that_sending_was_resumed() {
    let world = World::new();
    let (clock, account) = (Set::new(), world.account());
    let plan = World::plan("one").clock(clock.clone());
    let one = FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
    let other = FleetLimits::new(Arc::clone(&world.store), &account, &World::plan("other")).await.unwrap();
    world.store.stop(one.account(), Some("wrong credentials")).await.unwrap();
    assert!(one.stopped().await.unwrap().is_some());
    clock.back();
    other.resume_sending().await.unwrap();
    let mut queries = 0_u64;
    while one.stopped().await.unwrap().is_some() {
        queries += 1;
        assert!(queries < 100_000_000, "it does not query the store");
    }
}

#[tokio::test]
async fn a_caller_whose_clock_is_set_back_waits_no_longer() {
    let (world, wire, key) = World::with_card().await;
    let clock = Set::new();
    let setting = clock.clone();
    // The clock is set back after the caller has begun to wait.
    let store = world.faulty(None).before(move |method| -> pg_faulty_intents::Before {
        if method == "find" && setting.0.load(Ordering::SeqCst) == NOW {
            setting.back();
        }
        Box::pin(std::future::ready(Ok(())))
    });
    let plan = World::plan("one").patience(Duration::from_millis(50)).clock(clock);
    let fleet = Fleet::new(world.client(&wire), Arc::new(store), plan).await.unwrap();
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    world.store.stop(fleet.account(), Some("wrong credentials")).await.unwrap();
    let error = fleet.step("order-1").await.unwrap_err();
    assert!(matches!(error, FleetError::Pending { .. }), "{error}");
}

/// Its clock was a year ahead while processes died.
#[tokio::test]
async fn a_database_whose_clock_was_ahead_holds_requests_back_for_minutes() {
    let world = World::new();
    let clock = Arc::new(AtomicI64::new(i64::try_from(NOW + 365 * 24 * HOUR).unwrap()));
    let shown = Arc::clone(&clock);
    let store = Arc::new(SqliteStore::in_memory(move || shown.load(Ordering::SeqCst)).unwrap());
    let plan = FleetPlan::new("one").poll(Duration::ZERO).per_minute(5).clock(Set::new());
    let account = world.account();
    let limits = async || FleetLimits::new(Arc::clone(&store), &account, &plan).await.unwrap();
    // One process has the probe share, and all blocks are taken.
    for _ in 0..5 {
        let dies = limits().await;
        tokio::select! {
            biased;
            permit = dies.permit(AuthCardKey::INFO.service) => drop(permit.unwrap()),
            () = tokio::task::yield_now() => {}
        }
    }
    let next = limits().await;
    let mut permit = std::pin::pin!(next.permit(AuthCardKey::INFO.service));
    clock.store(i64::try_from(NOW).unwrap(), Ordering::SeqCst);
    // A block rests for three minutes at most, and then the probe share for two.
    for seconds in [0, 192] {
        clock.fetch_add(seconds * 1_000, Ordering::SeqCst);
        tokio::select! {
            biased;
            _ = &mut permit => panic!("the shares are taken after {seconds} s"),
            () = yields(1_000) => {}
        }
    }
    clock.fetch_add(121_000, Ordering::SeqCst);
    tokio::select! {
        biased;
        permit = &mut permit => drop(permit.unwrap()),
        () = yields(10_000) => panic!("it still waits"),
    }
}

async fn yields(count: u32) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}
