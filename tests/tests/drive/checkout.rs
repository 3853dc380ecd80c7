//! Checkouts over sockets: the customer pays on the hosted page; the callback and the browser report the payment.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    CheckoutDrive, DriveStep, EndpointPurpose, HyperTransport, Notification, Receiver, ReceiverLimits, Transport,
};
use pg_model::{CheckoutItem, Encoding, Flag, GetToken};
use pg_proto::machine::{
    UnknownReason,
    checkout::{CheckoutDemand, CheckoutInput, CheckoutOutcome, CheckoutPlan},
};
use pg_tests::{browser, shop::Shop};

use crate::drive::{Wire, World, cancelled::Shelf};

async fn get(url: &str) -> Response<Bytes> {
    HyperTransport::new().send(Request::get(url).body(Bytes::new()).unwrap()).await.unwrap()
}

/// Submits the page and returns the URL to which the browser is redirected.
async fn pay(url: &str) -> String {
    assert_eq!(get(url).await.status(), 200);
    let body = form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("cardNumber", "4111111111111111"), ("cardExpiryMonth", "12"), ("cardExpiryYear", "2031")])
        .extend_pairs([("cardCV2", "987"), ("cardholderName", "A Holder")])
        .finish();
    let form = Request::post(url).header("content-type", "application/x-www-form-urlencoded");
    let reply = HyperTransport::new().send(form.body(body.into()).unwrap()).await.unwrap();
    browser::location(&reply).to_owned()
}

// spec: 3 §6, A133: Callbacks are not signed, so the client looks up the transaction before it trusts one.
#[tokio::test]
async fn hints_from_callback_and_browser_are_looked_up() {
    let shop = Shop::open(Encoding::Json).await;
    let mut receiver = Receiver::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let callback = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let success = receiver.open(EndpointPurpose::CheckoutReturn).unwrap();
    let request = GetToken::new()
        .item(CheckoutItem::new("Tea", "4.99"))
        .currency("GBP")
        .callback_url(callback.url())
        .success_url(success.url())
        .auto_redirect(Flag::YES);
    let mut checkout = shop.client.checkout(request, CheckoutPlan::default()).unwrap();
    let mut told = 0;
    let outcome = loop {
        match checkout.next().await {
            DriveStep::Ask(CheckoutDemand::Redirect { url, .. }) => {
                if told == 0 {
                    // A forged report of a payment.
                    checkout.handle_input(CheckoutInput::Reported("0123456789abcdef0123456789abcdef".to_owned()));
                    assert_eq!(get(&pay(url.as_str()).await).await.status(), 200);
                }
                let received = receiver.next().await.unwrap();
                let Notification::Paid(hint) = received.notification else { panic!("{received:?}") };
                assert!([callback.token(), success.token()].contains(&&*received.token));
                checkout.handle_input(CheckoutInput::Reported(hint.trans_key().to_owned()));
                told += 1;
            }
            DriveStep::Done(outcome) => break outcome,
        }
    };
    assert!(matches!(&outcome, CheckoutOutcome::Paid { trans_key } if trans_key.len() == 32), "{outcome:?}");
    assert!(told > 0);
}

/// Posts a callback and returns the status of the response.
fn callback(url: &str, trans_key: &str) -> tokio::task::JoinHandle<u16> {
    let request = Request::post(url).body(format!("trans_key={trans_key}").into()).unwrap();
    tokio::spawn(async move { HyperTransport::new().send(request).await.unwrap().status().as_u16() })
}

/// The service calls back once: a process that is killed before it stores the report must not have acknowledged it.
#[tokio::test]
async fn a_callback_is_acknowledged_after_the_checkout_is_saved_with_it() {
    let world = World::new();
    let limits = ReceiverLimits::default().receipt(Duration::from_secs(3_600));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut receiver = Receiver::on(listener, limits).unwrap();
    let endpoint = receiver.open(EndpointPurpose::CheckoutCallback).unwrap();
    let told = async |receiver: &mut Receiver, checkout: &mut CheckoutDrive<Wire>| {
        let received = receiver.next().await.unwrap();
        let Notification::Paid(hint) = received.notification else { panic!("a payment") };
        checkout.handle_received_input(CheckoutInput::Reported(hint.trans_key().to_owned()), received.receipt);
    };
    let shelf = Shelf::default();
    let keep = shelf.clone();
    let request = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
    let checkout = world.client.checkout(request, CheckoutPlan::default()).unwrap();
    let mut checkout = checkout.store(move |saved| keep.put(saved));
    let DriveStep::Ask(_) = checkout.next().await else { panic!("a customer is wanted") };

    let answer = callback(endpoint.url(), "made-up-1");
    told(&mut receiver, &mut checkout).await;
    assert!(!answer.is_finished() && !shelf.last().unwrap().text().contains("made-up-1"));
    // It was heard of, stored, and looked up.
    let DriveStep::Ask(_) = checkout.next().await else { panic!("it is made up") };
    assert_eq!(answer.await.unwrap(), 200);

    // Told, and not heard of when all is over.
    let answer = callback(endpoint.url(), "made-up-2");
    told(&mut receiver, &mut checkout).await;
    drop(checkout);
    assert_eq!(answer.await.unwrap(), 503);

    // The report arrives, but the store fails.
    let mut checkout = world.client.resume_checkout(&shelf.last().unwrap(), CheckoutPlan::default()).unwrap();
    checkout = checkout.store(|_| async { Err("the disk is full") });
    let answer = callback(endpoint.url(), "made-up-3");
    told(&mut receiver, &mut checkout).await;
    let DriveStep::Done(CheckoutOutcome::Unknown { why: UnknownReason::HeldBack, .. }) = checkout.next().await else {
        panic!()
    };
    assert!(!answer.is_finished());
    drop(checkout);
    assert_eq!(answer.await.unwrap(), 503);
}
