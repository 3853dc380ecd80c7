//! 3-D Secure payments over sockets: the customer answers the challenge and returns to a receiver.

use bytes::Bytes;
use pg_hyper::{
    Client, DriveStep, EndpointPurpose, HyperTransport, Notification, Receiver, ThreeDSecureDrive, Transport,
};
use pg_model::{
    CardKey, Encoding, InitiateThreeDSecureCardKey, InitiateThreeDSecureSessionKey, TokeniseTransactionKey,
    TransactionType, Url,
};
use pg_proto::machine::three_d_secure::{
    NoLiabilityShift, ThreeDSecureDemand, ThreeDSecureInput, ThreeDSecureOutcome, ThreeDSecurePlan,
};
use pg_tests::{
    browser::{self, VISA},
    ledger,
    shop::{Shop, order},
};

use crate::drive::{
    World,
    cancelled::{Shelf, Waits, polled},
    payment,
};

const ASKS: &str = "4000000000005001";

/// The customer presses a button, and the browser follows the redirects back to the shop.
async fn customer(url: &Url, button: &str) {
    let challenge = http::Request::post(url.as_str())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("outcome={button}").into())
        .unwrap();
    let reply = HyperTransport::new().send(challenge).await.unwrap();
    let back = http::Request::get(browser::location(&reply)).body(Bytes::new()).unwrap();
    let page = HyperTransport::new().send(back).await.unwrap();
    assert_eq!(page.status(), 200);
}

struct Payment {
    shop: Shop,
    receiver: Receiver,
    initiation: InitiateThreeDSecureSessionKey,
}

impl Payment {
    async fn begin() -> Self {
        let shop = Shop::open(Encoding::Json).await;
        let mut entered = VISA;
        entered[0].1 = ASKS;
        let session = shop.session_with_card(&entered).await;
        let receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let endpoint = receiver.open(EndpointPurpose::Challenge).unwrap();
        let initiation = InitiateThreeDSecureSessionKey::new(session, order("order-1", 998), endpoint.url());
        Self { shop, receiver, initiation }
    }

    fn client(&self) -> &Client {
        &self.shop.client
    }

    /// The number of payments, without the check that the initiation makes.
    async fn paid(&self) -> usize {
        let found = ledger::under(self.client(), "order-1").await;
        found.iter().filter(|found| found.transaction_type == TransactionType::AUTH).count()
    }
}

#[tokio::test]
async fn each_answer_of_the_customer_leads_to_its_end() {
    for (button, paid) in [("authenticate", 1), ("fail", 0), ("abandon", 0)] {
        let mut payment = Payment::begin().await;
        let plan = ThreeDSecurePlan::default().without_shift(NoLiabilityShift::End);
        let mut secure = payment.client().three_d_secure(payment.initiation.clone(), plan).unwrap();
        let outcome = loop {
            match secure.next().await {
                DriveStep::Ask(ThreeDSecureDemand::Challenge { url, .. }) => {
                    customer(&url, button).await;
                    let received = payment.receiver.next().await.unwrap();
                    assert!(matches!(received.notification, Notification::Challenged));
                    // Another tab returns as well.
                    secure.handle_input(ThreeDSecureInput::Returned);
                    secure.handle_input(ThreeDSecureInput::Returned);
                }
                DriveStep::Ask(other) => panic!("{other:?}"),
                DriveStep::Done(outcome) => break outcome,
            }
        };
        match (&outcome, button) {
            (ThreeDSecureOutcome::Approved(_), "authenticate")
            | (ThreeDSecureOutcome::Failed, "fail")
            | (ThreeDSecureOutcome::Abandoned, "abandon") => {}
            _ => panic!("{button}: {outcome:?}"),
        }
        assert_eq!(payment.paid().await, paid, "{button}");
    }
}

#[tokio::test]
async fn another_process_goes_on_when_the_customer_comes_back() {
    let payment = Payment::begin().await;
    let shelf = Shelf::default();
    let keep = shelf.clone();
    let mut secure = payment
        .client()
        .three_d_secure(payment.initiation.clone(), ThreeDSecurePlan::default())
        .unwrap()
        .store(move |saved| keep.put(saved));
    let DriveStep::Ask(ThreeDSecureDemand::Challenge { url, .. }) = secure.next().await else { panic!("no challenge") };
    drop(secure);
    customer(&url, "authenticate").await;
    let mut secure = payment.client().resume_three_d_secure(&shelf.last().unwrap()).unwrap();
    secure.handle_input(ThreeDSecureInput::Returned);
    match secure.next().await {
        DriveStep::Done(ThreeDSecureOutcome::Approved(_)) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(payment.paid().await, 1);
}

async fn stored_card(world: &World) -> CardKey {
    let paid = world.client.call(&payment(ASKS, "order-before")).await.unwrap();
    let stored = world.client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
    stored.card_key_details[0].card_key.clone()
}

/// Runs the payment to its end; the customer passes every challenge.
async fn paid_by(world: &World, secure: &mut ThreeDSecureDrive<Waits>) -> ThreeDSecureOutcome {
    loop {
        match secure.next().await {
            DriveStep::Ask(ThreeDSecureDemand::Challenge { url, .. }) => {
                let challenge = http::Request::post(url.as_str())
                    .header("content-type", "application/x-www-form-urlencoded")
                    .body(Bytes::from_static(b"outcome=authenticate"))
                    .unwrap();
                world.sandbox.send(challenge).unwrap();
                secure.handle_input(ThreeDSecureInput::Returned);
            }
            DriveStep::Ask(ThreeDSecureDemand::Decide { .. }) => secure.handle_input(ThreeDSecureInput::Proceed),
            DriveStep::Done(outcome) => return outcome,
        }
    }
}

#[tokio::test]
async fn dropped_at_every_point_it_goes_on_from_what_was_stored() {
    for fault in ["", r#""kind": "drop-request""#, r#""kind": "drop-reply""#, r#""kind": "status", "status": 500"#] {
        for polls in 0.. {
            let world = World::new();
            let card = stored_card(&world).await;
            if !fault.is_empty() {
                world.control("faults", format!(r#"{{"method": "transaction/auth3DSecure", {fault}}}"#));
            }
            let client = world.over(Waits::new(world.sandbox.clone()));
            let initiation = || {
                InitiateThreeDSecureCardKey::new(&card, order("order-1", 998)).return_url("https://shop.example/back")
            };
            let shelf = Shelf::default();
            let keep = shelf.clone();
            let mut secure = client
                .three_d_secure(initiation(), ThreeDSecurePlan::default())
                .unwrap()
                .store(move |saved| keep.put(saved));
            let first = polled(polls, paid_by(&world, &mut secure)).await;
            drop(secure);
            let ended = first.is_some();
            let outcome = match (first, shelf.last()) {
                (Some(outcome), _) => outcome,
                (None, None) => {
                    let mut anew = client.three_d_secure(initiation(), ThreeDSecurePlan::default()).unwrap();
                    paid_by(&world, &mut anew).await
                }
                (None, Some(saved)) => paid_by(&world, &mut client.resume_three_d_secure(&saved).unwrap()).await,
            };
            let held = world.ledger("order-1").await;
            let payments: Vec<_> = held.iter().filter(|held| held.transaction_type == TransactionType::AUTH).collect();
            let fits = match (&outcome, &payments[..]) {
                (ThreeDSecureOutcome::Approved(claimed), [held]) => claimed.transaction_key == held.transaction_key,
                (ThreeDSecureOutcome::NotSent(_), []) | (ThreeDSecureOutcome::Unknown { .. }, [] | [_]) => true,
                _ => false,
            };
            assert!(fits, "{fault}, dropped after {polls} polls: {} payments, {outcome:?}", payments.len());
            if ended {
                assert!(polls > 15, "it waits often");
                break;
            }
        }
    }
}
