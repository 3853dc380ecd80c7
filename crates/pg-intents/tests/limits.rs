//! The limits of an account after a failure, without a fleet.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use pg_faulty_intents::Before;
use pg_hyper::{
    LimitError, RequestEnd, SharedLimit as _, SharedPermit,
    proto::model::{ApiRequest as _, AuthCardKey},
};
use pg_intents::{FleetLimits, FleetStartError, IntentStore, StoreError};

use crate::world::World;

async fn permit<S: IntentStore>(limits: &FleetLimits<S>) -> Box<dyn SharedPermit> {
    limits.permit(AuthCardKey::INFO.service).await.unwrap()
}

/// The requests that may be in flight at present.
async fn permits<S: IntentStore>(limits: &FleetLimits<S>) -> Vec<Box<dyn SharedPermit>> {
    let mut all = Vec::new();
    loop {
        tokio::select! {
            biased;
            permit = permit(limits) => all.push(permit),
            () = tokio::task::yield_now() => return all,
        }
    }
}

#[tokio::test]
async fn a_failed_probe_lowers_the_limit_also_if_all_places_were_in_use() {
    let world = World::new();
    // A process reads the stop before each request.
    let plan = World::plan("limits").failures(5).poll(Duration::ZERO);
    let account = world.account();
    let limits = async || FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
    let (one, other) = (limits().await, limits().await);
    permit(&one).await.landed(RequestEnd::Accepted).await;
    let mut in_flight = Vec::new();
    for _ in 0..4 {
        in_flight.push(permit(&one).await);
    }
    permit(&other).await.landed(RequestEnd::Refused("102".to_owned())).await;
    assert!(one.stopped().await.unwrap().is_some());
    for request in in_flight {
        request.landed(RequestEnd::Accepted).await;
    }
    other.resume_sending().await.unwrap();
    permit(&one).await.landed(RequestEnd::Accepted).await;
    assert_eq!(permits(&one).await.len(), 4, "a place is taken for a day");
}

/// For example, the customer leaves while the database is slow.
#[tokio::test]
async fn a_failure_is_shared_also_if_its_caller_leaves_before_it_is_stored() {
    let (world, is_slow) = (World::new(), AtomicBool::new(true));
    let store = world.faulty(None).before(move |method| -> Before {
        let hangs = method == "stop" && is_slow.swap(false, Ordering::SeqCst);
        Box::pin(async move {
            match hangs {
                true => std::future::pending().await,
                false => Ok(()),
            }
        })
    });
    let plan = World::plan("limits").failures(5).poll(Duration::ZERO);
    let account = world.account();
    let one = FleetLimits::new(Arc::new(store), &account, &plan).await.unwrap();
    let other = FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
    permit(&one).await.landed(RequestEnd::Accepted).await;
    tokio::select! {
        biased;
        () = permit(&one).await.landed(RequestEnd::Refused("102".to_owned())) => panic!("the database responds"),
        () = tokio::task::yield_now() => {}
    }
    assert!(one.stopped().await.unwrap().is_some());
    assert!(other.stopped().await.unwrap().is_some(), "the next poll has shared it");
    other.resume_sending().await.unwrap();
    permit(&other).await.landed(RequestEnd::Accepted).await;
    assert_eq!(permits(&other).await.len(), 4, "a place is taken for a day");
}

/// Five failures lock the address out, so each has to count, with a place or as the probe.
// spec: 1 §8
#[tokio::test]
async fn a_refused_request_keeps_its_place() {
    let world = World::new();
    let plan = World::plan("limits").failures(5).poll(Duration::ZERO);
    let account = world.account();
    let limits = FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
    permit(&limits).await.landed(RequestEnd::Accepted).await;
    permit(&limits).await.landed(RequestEnd::Refused("102".to_owned())).await;
    limits.resume_sending().await.unwrap();
    permit(&limits).await.landed(RequestEnd::Accepted).await;
    assert_eq!(permits(&limits).await.len(), 4, "a place is taken for a day");
}

/// The place may have become free because its request was refused.
// spec: 1 §8
#[tokio::test]
async fn a_process_that_gets_a_place_asks_again_whether_it_may_send() {
    let world = World::new();
    let plan = World::plan("limits").failures(5).poll(Duration::from_secs(3_600));
    let account = world.account();
    let limits = async || FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
    let (one, other) = (limits().await, limits().await);
    for process in [&one, &other] {
        permit(process).await.landed(RequestEnd::Accepted).await;
    }
    permit(&one).await.landed(RequestEnd::Refused("102".to_owned())).await;
    assert!(other.stopped().await.unwrap().is_none(), "its poll is not due");
    let refused = other.permit(AuthCardKey::INFO.service).await.map(drop).unwrap_err();
    assert!(matches!(&refused, LimitError::Stopped(reason) if reason.contains("102")), "{refused:?}");
}

#[tokio::test]
async fn a_stop_that_cannot_be_shared_holds_in_its_process() {
    let world = World::new();
    let store = world.faulty(None).before(|method| -> Before {
        Box::pin(std::future::ready(match method {
            "stop" => Err(StoreError::Unavailable("no disk".to_owned())),
            _ => Ok(()),
        }))
    });
    let plan = World::plan("limits").failures(5).poll(Duration::ZERO);
    let limits = FleetLimits::new(Arc::new(store), &world.account(), &plan).await.unwrap();
    permit(&limits).await.landed(RequestEnd::Refused("102".to_owned())).await;
    for _ in 0..2 {
        assert!(limits.stopped().await.unwrap().is_some());
    }
}

/// A process that died without giving back its block.
// spec: 1 §8, A142: A block of a fleet rests as long as one of its requests may be in transit.
#[tokio::test]
async fn a_lost_request_counts_for_as_long_as_the_plan_says() {
    for (longest_way, left) in [(None, 2), (Some(Duration::from_secs(600)), 1), (Some(Duration::MAX), 1)] {
        let world = World::new();
        let plan = World::plan("limits").failures(5).per_minute(2).poll(Duration::ZERO);
        let plan = longest_way.into_iter().fold(plan, pg_intents::FleetPlan::longest_way);
        let limits = FleetLimits::new(Arc::clone(&world.store), &world.account(), &plan).await.unwrap();
        permit(&limits).await.landed(RequestEnd::Accepted).await;
        drop(permit(&limits).await);
        assert!(permits(&limits).await.is_empty());
        world.sandbox.advance(Duration::from_secs(10 + 120 + 61 + 1));
        assert_eq!(permits(&limits).await.len(), left, "{longest_way:?}");
    }
}

/// Each process divides its own limit into blocks, and counts those of the others.
// spec: 1 §8
#[tokio::test]
async fn processes_with_different_limits_send_no_more_than_the_largest_permits() {
    for (first, second) in [(100, 39), (39, 100), (100, 30), (50, 100), (100, 3)] {
        let world = World::new();
        let account = world.account();
        let mut sent = Vec::new();
        for per_minute in [first, second] {
            let plan = World::plan("limits").per_minute(per_minute).poll(Duration::ZERO);
            let limits = FleetLimits::new(Arc::clone(&world.store), &account, &plan).await.unwrap();
            sent.extend(permits(&limits).await);
            // Its number is forgotten, and its requests still count.
            world.sandbox.advance(Duration::from_secs(61));
        }
        assert!(sent.len() <= 100, "{first} and {second}: {}", sent.len());
    }
}

#[tokio::test]
async fn a_program_with_another_limit_than_the_fleet_is_refused() {
    let world = World::new();
    let account = world.account();
    let limits = async |per_minute| {
        let plan = World::plan("limits").per_minute(per_minute).poll(Duration::ZERO);
        FleetLimits::new(Arc::clone(&world.store), &account, &plan).await
    };
    let fleet = limits(50).await.unwrap();
    for _ in 0..3 {
        let refused = limits(100).await.map(drop).unwrap_err();
        assert_eq!(refused, FleetStartError::OtherLimit { per_minute: 100 });
        limits(50).await.unwrap();
        limits(u32::MAX).await.unwrap();
        // Also while it sends nothing.
        world.sandbox.advance(Duration::from_secs(45));
        assert!(fleet.stopped().await.unwrap().is_none());
    }
    world.sandbox.advance(Duration::from_secs(61));
    limits(100).await.unwrap();
    // The fleet goes on: customers are waiting.
    permit(&fleet).await.landed(RequestEnd::Accepted).await;
}
