//! The lookup that an unknown outcome names.

use std::{sync::atomic::Ordering, time::Duration};

use pg_hyper::proto::{
    machine::{Reconcile, three_d_secure::ThreeDSecurePlan},
    model::{GetToken, InitiateThreeDSecureCardKey, Refund, TransactionLookup},
};
use pg_intents::{
    FleetError, FleetEvent, FleetStep, IntentKey, IntentKind, IntentStatus, IntentStore as _, PaymentOutcome,
};

use crate::{
    machines::{ASKS, row, token},
    world::{Fault, World, by_card, order},
};

#[track_caller]
fn reconcile(outcome: PaymentOutcome) -> Reconcile {
    match outcome {
        PaymentOutcome::Unknown { reconcile, .. } => reconcile,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_unknown_outcome_names_the_lookup_of_its_machine() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let fleet = world.worker("one", &wire).await;
    let ended = async |name: &str, token: GetToken| {
        assert!(matches!(fleet.checkout(name, token).await.unwrap(), FleetStep::Ask(_)));
        wire.silent.store(true, Ordering::SeqCst);
        fleet.event(name, &FleetEvent::Cancelled).await.unwrap();
        // It rests between two attempts to cancel its token.
        while matches!(fleet.outcome(name).await, Err(FleetError::Pending { .. })) {
            fleet.work_once().await.unwrap();
            world.sandbox.advance(Duration::from_secs(3_600));
        }
        let unknown = fleet.outcome(name).await.unwrap().unwrap();
        wire.silent.store(false, Ordering::SeqCst);
        unknown
    };
    let named = ended("names-1", token()).await;
    assert_eq!(reconcile(named), Reconcile::AskOperator, "it has no trans_reference");
    let mut searchable = token();
    searchable.trans_reference = Some("order-7".into());
    let named = reconcile(ended("names-2", searchable).await);
    assert_eq!(named, TransactionLookup::new().merchant_reference("order-7").into());
    assert!(named.to_string().contains("merchantReference=order-7"), "{named}");

    let paid = fleet.charge(by_card("names-3", 499)).await.unwrap();
    let paid_key = paid.transaction().unwrap().transaction_key.clone();
    *wire.fault.lock().unwrap() = Some(Fault::Lost);
    let refunded = fleet.operation("refund names-3", Refund::new(&paid_key)).await.unwrap();
    assert_eq!(reconcile(refunded), Reconcile::AskOperator, "its request has no reference");
    wire.silent.store(true, Ordering::SeqCst);
    let charged = fleet.charge(by_card("names-4", 499)).await.unwrap();
    let by_reference = |reference| Reconcile::by_unique_reference(Some(reference));
    assert_eq!(reconcile(charged), by_reference("names-4"));
    wire.silent.store(false, Ordering::SeqCst);

    // Workers died before its machine had an outcome.
    let initiation =
        InitiateThreeDSecureCardKey::new(&key, order("names-5", 499)).return_url("https://shop.example/back");
    let asked = fleet.three_d_secure(initiation, ThreeDSecurePlan::default()).await.unwrap();
    assert!(matches!(asked, FleetStep::Ask(_)), "{asked:?}");
    let opened = fleet.checkout("names-6", token()).await.unwrap();
    assert!(matches!(opened, FleetStep::Ask(_)), "{opened:?}");
    let kinds = ["3-D Secure", "checkout"].map(|name| IntentKind { name: name.to_owned(), version: 1 });
    for (name, expected) in [("names-5", by_reference("names-5")), ("names-6", Reconcile::AskOperator)] {
        let intent = IntentKey::new(fleet.account(), name);
        for _ in 0..20 {
            world.store.claim_one(&intent, "dies#1", Duration::ZERO, &kinds).await.unwrap();
        }
        fleet.work_once().await.unwrap();
        let parked = row(&fleet, name).await;
        assert_eq!(parked.status, IntentStatus::Parked, "{parked:?}");
        assert_eq!(reconcile(fleet.outcome(name).await.unwrap().unwrap()), expected);
    }
}
