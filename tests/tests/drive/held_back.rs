//! Reasons for a machine not to send: a failing store, the throttle and wrong credentials.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{Client, ClientBuilder, Clock, DriveError, DriveStep, TowerTransport, Transport, VirtualClock};
use pg_model::{CheckoutItem, GetToken};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        Moment,
        charge::{ChargeOutcome, UnknownReason},
        checkout::{CheckoutDemand, CheckoutInput, CheckoutOutcome, CheckoutPlan, NotOpenedReason},
        throttle::{StopReason, ThrottleLimits},
    },
};
use pg_sandbox::InProcess;
use pg_tests::clocks;

use crate::drive::{
    APPROVED, World,
    cancelled::{Shelf, polled},
    payment,
};

#[tokio::test]
async fn nothing_is_sent_when_the_machine_cannot_be_stored() {
    let world = World::new();
    let mut charging = world
        .client
        .charge(payment(APPROVED, "order-1"))
        .unwrap()
        .store(|_| async { Err::<(), _>("the disk is full") });
    assert!(charging.error().is_none());
    let charged = charging.run().await;
    assert_eq!(charged, ChargeOutcome::NotSent);
    let trouble = charging.error().unwrap();
    assert!(matches!(trouble, DriveError::Store(_)));
    assert_eq!(trouble.to_string(), "not sent: the machine could not be saved: the disk is full");
    assert_eq!(charging.run().await, ChargeOutcome::NotSent, "it says so again");
    world.check("order-1", &charged, "not stored").await;
}

#[tokio::test]
async fn a_store_that_fails_after_the_payment_was_sent_leaves_it_unknown() {
    let world = World::new();
    world.control("faults", r#"{"method": "transaction/auth", "kind": "drop-reply"}"#);
    let stored = Arc::new(AtomicU32::new(0));
    let mut charging = world.client.charge(payment(APPROVED, "order-1")).unwrap().store(move |_| {
        let first = stored.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if first { Ok(()) } else { Err("the disk is full") } }
    });
    let charged = charging.run().await;
    assert!(matches!(charged, ChargeOutcome::Unknown { why: UnknownReason::HeldBack, .. }), "{charged:?}");
    world.check("order-1", &charged, "not stored").await;
}

/// Otherwise, after a crash, the customer could pay without a record.
#[tokio::test]
async fn no_customer_is_sent_to_a_checkout_that_cannot_be_stored() {
    let world = World::new();
    let stored = Arc::new(AtomicU32::new(0));
    let request = || GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
    let counted = Arc::clone(&stored);
    let mut checkout = world.client.checkout(request(), CheckoutPlan::default()).unwrap().store(move |_| {
        let before_the_request = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move { if before_the_request { Ok(()) } else { Err("the disk is full") } }
    });
    let DriveStep::Done(outcome) = checkout.next().await else { panic!("an address was handed out") };
    assert_eq!(outcome, CheckoutOutcome::NotOpened(NotOpenedReason::HeldBack));
    assert!(matches!(checkout.error(), Some(DriveError::Store(_))));
    assert!(stored.load(Ordering::SeqCst) >= 2);

    // After the state with the address is stored, later errors do not revert it.
    let stored = Arc::new(AtomicU32::new(0));
    let mut checkout = world.client.checkout(request(), CheckoutPlan::default()).unwrap().store(move |_| {
        let well = stored.fetch_add(1, Ordering::SeqCst) < 2;
        async move { if well { Ok(()) } else { Err("the disk is full") } }
    });
    for _ in 0..3 {
        let DriveStep::Ask(CheckoutDemand::Redirect { .. }) = checkout.next().await else { panic!("it was stored") };
        checkout.handle_input(CheckoutInput::Reported("no key".to_owned()));
    }
}

/// A transport that reports a lockout of the address and records the time of each request.
fn locked_out(clock: &VirtualClock) -> (Arc<Mutex<Vec<Moment>>>, Client<impl Transport + Clone + 'static>) {
    let asked = Arc::<Mutex<Vec<Moment>>>::default();
    let (noted, time) = (Arc::clone(&asked), clock.clone());
    let transport = move |_: Request<Bytes>| {
        noted.lock().unwrap().push(time.now());
        let body = "<serviceResponse><errorCode>122</errorCode></serviceResponse>";
        let reply = Response::builder().status(403).body(Bytes::from_static(body.as_bytes())).unwrap();
        async move { Ok::<_, Infallible>(reply) }
    };
    let account = Account::new(
        BaseUrl::parse("https://gateway.example").unwrap(),
        Credentials::new("key", "password", "sha key"),
    );
    (asked, ClientBuilder::with_transport(account, transport).clock(clock.clone()).build())
}

#[tokio::test]
async fn a_charge_that_crashes_while_the_address_is_locked_out_still_waits() {
    for polls in 0..50 {
        let clock = clocks::leaping();
        let (asked, client) = locked_out(&clock);
        let shelf = Shelf::default();
        let keep = shelf.clone();
        let mut charging = client.charge(payment(APPROVED, "order-1")).unwrap().store(move |saved| keep.put(saved));
        let ended = polled(polls, charging.run()).await;
        drop(charging);
        let Some(saved) = shelf.last().filter(|_| ended.is_none() && asked.lock().unwrap().len() == 1) else {
            continue;
        };
        // The reply was received and stored. Another process has its own throttle.
        if saved.text().contains("resting") {
            let start = asked.lock().unwrap()[0];
            let (asked, another) = locked_out(&clock);
            let _ = another.resume_charge(&saved, Some(payment(APPROVED, "order-1"))).unwrap().await;
            assert!(asked.lock().unwrap()[0] >= start.after(Duration::from_secs(300)));
            return;
        }
    }
    panic!("what the service said was never stored");
}

#[tokio::test]
async fn charges_of_one_client_keep_to_its_throttle_together() {
    let world = World::of("strict");
    let limits = ThrottleLimits::default().per_minute(3);
    let client = world.builder(TowerTransport::new(world.sandbox.clone())).limits(limits).build();
    let start = world.sandbox.now();
    for at in 0..7 {
        // Raw cards are not enabled for this account; the error is an ordinary reply.
        let charged = client.clone().charge(payment(APPROVED, &format!("order-{at}"))).unwrap().await;
        assert!(matches!(charged, ChargeOutcome::Refused(_)), "{charged:?}");
    }
    let minutes = world.sandbox.now().since(start).as_secs() / 60;
    assert!((2..5).contains(&minutes), "{minutes} minutes");
}

#[tokio::test]
async fn one_credential_error_stops_every_machine_of_the_client() {
    let world = World::new();
    let base = BaseUrl::parse(InProcess::BASE_URL).unwrap();
    let account = Account::new(base, Credentials::new("no such key", "nor password", "nor sha key"));
    let wrong = ClientBuilder::with_transport(account, TowerTransport::new(world.sandbox.clone()))
        .clock(clocks::shared(&world.sandbox))
        .build();
    let charged = wrong.charge(payment(APPROVED, "order-1")).unwrap().await;
    let is_102 =
        |why: &UnknownReason| matches!(why, UnknownReason::Credentials(refused) if refused.code().as_str() == "102");
    assert!(matches!(&charged, ChargeOutcome::Unknown { why, .. } if is_102(why)), "{charged:?}");
    world.check("order-1", &charged, "unknown").await;

    assert!(matches!(wrong.stopped(), Some(StopReason::Credentials(code)) if code == "102"));
    for _ in 0..20 {
        let mut charging = wrong.clone().charge(payment(APPROVED, "order-2")).unwrap();
        assert_eq!(charging.run().await, ChargeOutcome::NotSent);
        assert!(matches!(charging.error(), Some(DriveError::Stopped(StopReason::Credentials(_)))));
    }
    // Confirming the credentials permits one more attempt.
    wrong.resume_sending();
    assert!(wrong.stopped().is_none());
    let charged = wrong.charge(payment(APPROVED, "order-3")).unwrap().await;
    assert!(matches!(charged, ChargeOutcome::Unknown { .. }), "{charged:?}");
    // The address was not locked out in the meantime.
    let charged = world.client.charge(payment(APPROVED, "order-4")).unwrap().await;
    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{charged:?}");
}
