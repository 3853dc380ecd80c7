//! The blocking client against the sandbox, from threads without an async runtime.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::{
    net::TcpListener,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use bytes::Bytes;
use http::Request;
use pg_hyper::{
    Client, ClientBuilder, DriveStep, Error, TowerTransport, TransportError, TransportErrorKind,
    blocking::{self, StartError},
};
use pg_model::{Auth, CardDetails, CheckoutItem, GetToken, Initiate, TransactionLookup};
use pg_proto::{
    Account, BaseUrl, Credentials,
    machine::{
        SavedState,
        charge::ChargeOutcome,
        checkout::{CheckoutDemand, CheckoutPlan},
    },
};
use pg_sandbox::{Config, InProcess, Sandbox, Server, Timestamp};
use pg_tests::{
    clocks,
    shop::{account_at, order},
};
use tokio::runtime::Runtime;

/// A listening sandbox and its runtime; the test itself does not run on that runtime.
fn serving() -> (Runtime, Server) {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(Config::default())).unwrap();
    (runtime, server)
}

fn payment(reference: &str) -> Auth {
    Auth::new(CardDetails::new("4000000000001000", "12", "49").cv2("123"), order(reference, 499))
}

/// A client of an in-process sandbox, on the sandbox's clock.
fn held() -> (InProcess, blocking::Client<TowerTransport<InProcess>>) {
    let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z").unwrap());
    let account = account_at(InProcess::BASE_URL, "main");
    let builder = ClientBuilder::with_transport(account, TowerTransport::new(sandbox.clone()));
    let client = blocking::Client::over(builder.clock(clocks::shared(&sandbox)).build()).unwrap();
    (sandbox, client)
}

fn fault(sandbox: &InProcess, kind: &str) {
    let body = format!(r#"{{"method": "transaction/auth", "kind": "{kind}"}}"#);
    let reply = sandbox.send(Request::post("/_sandbox/faults").body(Bytes::from(body)).unwrap()).unwrap();
    assert!(reply.status().is_success());
}

#[test]
fn a_blocking_client_calls_and_charges_over_the_network() {
    let (_runtime, server) = serving();
    let client = blocking::Client::new(account_at(&server.base_url(), "main")).unwrap();
    let session = client.call(&Initiate::new("https://shop.example/card-error")).unwrap();
    assert_eq!(session.session_key.as_str().len(), 32);
    let ChargeOutcome::Approved(paid) = client.charge(payment("order-7")).unwrap().run() else {
        panic!("not approved")
    };
    let ledger = client.call(&TransactionLookup::new().unique_merchant_reference("order-7")).unwrap().transactions;
    assert_eq!(ledger.iter().map(|held| &held.transaction_key).collect::<Vec<_>>(), [&paid.transaction_key]);
}

#[test]
fn many_threads_share_one_client() {
    let (_runtime, server) = serving();
    let client = blocking::Client::new(account_at(&server.base_url(), "main")).unwrap();
    let paid = AtomicUsize::new(0);
    thread::scope(|scope| {
        for number in 0..8 {
            let (client, paid) = (client.clone(), &paid);
            scope.spawn(move || {
                for round in 0..4 {
                    let charged = client.charge(payment(&format!("order-{number}-{round}"))).unwrap().run();
                    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{charged:?}");
                    paid.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(paid.into_inner(), 32);
}

#[test]
fn within_an_async_task_it_waits_and_does_not_panic() {
    let (runtime, server) = serving();
    let account = account_at(&server.base_url(), "main");
    runtime.block_on(async {
        let client = blocking::Client::new(account).unwrap();
        assert!(matches!(client.charge(payment("order-7")).unwrap().run(), ChargeOutcome::Approved(_)));
        drop(client);
    });
}

#[test]
fn a_blocking_call_has_its_own_deadline() {
    // The listener accepts connections and never responds.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let account = account_at(&format!("http://{}", silent.local_addr().unwrap()), "main");
    let client = Client::builder(account).unwrap().deadline(Duration::from_millis(20)).build();
    let client = blocking::Client::over(client).unwrap();
    let error = client.call(&Initiate::new("https://shop.example/card-error")).unwrap_err();
    assert!(matches!(error, Error::Transport(TransportError::MaybeSent(TransportErrorKind::Deadline(_)))), "{error}");
}

#[test]
fn an_address_that_would_expose_cards_is_refused() {
    let base = BaseUrl::parse("http://gateway.example").unwrap();
    let account = Account::new(base, Credentials::new("key", "password", "sha key"));
    assert!(matches!(blocking::Client::new(account), Err(StartError::Insecure(_))));
}

#[test]
fn a_lost_reply_is_looked_up_and_nothing_leaves_unstored() {
    let (sandbox, client) = held();
    fault(&sandbox, "drop-reply");
    let stored = Arc::new(Mutex::new(Vec::new()));
    let shelf = Arc::clone(&stored);
    let keep = move |saved: SavedState| -> Result<(), std::io::Error> {
        shelf.lock().unwrap().push(saved);
        Ok(())
    };
    let mut charge = client.charge(payment("order-7")).unwrap().store(keep);
    let ChargeOutcome::Approved(paid) = charge.run() else { panic!("{charge:?}") };
    assert!(charge.error().is_some_and(|trouble| trouble.to_string().starts_with("maybe sent")));
    // The state is saved three times: before the payment, before the following pause and before the lookup.
    assert_eq!(stored.lock().unwrap().len(), 3);

    // Resuming any saved state gives the same outcome.
    for saved in stored.lock().unwrap().iter() {
        let charged = client.resume_charge(saved, Some(payment("order-7"))).unwrap().run();
        assert_eq!(charged, ChargeOutcome::Approved(paid.clone()));
    }
}

#[test]
fn a_machine_that_cannot_be_stored_sends_nothing() {
    let (sandbox, client) = held();
    let full = |_| Err("the disk is full");
    let mut charge = client.charge(payment("order-7")).unwrap().store(full);
    assert_eq!(charge.run(), ChargeOutcome::NotSent);
    assert!(charge.error().unwrap().to_string().contains("the disk is full"));
    drop(sandbox);
}

#[test]
fn other_machines_are_driven_too() {
    let (_sandbox, client) = held();
    let request = GetToken::new().item(CheckoutItem::new("Tea", "4.99")).currency("GBP");
    let checkout = client.inner().checkout(request, CheckoutPlan::default()).unwrap();
    let mut checkout = client.drive(checkout);
    let DriveStep::Ask(CheckoutDemand::Redirect { url, .. }) = checkout.advance() else { panic!("{checkout:?}") };
    assert!(url.as_str().starts_with("http://localhost/pay/"), "{url:?}");
}
