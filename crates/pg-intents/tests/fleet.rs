//! Workers that share a store.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use pg_hyper::proto::{Account, BaseUrl, Credentials};
use pg_intents::{
    Directive, Fleet, FleetError, IntentFilter, IntentKind, IntentStatus, IntentStore as _, NewIntent, PaymentOutcome,
    SqliteStore, StoreError,
};
use pg_sandbox::InProcess;

use crate::{
    machines::{row, token},
    world::{Fault, LEASE, Wire, World, by_card, by_key, charge_at_once, order, submitted},
};

fn by_key_kind() -> [IntentKind; 1] {
    [IntentKind { name: "charge authCardKey".to_owned(), version: 1 }]
}

/// The worker dies while its payment is on the way.
pub(crate) async fn crash<P: pg_intents::Payment>(fleet: &Fleet<SqliteStore, Wire>, wire: &Wire, payment: P) {
    tokio::select! {
        settled = fleet.charge(payment) => panic!("it did not hang: {settled:?}"),
        () = wire.hanging.notified() => {}
    }
}

#[tokio::test]
async fn a_charge_is_stored_with_its_outcome_in_two_commits() {
    let (world, _, fleet) = World::of_one().await;
    let settled = fleet.charge(by_card("order-1", 499)).await.unwrap();
    let row = row(&fleet, "order-1").await;
    assert_eq!((row.status, row.fence, row.event, row.owner), (IntentStatus::Ended, 1, 1, None));
    let [held] = &world.ledger("order-1").await[..] else { panic!() };
    assert_eq!(settled.transaction().unwrap().transaction_key, held.transaction_key);
    // Begun and ended: the row was written twice.
    assert_eq!(row.history.lines().count(), 2, "{}", row.history);
}

#[tokio::test]
async fn a_second_call_gets_the_outcome_of_the_first_and_another_payment_is_misuse() {
    let (world, wire, key) = World::with_card().await;
    let (one, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
    let first = one.charge(by_key(&key, "order-2")).await.unwrap();
    assert_eq!(one.charge(by_key(&key, "order-2")).await.unwrap(), first);
    assert_eq!(other.charge(by_key(&key, "order-2")).await.unwrap(), first);
    assert_eq!(other.outcome("order-2").await.unwrap(), Some(first));
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "one request");
    let dearer = pg_hyper::proto::model::AuthCardKey::new(&key, order("order-2", 500));
    let error = other.charge(dearer).await.unwrap_err();
    assert!(matches!(&error, FleetError::OtherPayment { reference, .. } if reference == "order-2"), "{error}");
    assert!(error.to_string().contains("and may have been made: ask for its outcome"), "{error}");
    assert!(matches!(other.charge(by_card("order-2", 499)).await, Err(FleetError::OtherPayment { .. })));
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "nothing was sent for the others");
}

/// Whether the first one is in progress, submitted, or waits for its customer.
#[tokio::test]
async fn another_payment_is_misuse_before_the_first_has_ended_too() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::After)), world.card_key().await);
    let (one, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
    let dearer = |reference: &str| pg_hyper::proto::model::AuthCardKey::new(&key, order(reference, 500));
    let misuse = |settled: Result<PaymentOutcome, FleetError>, what: &str| {
        let told = settled.unwrap_err();
        assert!(matches!(&told, FleetError::OtherPayment { found, .. } if found.contains(what)), "{told}");
    };
    one.submit(by_key(&key, "other-1")).await.unwrap();
    misuse(other.charge(dearer("other-1")).await, "authCardKey");
    assert!(matches!(other.submit(dearer("other-1")).await, Err(FleetError::OtherPayment { .. })));
    let token = token();
    let asked = one.checkout("other-2", token).await.unwrap();
    assert!(matches!(asked, pg_intents::FleetStep::Ask(_)), "{asked:?}");
    misuse(other.charge(by_key(&key, "other-2")).await, "checkout");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 0, "no payment was sent");
    let in_progress = one.charge(by_key(&key, "other-3"));
    tokio::select! {
        settled = in_progress => panic!("it did not hang: {settled:?}"),
        told = async { wire.hanging.notified().await; other.charge(dearer("other-3")).await } => misuse(told, "authCardKey"),
    }
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "the first one alone was sent");
}

#[tokio::test]
async fn shutting_down_hands_leases_over_before_the_next_request() {
    let world = World::new();
    let (wire, key) = (world.wire(Some(Fault::Held)), world.card_key().await);
    let one = world.worker("one", &wire).await;
    let other = world.worker("other", &wire).await;
    // One that was sent, and whose reply is still on its way; it was claimed by a worker that runs.
    one.submit(by_key(&key, "handed-1")).await.unwrap();
    let running = tokio::spawn({
        let one = one.clone();
        async move { one.run().await }
    });
    wire.hanging.notified().await;
    // One that waits for its first request: the probe share is with the other.
    let waiting = tokio::spawn({
        let (one, payment) = (one.clone(), by_key(&key, "handed-2"));
        async move { one.charge(payment).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(other.work_once().await.unwrap(), 0, "nothing is due while it lives");
    one.shut_down();
    let told = waiting.await.unwrap();
    assert!(matches!(told, Err(FleetError::ShuttingDown { .. })), "{told:?}");
    // The reply is lost, so the next request would be a lookup.
    wire.silent.store(true, Ordering::SeqCst);
    wire.released.notify_one();
    running.await.unwrap();
    wire.silent.store(false, Ordering::SeqCst);
    let handed = row(&one, "handed-1").await;
    assert!(handed.owner.is_none() && handed.is_due() && handed.history.contains("released"), "{handed:?}");
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(other.outcome("handed-1").await.unwrap().unwrap().name(), "approved");
    assert_eq!((world.ledger("handed-1").await.len(), world.ledger("handed-2").await.len()), (1, 0));
}

/// The leases of a batch begin at the same moment, so none of it may wait for the others' requests.
#[tokio::test]
async fn a_slow_payment_of_a_batch_delays_no_other() {
    let (world, wire, key) = World::with_card().await;
    let one = world.worker("one", &wire).await;
    // An account's first request goes alone.
    assert_eq!(one.charge(by_key(&key, "alone")).await.unwrap().name(), "approved");
    *wire.fault.lock().unwrap() = Some(Fault::Held);
    for reference in ["batch-1", "batch-2"] {
        one.submit(by_key(&key, reference)).await.unwrap();
    }
    let second = async {
        wire.hanging.notified().await;
        let mut ended = 0;
        // Each question takes its turn behind the statements of the payments.
        for _ in 0..1_000 {
            let rows = world.store.list(IntentFilter::default()).await.unwrap();
            ended = rows.iter().filter(|row| row.outcome.is_some()).count();
            if ended > 1 {
                break;
            }
        }
        wire.released.notify_one();
        ended
    };
    let (worked, ended) = tokio::join!(one.work_once(), second);
    assert_eq!((worked.unwrap(), ended), (2, 2), "the first payment and one of the batch");
    assert_eq!((world.ledger("batch-1").await.len(), world.ledger("batch-2").await.len()), (1, 1));
}

#[tokio::test]
async fn calls_at_the_same_time_on_many_workers_make_one_payment() {
    let (world, wire, key) = World::with_card().await;
    let mut calls = Vec::new();
    for number in 0..8 {
        let fleet = world.worker(&format!("w{}", number % 4), &wire).await;
        let payment = by_key(&key, "order-3");
        for _ in 0..2 {
            let (fleet, payment) = (fleet.clone(), payment.clone());
            calls.push(tokio::spawn(async move { fleet.charge(payment).await.unwrap() }));
        }
    }
    let mut settled = Vec::new();
    for call in calls {
        settled.push(call.await.unwrap());
    }
    assert!(
        settled.iter().all(|other| *other == settled[0]) && matches!(settled[0], PaymentOutcome::Approved(_)),
        "{settled:?}"
    );
    assert_eq!(world.ledger("order-3").await.len(), 1);
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "one request");
}

#[tokio::test]
async fn another_worker_finishes_the_intent_of_a_dead_one_whether_it_was_sent_or_not() {
    let world = World::new();
    let key = world.card_key().await;
    for (reference, fault, sent) in [("order-4", Fault::After, 1), ("order-5", Fault::Before, 2)] {
        let wire = world.wire(Some(fault));
        let (dead, other) = (world.worker("dead", &wire).await, world.worker("other", &wire).await);
        crash(&dead, &wire, by_key(&key, reference)).await;
        assert_eq!(other.work_once().await.unwrap(), 0, "its lease holds");
        world.sandbox.advance(LEASE);
        assert_eq!(other.work_once().await.unwrap(), 1);
        let settled = other.outcome(reference).await.unwrap().unwrap();
        let [held] = &world.ledger(reference).await[..] else { panic!("{reference}") };
        assert_eq!(settled.transaction().unwrap().transaction_key, held.transaction_key);
        assert_eq!(wire.paid.load(Ordering::SeqCst), sent, "{reference}: sent again only if the lookup found nothing");
        assert_eq!(row(&other, reference).await.fence, 2);
    }
}

#[tokio::test]
async fn only_the_process_with_the_card_sends_a_payment_and_all_can_look_it_up() {
    let world = World::new();
    for (reference, fault, expected) in [("order-6", Fault::After, "approved"), ("order-7", Fault::Before, "unknown")] {
        let wire = world.wire(Some(fault));
        let (dead, other) = (world.worker("dead", &wire).await, world.worker("other", &wire).await);
        crash(&dead, &wire, by_card(reference, 499)).await;
        world.sandbox.advance(LEASE);
        other.work_once().await.unwrap();
        assert_eq!(other.outcome(reference).await.unwrap().unwrap().name(), expected);
        assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "the card is in no row");
    }
}

#[tokio::test]
async fn an_unknown_payment_is_looked_up_again_until_something_is_found() {
    let world = World::new();
    let wire = world.wire(Some(Fault::Before));
    let (dead, other) = (world.worker("dead", &wire).await, world.worker("other", &wire).await);
    crash(&dead, &wire, by_card("order-8", 499)).await;
    world.sandbox.advance(LEASE);
    other.work_once().await.unwrap();
    assert_eq!(row(&other, "order-8").await.status, IntentStatus::Unknown);
    let untold = world.store.untold(other.account(), 10, Duration::ZERO).await.unwrap();
    assert_eq!(
        untold.iter().map(|intent| intent.event).collect::<Vec<_>>(),
        [1],
        "the application hears that it is unknown"
    );
    // The request of the dead worker arrives late.
    let late = world.worker("late", &world.wire(None)).await;
    assert!(late.client().call(&by_card("order-8", 499)).await.unwrap().is_approved());
    world.sandbox.advance(Duration::from_secs(5 * 60));
    assert_eq!(other.work_once().await.unwrap(), 1);
    assert_eq!(other.outcome("order-8").await.unwrap().unwrap().name(), "approved");
    let untold = world.store.untold(other.account(), 10, Duration::ZERO).await.unwrap();
    let told: Vec<_> = untold.iter().map(|intent| (intent.event, intent.status)).collect();
    assert_eq!(told, [(2, IntentStatus::Ended)]);
}

#[tokio::test]
async fn a_worker_that_slept_past_its_lease_saves_nothing_and_sends_nothing() {
    let (world, wire, key) = World::with_card().await;
    let other = world.worker("other", &wire).await;
    other.submit(by_key(&key, "order-9")).await.unwrap();
    // Claimed by a worker that falls asleep at once; the other one ends it.
    let claimed = world.store.claim(other.account(), "sleeper#9", 1, LEASE, &by_key_kind()).await.unwrap();
    let hold = claimed[0].hold().unwrap();
    world.sandbox.advance(LEASE);
    other.work_once().await.unwrap();
    assert_eq!(other.outcome("order-9").await.unwrap().unwrap().name(), "approved");
    assert_eq!(world.store.save(&hold, "awake", LEASE).await, Err(StoreError::Lost));
    // The same through a whole worker, which joins the other instead.
    let sleeper = world.faulty(None).asleep(world.night());
    let client = pg_hyper::Client::with_transport(world.account(), wire.clone());
    let plan = World::plan("sleeper");
    let sleepy = Fleet::new(client, Arc::new(sleeper), plan).await.unwrap();
    other.submit(by_key(&key, "order-10")).await.unwrap();
    let paid = wire.paid.load(Ordering::SeqCst);
    sleepy.work_once().await.unwrap();
    assert_eq!(wire.paid.load(Ordering::SeqCst), paid, "the sleeper sent nothing");
    world.sandbox.advance(LEASE * 2);
    other.work_once().await.unwrap();
    assert_eq!(world.ledger("order-10").await.len(), 1);
    assert_eq!(sleepy.outcome("order-10").await.unwrap().unwrap().name(), "approved", "by the other worker");
}

#[tokio::test]
async fn another_account_has_intents_of_its_own() {
    let (world, wire, key) = World::with_card().await;
    let main = world.worker("main", &wire).await;
    main.submit(by_key(&key, "order-11")).await.unwrap();
    let base = BaseUrl::parse(InProcess::BASE_URL).unwrap();
    let stranger = Account::new(base, Credentials::new("another key", "p", "s")).identity("stranger");
    let client = pg_hyper::Client::with_transport(stranger, wire.clone());
    let plan = World::plan("stranger").apart_from([main.account()]);
    let stranger = Fleet::new(client, Arc::clone(&world.store), plan).await.unwrap();
    assert_eq!(stranger.work_once().await.unwrap(), 0, "it claims nothing of another account");
    assert_eq!(main.work_once().await.unwrap(), 1);
}

#[tokio::test]
async fn after_wrong_credentials_no_worker_sends_until_resumed() {
    let (world, wire, key) = World::with_card().await;
    let wrong = world.account_of("main", Some("wrong"));
    let one = world.worker_for("one", &wire, wrong.clone()).await;
    assert_eq!(one.charge(by_key(&key, "stopped-1")).await.unwrap().name(), "unknown");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
    // Another process, started later with the same credentials.
    let other = world.worker_for("other", &wire, wrong).await;
    for number in 2..8 {
        let error = other.charge(by_key(&key, &format!("stopped-{number}"))).await.unwrap_err();
        assert!(matches!(&error, FleetError::Stopped(why) if why.contains("credentials")), "{error}");
    }
    assert_eq!(other.charge(by_key(&key, "stopped-1")).await.unwrap().name(), "unknown", "what has ended is told");
    other.submit(by_key(&key, "stopped-8")).await.unwrap();
    assert_eq!(other.work_once().await.unwrap(), 0, "nothing is claimed");
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "one request with wrong credentials, by all processes together");
    let mended = world.worker_for("mended", &wire, world.account_of("main", None)).await;
    mended.resume_sending().await.unwrap();
    assert_eq!(mended.work_once().await.unwrap(), 1);
    assert_eq!(mended.outcome("stopped-8").await.unwrap().unwrap().name(), "approved");
}

/// A process starts while its replies are lost. The credentials are correct, and another process goes on with them.
#[tokio::test]
async fn a_process_without_replies_stops_itself_and_no_other_one() {
    let world = World::new();
    let (wire, lonely, key) = (world.wire(None), world.wire(None), world.card_key().await);
    let healthy = world.worker("healthy", &wire).await;
    assert_eq!(healthy.charge(by_key(&key, "before")).await.unwrap().name(), "approved");
    let started = async |name: &str| {
        let client = pg_hyper::ClientBuilder::with_transport(world.account(), lonely.clone()).clock(world.clock());
        Fleet::new(client.build(), Arc::clone(&world.store), World::plan(name)).await.unwrap()
    };
    let unlucky = started("unlucky").await;
    lonely.silent.store(true, Ordering::SeqCst);
    let mut charged = 0;
    let error = loop {
        charged += 1;
        match unlucky.charge(by_key(&key, &format!("lost-{charged}"))).await {
            Err(error) => break error,
            Ok(outcome) => assert!(outcome.name() == "unknown" && charged < 5, "{outcome:?}"),
        }
    };
    assert!(matches!(&error, FleetError::Unanswered(why) if why.contains("check the address")), "{error}");
    assert!(!error.to_string().contains("correct the credentials"), "{error}");
    // The store has no stop: this process waits alone, and claims nothing.
    assert_eq!(world.store.stopped(unlucky.account()).await.unwrap(), None);
    let paid = lonely.paid.load(Ordering::SeqCst);
    for number in 0..3 {
        let error = unlucky.charge(by_key(&key, &format!("later-{number}"))).await.unwrap_err();
        assert!(matches!(error, FleetError::Unanswered(_)), "{error}");
    }
    healthy.submit(by_key(&key, "submitted")).await.unwrap();
    world.sandbox.advance(LEASE * 2);
    assert_eq!(unlucky.work_once().await.unwrap(), 0, "nothing is claimed");
    assert_eq!(lonely.paid.load(Ordering::SeqCst), paid);
    assert_eq!(healthy.charge(by_key(&key, "after")).await.unwrap().name(), "approved");
    assert!(healthy.work_once().await.unwrap() >= 1);
    for reference in ["submitted", "lost-1"] {
        assert_eq!(world.ledger(reference).await.len(), 1, "{reference}");
    }
    // The service is back: a restarted process sends at once, and the stopped one a day later or when it is told to.
    lonely.silent.store(false, Ordering::SeqCst);
    assert_eq!(started("restarted").await.charge(by_key(&key, "restarted")).await.unwrap().name(), "approved");
    assert!(matches!(unlucky.charge(by_key(&key, "too-soon")).await, Err(FleetError::Unanswered(_))));
    unlucky.resume_sending().await.unwrap();
    assert_eq!(unlucky.charge(by_key(&key, "resumed")).await.unwrap().name(), "approved");
}

/// Counts payments that the service refused, and payments that were not sent. Fails for any other result.
#[track_caller]
fn refused_and_stopped(results: Vec<Result<PaymentOutcome, FleetError>>) -> (usize, usize) {
    let is_refused = |result: &Result<_, _>| match result {
        Ok(PaymentOutcome::Unknown { .. }) => true,
        Err(FleetError::Stopped(_)) => false,
        other => panic!("{other:?}"),
    };
    let (refused, stopped): (Vec<_>, Vec<_>) = results.into_iter().partition(is_refused);
    (refused.len(), stopped.len())
}

#[tokio::test]
async fn wrong_credentials_fail_once_for_any_number_of_processes() {
    let (world, wire, key) = World::with_card().await;
    wire.yields.store(50, Ordering::SeqCst);
    let mut fleets = Vec::new();
    for process in 0..5 {
        let account = world.account_of("main", Some("wrong"));
        fleets.push(world.worker_for(&format!("p{process}"), &wire, account).await);
    }
    let (refused, stopped) = refused_and_stopped(charge_at_once(&fleets, &key, 4, "wrong").await);
    assert_eq!((refused, stopped, wire.paid.load(Ordering::SeqCst)), (1, 19, 1));
    // An operator learns which process has them.
    let reason = world.store.stopped(fleets[0].account()).await.unwrap().unwrap();
    assert!(reason.contains("refused the credentials") && reason.contains("; the refused process is p"), "{reason}");
}

/// At the account with the service's own limits. Its cards are unknown: what the service refuses for that, it has accepted the
/// credentials of.
#[tokio::test]
async fn credentials_that_become_invalid_never_lock_the_address_out() {
    let world = World::new();
    let (wire, key) = (world.wire(None), pg_hyper::proto::model::CardKey::from("a-card-that-is-not-there"));
    let mut fleets = Vec::new();
    for process in 0..8 {
        let client = pg_hyper::ClientBuilder::with_transport(world.account_of("strict", None), wire.clone())
            .clock(world.clock())
            .limits(pg_hyper::proto::machine::throttle::ThrottleLimits::unlimited())
            .build();
        let plan = World::plan(&format!("p{process}")).per_minute(100).failures(5);
        let fleet = Fleet::new(client, Arc::clone(&world.store), plan).await.unwrap();
        fleet.client().call(&pg_hyper::proto::model::Initiate::new("https://shop.example/error")).await.unwrap();
        fleets.push(fleet);
    }
    wire.yields.store(50, Ordering::SeqCst);
    wire.invalid.store(true, Ordering::SeqCst);
    let (refused, stopped) = refused_and_stopped(charge_at_once(&fleets, &key, 4, "turned").await);
    assert_eq!(wire.failed.load(Ordering::SeqCst), refused);
    assert!((2..=5).contains(&refused) && refused + stopped == 32, "{refused}, {stopped}");
    // With the right credentials the service answers at once.
    wire.invalid.store(false, Ordering::SeqCst);
    fleets[0].resume_sending().await.unwrap();
    fleets[0].client().call(&pg_hyper::proto::model::Initiate::new("https://shop.example/error")).await.unwrap();
}

#[tokio::test]
async fn an_intent_on_which_workers_fail_again_and_again_is_parked() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("one", &wire).await;
    fleet.submit(by_key(&key, "order-12")).await.unwrap();
    for _ in 0..20 {
        world.store.claim(fleet.account(), "dies#1", 1, Duration::ZERO, &by_key_kind()).await.unwrap();
    }
    fleet.work_once().await.unwrap();
    let parked = row(&fleet, "order-12").await;
    assert_eq!((parked.status, wire.paid.load(Ordering::SeqCst)), (IntentStatus::Parked, 0));
    assert_eq!(fleet.charge(by_key(&key, "order-12")).await.unwrap().name(), "unknown");
    assert!(parked.history.contains("parked"), "{}", parked.history);
    // An operator sends it on.
    assert!(world.store.direct(&parked.key, Directive::Reconcile).await.unwrap());
    fleet.work_once().await.unwrap();
    assert_ne!(row(&fleet, "order-12").await.status, IntentStatus::Parked);
}

/// Each is told to shut down between its claim and its first request.
#[tokio::test]
async fn workers_that_release_a_payment_in_good_order_do_not_park_it() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("one", &wire).await;
    fleet.submit(by_key(&key, "order-1")).await.unwrap();
    for _ in 0..30 {
        let ends = world.worker("ends", &wire).await;
        ends.shut_down();
        assert_eq!(ends.work_once().await.unwrap(), 1);
    }
    let left = row(&fleet, "order-1").await;
    assert_eq!((left.status, left.claims), (IntentStatus::Open, 0), "{}", left.history);
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    assert_eq!(fleet.outcome("order-1").await.unwrap().unwrap().name(), "approved");
}

/// No program can read its payment.
#[tokio::test]
async fn an_intent_that_no_worker_can_resume_is_parked() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("one", &wire).await;
    let state = "not a state".to_owned();
    let new = NewIntent { state, lease: LEASE, ..submitted(fleet.account(), "order-1") };
    world.store.begin(new).await.unwrap();
    for _ in 0..20 {
        assert_eq!(fleet.work_once().await.unwrap(), 1);
        assert_eq!(fleet.work_once().await.unwrap(), 0, "not before its lease is over");
        world.sandbox.advance(LEASE);
    }
    assert_eq!(row(&fleet, "order-1").await.status, IntentStatus::Open);
    fleet.work_once().await.unwrap();
    assert_eq!(row(&fleet, "order-1").await.status, IntentStatus::Parked);
    assert_eq!(fleet.charge(by_key(&key, "order-2")).await.unwrap().name(), "approved", "the others continue");
}

#[tokio::test]
async fn no_row_holds_a_card_a_password_or_a_key() {
    let (world, _, fleet) = World::of_one().await;
    let paid = fleet.charge(by_card("order-13", 499)).await.unwrap();
    assert_eq!(paid.name(), "approved");
    let merchant = world.sandbox.merchant("main").unwrap();
    let keys = [&merchant.api_key, &merchant.api_password, &merchant.sha_key].map(|key| key.expose().to_owned());
    let rows = world.store.list(IntentFilter::default()).await.unwrap();
    let dump = format!("{rows:?}");
    assert!(dump.contains("order-13"));
    for canary in ["4000000000001000", "123\"", "cardCV2"].into_iter().chain(keys.iter().map(String::as_str)) {
        assert!(!dump.contains(canary), "{canary} in {dump}");
    }
}

#[tokio::test]
async fn workers_that_run_pick_up_what_is_submitted_and_stop_when_told() {
    let (world, wire, key) = World::with_card().await;
    // Many requests are in flight at once, as over a network.
    wire.yields.store(50, Ordering::SeqCst);
    let fleet = world.worker("one", &wire).await;
    let running = tokio::spawn({
        let fleet = fleet.clone();
        async move { fleet.run().await }
    });
    for number in 0..40 {
        fleet.submit(by_key(&key, &format!("many-{number}"))).await.unwrap();
    }
    for number in 0..40 {
        // Joins what the worker has in hand.
        let settled = fleet.charge(by_key(&key, &format!("many-{number}"))).await.unwrap();
        assert_eq!(settled.name(), "approved");
    }
    assert_eq!(wire.paid.load(Ordering::SeqCst), 40);
    fleet.shut_down();
    running.await.unwrap();
    let error = fleet.charge(by_key(&key, "too-late")).await;
    assert!(matches!(error, Err(FleetError::ShuttingDown { .. })), "{error:?}");
}
