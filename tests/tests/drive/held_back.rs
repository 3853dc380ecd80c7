//! What keeps a machine from sending: a store that fails, the throttle, credentials that are wrong.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use pg_hyper::{Client, TowerTransport, Trouble};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        charge::{Charged, Doubt},
        throttle::{Limits, Stop},
    },
};
use pg_sandbox::InProcess;
use pg_tests::clocks::SandboxClock;

use crate::world::{APPROVED, World, payment};

#[tokio::test]
async fn nothing_is_sent_when_the_machine_cannot_be_stored() {
    let world = World::new();
    let mut charging = world
        .client
        .charge(payment(APPROVED, "order-1"))
        .unwrap()
        .store(|_| async { Err::<(), _>("the disk is full") });
    assert!(charging.trouble().is_none());
    let charged = charging.run().await;
    assert_eq!(charged, Charged::NotSent);
    let trouble = charging.trouble().unwrap();
    assert!(matches!(trouble, Trouble::Store(_)));
    assert_eq!(trouble.to_string(), "held back, the machine could not be stored: the disk is full");
    assert_eq!(charging.run().await, Charged::NotSent, "it says so again");
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
    assert!(matches!(charged, Charged::Unknown { why: Doubt::HeldBack, .. }), "{charged:?}");
    world.check("order-1", &charged, "not stored").await;
}

#[tokio::test]
async fn charges_of_one_client_keep_to_its_throttle_together() {
    let world = World::of("strict");
    let limits = Limits { per_minute: 3, ..Limits::default() };
    let client = world.client.clone().limits(limits);
    let start = world.sandbox.now();
    for at in 0..7 {
        // Raw cards are not enabled there, which is a reply like any other.
        let charged = client.clone().charge(payment(APPROVED, &format!("order-{at}"))).unwrap().await;
        assert!(matches!(charged, Charged::Refused(_)), "{charged:?}");
    }
    let minutes = world.sandbox.now().since(start).as_secs() / 60;
    assert!((2..5).contains(&minutes), "{minutes} minutes");
}

#[tokio::test]
async fn one_credential_error_stops_every_machine_of_the_client() {
    let world = World::new();
    let base = BaseUrl::parse(InProcess::BASE_URL).unwrap();
    let account = Account::new(base, Credentials::new("no such key", "nor password", "nor sha key"));
    let wrong = Client::with_transport(account, TowerTransport::new(world.sandbox.clone()))
        .clock(SandboxClock(world.sandbox.clone()));
    let charged = wrong.charge(payment(APPROVED, "order-1")).unwrap().await;
    assert!(matches!(&charged, Charged::Refused(refused) if refused.code().as_str() == "105"), "{charged:?}");
    world.check("order-1", &charged, "refused").await;

    assert!(matches!(wrong.stopped(), Some(Stop::Credentials(code)) if code == "105"));
    for _ in 0..20 {
        let mut charging = wrong.clone().charge(payment(APPROVED, "order-2")).unwrap();
        assert_eq!(charging.run().await, Charged::NotSent);
        assert!(matches!(charging.trouble(), Some(Trouble::Stopped(Stop::Credentials(_)))));
    }
    // Whoever says that the credentials are right gets one more attempt.
    wrong.resume_sending();
    assert!(wrong.stopped().is_none());
    let charged = wrong.charge(payment(APPROVED, "order-3")).unwrap().await;
    assert!(matches!(charged, Charged::Refused(_)), "{charged:?}");
    // Nobody was locked out meanwhile.
    let charged = world.client.charge(payment(APPROVED, "order-4")).unwrap().await;
    assert!(matches!(charged, Charged::Approved(_)), "{charged:?}");
}
