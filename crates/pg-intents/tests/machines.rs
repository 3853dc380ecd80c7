//! Machines that wait for a customer or act on a payment: begun on one server, told on another, ended on any.

use std::sync::{Arc, atomic::Ordering};

use bytes::Bytes;
use http::Request;
use pg_hyper::proto::{
    machine::three_d_secure::{NoLiabilityShift, ThreeDSecurePlan},
    model::{CheckoutItem, Flag, GetToken, InitiateThreeDSecureCardKey, Refund, TransactionType},
};
use pg_intents::{
    Fleet, FleetError, FleetEvent, FleetQuestion, FleetStep, IntentKey, IntentRow, IntentStatus, IntentStore,
    NewIntent, PaymentOutcome, PostgresStore,
};
use pg_stores::Postgres;

use crate::world::{Fault, LEASE, Wire, World, by_card, by_key, order, submitted};

pub(crate) const ASKS: &str = "4000000000005001";
const NOT_ENROLLED: &str = "4000000000007007";

pub(crate) fn form(url: &str, pairs: &str) -> Request<Bytes> {
    let post = Request::post(url).header("content-type", "application/x-www-form-urlencoded");
    post.body(Bytes::copy_from_slice(pairs.as_bytes())).unwrap()
}

/// The customer pays on the page; the transaction that the address of the way back names.
pub(crate) fn paid_on_page(world: &World, url: &str) -> String {
    let page = world.sandbox.send(Request::get(url).body(Bytes::new()).unwrap()).unwrap();
    let page = String::from_utf8(page.body().to_vec()).unwrap();
    let (_, visit) = page.split_once("name=\"visit\" value=\"").expect("the page has a form");
    let card = "cardNumber=4111111111111111&cardExpiryMonth=12&cardExpiryYear=2049&cardCV2=987&cardholderName=A+Holder";
    let reply = world.sandbox.send(form(url, &format!("visit={}&{card}", visit.split('"').next().unwrap()))).unwrap();
    let back = reply.headers()["location"].to_str().unwrap();
    let Some((_, named)) = back.split_once("trans_key=") else { panic!("led to {back}: {reply:?}") };
    named.split(['&', '#']).next().unwrap().to_owned()
}

pub(crate) fn token() -> GetToken {
    GetToken::new()
        .item(CheckoutItem::new("Tea", "4.99"))
        .currency("GBP")
        .callback_url("https://shop.example/paid")
        .success_url("https://shop.example/thanks")
        .auto_redirect(Flag::YES)
}

pub(crate) async fn row<S: IntentStore>(fleet: &Fleet<S, Wire>, reference: &str) -> IntentRow {
    fleet.store().find(&IntentKey::new(fleet.account(), reference)).await.unwrap().unwrap()
}

async fn a_checkout_over<S: IntentStore>(store: &Arc<S>) {
    let world = World::new();
    let wire = world.wire(None);
    let (one, other) = (world.worker_over("one", store, &wire).await, world.worker_over("other", store, &wire).await);
    let opened = one.checkout("cart-1", token()).await.unwrap();
    let FleetStep::Ask(FleetQuestion::Redirect { url, .. }) = &opened else { panic!("{opened:?}") };
    assert_eq!(other.checkout("cart-1", token()).await.unwrap(), opened, "every server leads to the same page");
    assert_eq!(row(&one, "cart-1").await.owner, None, "it waits in its row, not in a process");
    let dearer = token().item(CheckoutItem::new("Cake", "1.00"));
    assert!(matches!(other.checkout("cart-1", dearer).await, Err(FleetError::OtherPayment { .. })));
    // Callbacks are not signed.
    let made_up = FleetEvent::Reported { trans_key: "0123456789abcdef0123456789abcdef".to_owned() };
    other.event("cart-1", &made_up).await.unwrap();
    let again = other.step("cart-1").await.unwrap();
    assert!(matches!(&again, FleetStep::Ask(FleetQuestion::Redirect { url: same, .. }) if same == url), "{again:?}");
    let trans_key = paid_on_page(&world, url);
    // The process that opened it is gone; the callback reaches another one.
    drop(one);
    other.event("cart-1", &FleetEvent::Reported { trans_key: trans_key.clone() }).await.unwrap();
    let third = world.worker_over("third", store, &wire).await;
    assert_eq!(third.work_once().await.unwrap(), 1, "an event makes it due");
    let paid = FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key });
    assert_eq!(other.step("cart-1").await.unwrap(), paid);
    assert_eq!(other.checkout("cart-1", token()).await.unwrap(), paid);
    other.event("cart-1", &made_up).await.unwrap();
    let error = other.event("cart-2", &made_up).await.unwrap_err();
    assert!(matches!(error, FleetError::NotWaiting { .. }), "{error}");
}

async fn a_challenge_over<S: IntentStore>(store: &Arc<S>) {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(ASKS).await);
    let (one, other) = (world.worker_over("one", store, &wire).await, world.worker_over("other", store, &wire).await);
    for (reference, button, expected) in [
        ("secure-1", "authenticate", "approved"),
        ("secure-2", "fail", "not-paid"),
        ("secure-3", "abandon", "not-paid"),
    ] {
        let initiation =
            || InitiateThreeDSecureCardKey::new(&key, order(reference, 499)).return_url("https://shop.example/back");
        let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::End);
        let asked = one.three_d_secure(initiation(), plan).await.unwrap();
        let FleetStep::Ask(FleetQuestion::Challenge { url, .. }) = &asked else { panic!("{asked:?}") };
        assert_eq!(other.three_d_secure(initiation(), plan).await.unwrap(), asked);
        world.sandbox.send(form(url.as_str(), &format!("outcome={button}"))).unwrap();
        // Two tabs, on two servers.
        other.event(reference, &FleetEvent::Returned).await.unwrap();
        one.event(reference, &FleetEvent::Returned).await.unwrap();
        let FleetStep::Done(outcome) = other.step(reference).await.unwrap() else { panic!("{reference} goes on") };
        assert_eq!(outcome.name(), expected, "{reference}: {outcome:?}");
        assert_eq!(one.step(reference).await.unwrap(), FleetStep::Done(outcome));
        let paid =
            world.ledger(reference).await.into_iter().filter(|paid| paid.transaction_type == TransactionType::AUTH);
        assert_eq!(paid.count(), usize::from(expected == "approved"), "{reference}");
    }
}

async fn a_refund_over<S: IntentStore>(store: &Arc<S>) {
    let world = World::new();
    let wire = world.wire(None);
    let (one, other) = (world.worker_over("one", store, &wire).await, world.worker_over("other", store, &wire).await);
    let PaymentOutcome::Approved(paid) = one.charge(by_card("paid-1", 499)).await.unwrap() else { panic!("not paid") };
    let refund = || Refund::new(&paid.transaction_key);
    let before = wire.paid.load(Ordering::SeqCst);
    let first = one.operation("refund paid-1", refund()).await.unwrap();
    assert_eq!(first.name(), "approved", "{first:?}");
    assert_eq!(other.operation("refund paid-1", refund()).await.unwrap(), first);
    assert_eq!(wire.paid.load(Ordering::SeqCst), before + 1, "one request");
}

/// Each server that looks requests the status again. That gives the merchant no more time.
#[tokio::test]
async fn without_a_decision_a_payment_ends_at_its_time_whichever_server_looks() {
    let world = World::new();
    let (wire, key) = (world.wire(None), world.key_of(NOT_ENROLLED).await);
    let (one, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
    let initiation =
        InitiateThreeDSecureCardKey::new(&key, order("decide-1", 499)).return_url("https://shop.example/b");
    let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::Ask);
    let led = one.three_d_secure(initiation, plan).await.unwrap();
    let FleetStep::Ask(FleetQuestion::Challenge { url, .. }) = &led else { panic!("{led:?}") };
    world.sandbox.send(form(url, "outcome=authenticate")).unwrap();
    one.event("decide-1", &FleetEvent::Returned).await.unwrap();
    let asked = one.step("decide-1").await.unwrap();
    assert!(matches!(&asked, FleetStep::Ask(FleetQuestion::Decide { .. })), "{asked:?}");
    world.sandbox.advance(plan.decision / 2);
    other.event("decide-1", &FleetEvent::Returned).await.unwrap();
    assert_eq!(other.step("decide-1").await.unwrap(), asked, "the same question with the same deadline");
    world.sandbox.advance(plan.decision / 2);
    other.event("decide-1", &FleetEvent::Returned).await.unwrap();
    let FleetStep::Done(outcome) = other.step("decide-1").await.unwrap() else { panic!("it asks again") };
    assert_eq!(outcome.name(), "not-paid");
    assert_eq!(one.step("decide-1").await.unwrap(), FleetStep::Done(outcome));
}

/// Every event resumes the machine, which requests the status again: the decision may be heard before its reply.
#[tokio::test]
async fn a_decision_is_kept_if_the_reply_to_the_status_request_is_lost() {
    for (reference, event, expected) in
        [("decide-2", FleetEvent::Proceed, "approved"), ("decide-3", FleetEvent::Stop, "not-paid")]
    {
        let world = World::new();
        let (wire, key) = (world.wire(None), world.key_of(NOT_ENROLLED).await);
        let (one, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
        let initiation =
            InitiateThreeDSecureCardKey::new(&key, order(reference, 499)).return_url("https://shop.example/b");
        let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::Ask);
        let led = one.three_d_secure(initiation, plan).await.unwrap();
        let FleetStep::Ask(FleetQuestion::Challenge { url, .. }) = &led else { panic!("{led:?}") };
        world.sandbox.send(form(url, "outcome=authenticate")).unwrap();
        one.event(reference, &FleetEvent::Returned).await.unwrap();
        let asked = one.step(reference).await.unwrap();
        assert!(matches!(&asked, FleetStep::Ask(FleetQuestion::Decide { .. })), "{asked:?}");
        *wire.losing.lock().unwrap() = Some("getAuthenticationStatus");
        other.event(reference, &event).await.unwrap();
        let FleetStep::Done(outcome) = other.step(reference).await.unwrap() else { panic!("it asks again") };
        assert_eq!(*wire.losing.lock().unwrap(), None, "a reply was lost");
        assert_eq!(outcome.name(), expected, "{outcome:?}");
    }
}

/// The documents do not say how the service refuses the key of a transaction that the account does not have.
#[tokio::test]
async fn a_forged_report_whose_lookup_is_forbidden_ends_no_checkout() {
    let world = World::new();
    let wire = world.wire(None);
    wire.forbids.store(true, Ordering::SeqCst);
    let (one, other) = (world.worker("one", &wire).await, world.worker("other", &wire).await);
    let opened = one.checkout("cart-3", token()).await.unwrap();
    let FleetStep::Ask(FleetQuestion::Redirect { url, .. }) = &opened else { panic!("{opened:?}") };
    let made_up = FleetEvent::Reported { trans_key: "0123456789abcdef0123456789abcdef".to_owned() };
    one.event("cart-3", &made_up).await.unwrap();
    assert_eq!(one.step("cart-3").await.unwrap(), opened);
    let trans_key = paid_on_page(&world, url);
    other.event("cart-3", &made_up).await.unwrap();
    other.event("cart-3", &FleetEvent::Reported { trans_key: trans_key.clone() }).await.unwrap();
    assert_eq!(other.step("cart-3").await.unwrap(), FleetStep::Done(PaymentOutcome::PaidOnPage { trans_key }));
}

/// Its request bears no reference: after a crash it is not sent again.
#[tokio::test]
async fn a_refund_whose_worker_dies_ends_unknown_and_is_never_sent_again() {
    let world = World::new();
    for (reference, fault) in [("gone-1", Fault::Before), ("gone-2", Fault::After)] {
        let paid = world.worker("shop", &world.wire(None)).await.charge(by_card(reference, 499)).await.unwrap();
        let wire = world.wire(Some(fault));
        let (dead, other) = (world.worker("dead", &wire).await, world.worker("other", &wire).await);
        let name = format!("refund {reference}");
        let refund = Refund::new(&paid.transaction().unwrap().transaction_key);
        tokio::select! {
            settled = dead.operation(&name, refund.clone()) => panic!("it did not hang: {settled:?}"),
            () = wire.hanging.notified() => {}
        }
        world.sandbox.advance(LEASE);
        other.work_once().await.unwrap();
        assert_eq!(other.operation(&name, refund).await.unwrap().name(), "unknown");
        assert_eq!(wire.paid.load(Ordering::SeqCst), 1, "{reference}");
    }
}

/// A process that died before the customer was led to a page.
#[tokio::test]
async fn a_checkout_whose_page_was_never_shown_ends_without_a_payment() {
    let world = World::new();
    let wire = world.wire(None);
    let fleet = world.worker_over("one", &world.store, &wire).await;
    // Its first state, from before the reply with the token.
    let _ = fleet.checkout("first", token()).await.unwrap();
    let opened = row(&fleet, "first").await;
    let saved: String = opened.state.replace(r#""phase":"Waiting""#, r#""phase":"Opening""#);
    assert_ne!(saved, opened.state);
    let IntentRow { kind, digest, .. } = opened;
    let new = NewIntent { kind, digest, state: saved, ..submitted(fleet.account(), "dead") };
    world.store.begin(new).await.unwrap();
    assert_eq!(fleet.work_once().await.unwrap(), 1);
    let settled = fleet.outcome("dead").await.unwrap().unwrap();
    assert!(matches!(&settled, PaymentOutcome::NotPaid { why } if why.contains("start again")), "{settled:?}");
}

/// A rolling deploy: rows of a version, or of a kind, that this program does not know.
#[tokio::test]
async fn rows_of_later_versions_are_left_alone() {
    let (world, wire, key) = World::with_card().await;
    let fleet = world.worker("old", &wire).await;
    fleet.submit(by_key(&key, "new-1")).await.unwrap();
    let known = row(&fleet, "new-1").await;
    for (reference, kind, version) in [("new-2", "charge barter", 1), ("new-3", &*known.kind, 2)] {
        let IntentRow { digest, request, state, .. } = known.clone();
        let kind = kind.to_owned();
        let new = NewIntent { kind, digest, request, state, version, ..submitted(fleet.account(), reference) };
        world.store.begin(new).await.unwrap();
    }
    assert_eq!(fleet.work_once().await.unwrap(), 1, "its own");
    for _ in 0..30 {
        world.sandbox.advance(LEASE * 2);
        assert_eq!(fleet.work_once().await.unwrap(), 0);
    }
    for reference in ["new-2", "new-3"] {
        let left = row(&fleet, reference).await;
        assert_eq!((left.status, left.claims, left.fence), (IntentStatus::Open, 0, 1), "{reference}");
    }
    assert_eq!(wire.paid.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn over_sqlite_customers_may_come_back_to_any_server() {
    a_checkout_over(&World::new().store).await;
    a_challenge_over(&World::new().store).await;
    a_refund_over(&World::new().store).await;
}

#[tokio::test]
async fn over_postgres_customers_may_come_back_to_any_server() {
    let Some(server) = Postgres::for_one_test(&[]) else { return };
    let store = Arc::new(PostgresStore::migrate(&server.url("postgres")).await.unwrap());
    a_checkout_over(&store).await;
    a_challenge_over(&store).await;
    a_refund_over(&store).await;
}
