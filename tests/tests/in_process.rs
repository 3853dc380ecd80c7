//! The sandbox without a socket as the transport of `pg-hyper` and of `pg-proto`; also runs its examples.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use pg_hyper::{Client, ClientBuilder, DriveStep, Error, TowerTransport};
use pg_model::{
    Auth, CardDetails, CheckoutItem, Encoding, EnterpriseTransactionLookup, EnterpriseTransactionType, Flag, GetToken,
    RequestAccountUpdater, RetrieveAccountUpdater, TokeniseTransactionKey,
};
use pg_proto::{
    Account, BaseUrl, Credentials, EnterpriseCredentials, UpdaterHint,
    machine::{
        Reconcile,
        charge::ChargeOutcome,
        checkout::{CheckoutDemand, CheckoutInput, CheckoutOutcome, CheckoutPlan},
    },
};
use pg_sandbox::{InProcess, Sandbox, Timestamp};
use pg_tests::{clocks, shop::order};

#[path = "../examples/in_process.rs"]
mod over_pg_hyper;
#[path = "../examples/in_process_sans_io.rs"]
mod over_pg_proto;

#[test]
fn the_examples_do_what_they_say() {
    over_pg_hyper::main().unwrap();
    over_pg_proto::main().unwrap();
}

fn shop() -> (InProcess, Client<TowerTransport<InProcess>>) {
    let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z").unwrap());
    let main = sandbox.merchant("main").unwrap();
    let enterprise = main.enterprise.unwrap();
    let base = |address| BaseUrl::parse(address).unwrap();
    let credentials = Credentials::new(main.api_key.expose(), main.api_password.expose(), main.sha_key.expose());
    let account = Account::new(base(InProcess::BASE_URL), credentials)
        .encoding(Encoding::Json)
        .with_dialect(pg_sandbox::dialect())
        .enterprise(
            base(InProcess::ENTERPRISE_BASE_URL),
            EnterpriseCredentials::new(enterprise.api_key.expose(), enterprise.api_password.expose()),
        );
    let client = Client::with_transport(account, TowerTransport::new(sandbox.clone()));
    (sandbox, client)
}

fn fault(sandbox: &InProcess, body: &'static str) {
    let request = http::Request::post("/_sandbox/faults").body(Bytes::from(body)).unwrap();
    assert!(sandbox.send(request).unwrap().status().is_success());
}

fn payment(reference: &str) -> Auth {
    Auth::new(CardDetails::new("4000000000001000", "12", "49").cv2("123"), order(reference, 499))
}

/// How many payments a lookup by this reference finds.
async fn found(client: &Client<TowerTransport<InProcess>>, error: Error) -> usize {
    let Error::Unknown { reconcile: Reconcile::Transaction(lookup), .. } = error else {
        panic!("not unknown: {error}")
    };
    client.call(&lookup).await.unwrap().transactions.len()
}

#[tokio::test]
async fn every_fault_can_be_met_without_a_socket() {
    let (sandbox, client) = shop();
    for (kind, paid) in [
        (r#"{"method": "transaction/auth", "kind": "drop-request"}"#, 0),
        (r#"{"method": "transaction/auth", "kind": "drop-reply"}"#, 1),
        (r#"{"method": "transaction/auth", "kind": "garble"}"#, 1),
        (r#"{"method": "transaction/auth", "kind": "delay", "milliseconds": 60001}"#, 1),
        (r#"{"method": "transaction/auth", "kind": "duplicate"}"#, 1),
    ] {
        fault(&sandbox, kind);
        let reference = format!("order {kind}").replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        match client.call(&payment(&reference)).await {
            // The second of two equal requests is refused, because the first one paid and used the reference.
            Err(error) => assert_eq!(found(&client, error).await, paid, "{kind}"),
            Ok(outcome) => panic!("{kind} {outcome:?}"),
        }
    }
}

/// On a runtime without timers: a real pause would panic.
#[test]
fn a_lost_reply_takes_no_real_time_and_the_drill_repeats_itself() {
    let drill = |kind: &'static str| {
        let (sandbox, client) = shop();
        let start = sandbox.now();
        let client = ClientBuilder::with_transport(client.account().clone(), client.transport().clone())
            .clock(clocks::shared(&sandbox))
            .seed(7)
            .build();
        fault(&sandbox, kind);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut charging = client.charge(payment("order-1")).unwrap();
        let ChargeOutcome::Approved(paid) = runtime.block_on(charging.run()) else { panic!("{charging:?}") };
        assert!(sandbox.now() > start, "the machine paused");
        (paid.transaction_key, sandbox.now())
    };
    for kind in [
        r#"{"method": "transaction/auth", "kind": "drop-reply"}"#,
        r#"{"method": "transaction/auth", "kind": "drop-request", "times": 2}"#,
        r#"{"method": "*", "kind": "drop-reply", "times": 4}"#,
    ] {
        assert_eq!(drill(kind), drill(kind), "{kind}");
    }
}

#[tokio::test]
async fn an_unsent_call_is_not_maybe_executed() {
    let (sandbox, client) = shop();
    sandbox.unplug();
    let error = client.call(&payment("order-1")).await.unwrap_err();
    assert!(matches!(&error, Error::Transport(_)) && !error.may_be_executed(), "{error}");
    sandbox.plug_in();
    assert!(client.call(&payment("order-1")).await.unwrap().is_approved());
}

#[tokio::test]
async fn a_callback_is_sent_when_the_sandbox_clock_reaches_its_time() {
    let (sandbox, client) = shop();
    let pg_model::Outcome::Approved(paid) = client.call(&payment("order-1")).await.unwrap() else { panic!() };
    let stored = client.call(&TokeniseTransactionKey::new(paid.transaction_key)).await.unwrap();
    let card = stored.card_key_details[0].card_key.clone();
    let main = sandbox.merchant("main").unwrap();
    let request = RequestAccountUpdater::new(main.account_updater_key.unwrap().expose(), [card])
        .callback_url("https://shop.example/updated");
    let batch = client.call(&request).await.unwrap().batch_key;
    assert_eq!(sandbox.deliver(|_| StatusCode::OK), 0);

    sandbox.advance(Duration::from_secs(120));
    let mut hint = None;
    let delivered = sandbox.deliver(|request| {
        hint = Some(UpdaterHint::read(&request).unwrap());
        StatusCode::NO_CONTENT
    });
    assert_eq!((delivered, sandbox.deliver(|_| StatusCode::OK)), (1, 0));
    let finished = client.call(&hint.unwrap().confirm()).await.unwrap();
    assert_eq!(finished, client.call(&RetrieveAccountUpdater::new(&batch)).await.unwrap());
    assert_eq!(finished.batch_key, batch);
}

/// Pays on the page. Returns the transaction that the customer's return names.
fn paid_on_page(sandbox: &InProcess, url: &str) -> String {
    let page = sandbox.send(http::Request::get(url).body(Bytes::new()).unwrap()).unwrap();
    let page = String::from_utf8(page.body().to_vec()).unwrap();
    let (_, visit) = page.split_once("name=\"visit\" value=\"").unwrap();
    let card = "cardNumber=4111111111111111&cardExpiryMonth=12&cardExpiryYear=2031&cardCV2=987&cardholderName=A+Holder";
    let form = format!("visit={}&{card}", visit.split('"').next().unwrap());
    let post = http::Request::post(url).header("content-type", "application/x-www-form-urlencoded");
    let reply = sandbox.send(post.body(Bytes::from(form)).unwrap()).unwrap();
    let (_, named) = reply.headers()["location"].to_str().unwrap().split_once("trans_key=").unwrap();
    named.split(['&', '#']).next().unwrap().to_owned()
}

// spec: 3 §4.8, A125: The value of a reservation is the captured amount, at first nothing.
#[tokio::test]
async fn a_hosted_checkout_that_reserves_is_paid_by_the_reservation() {
    let (sandbox, client) = shop();
    let request = GetToken::new()
        .item(CheckoutItem::new("Tea", "4.99"))
        .currency("GBP")
        .trans_type(EnterpriseTransactionType::REQUEST_PRE_AUTH)
        .success_url("https://shop.example/thanks")
        .auto_redirect(Flag::YES);
    let mut checkout = client.checkout(request, CheckoutPlan::default()).unwrap();
    let DriveStep::Ask(CheckoutDemand::Redirect { url, .. }) = checkout.next().await else { panic!("no page") };
    let trans_key = paid_on_page(&sandbox, url.as_str());
    let found = client.call(&EnterpriseTransactionLookup::new(trans_key.as_str())).await.unwrap();
    assert_eq!((found.status.as_str(), found.value.as_str()), ("Success", "0.00"));
    checkout.handle_input(CheckoutInput::Reported(trans_key.clone()));
    let DriveStep::Done(outcome) = checkout.next().await else { panic!("it asks again") };
    assert_eq!(outcome, CheckoutOutcome::Paid { trans_key });
}

#[tokio::test]
async fn the_hosted_checkout_is_there_too() {
    let (sandbox, client) = shop();
    let token = client.call(&GetToken::new().item(CheckoutItem::new("Tea", "4.99"))).await;
    let page = token.unwrap().token.redemption_url.to_string();
    assert!(page.starts_with("http://localhost/pay/"), "{page}");
    let page = sandbox.send(http::Request::get(page).body(Bytes::new()).unwrap()).unwrap();
    assert_eq!(page.status(), StatusCode::OK);
}
