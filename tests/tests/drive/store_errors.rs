//! The store of a server fails at any operation while real clients send requests over sockets.

use bytes::Bytes;
use http::Request;
use pg_hyper::{Client, ClientBuilder, Error, HyperTransport, TowerTransport, Transport, UpdateEvent};
use pg_model::{CardKey, Encoding, Refund, TokeniseTransactionKey};
use pg_proto::machine::{
    account_update::{BatchEnd, UpdateEnd, UpdatePlan},
    charge::ChargeOutcome,
    throttle::ThrottleLimits,
};
use pg_sandbox::{InProcess, Sandbox, Server, Settings, Timestamp};
use pg_tests::{
    clocks,
    failing_store::{FailingStore, Failure},
    ledger,
    shop::account_at,
};
use serde_json::Value;

use crate::drive::{APPROVED, payment};

/// The number of operations that fail: one, or all until the store recovers.
const TIMES: [usize; 2] = [1, usize::MAX];

async fn open() -> (FailingStore, Server, Client) {
    let store = FailingStore::new();
    let sandbox = Sandbox::over(Box::new(store.clone()), Settings::default(), &[3; 32], [1; 32]).unwrap();
    let server = Server::serve(sandbox, ([127, 0, 0, 1], 0).into()).await.unwrap();
    let account = account_at(&server.base_url(), "main").encoding(Encoding::Json);
    let limits = ThrottleLimits::default().per_minute(1_000_000);
    let client =
        ClientBuilder::with_transport(account, HyperTransport::new()).clock(clocks::leaping()).limits(limits).build();
    (store, server, client)
}

#[tokio::test]
async fn a_charge_is_one_payment_wherever_the_store_fails() {
    for failure in [Failure::Engine, Failure::Full] {
        let (store, server, client) = open().await;
        for times in TIMES {
            for after in 0.. {
                let reference = format!("order-{after}-{}", times == 1);
                store.fail(failure, after, times);
                let charged = client.charge(payment(APPROVED, &reference)).unwrap().await;
                let failed = store.well();
                let held = ledger::under(&client, &reference).await;
                let at = format!("{after} of {times}, {failure:?}");
                ledger::contradiction(&charged, &held).unwrap_or_else(|wrong| panic!("{at}: {wrong}"));
                assert!(!format!("{charged:?}").contains(APPROVED), "{at}");
                if times == 1 {
                    assert!(matches!(charged, ChargeOutcome::Approved(_)), "{at}: {charged:?}");
                } else if !matches!(charged, ChargeOutcome::Approved(_)) {
                    // The store has recovered, so the same reference can be charged.
                    let again = client.charge(payment(APPROVED, &reference)).unwrap().await;
                    let held = ledger::under(&client, &reference).await;
                    ledger::contradiction(&again, &held).unwrap_or_else(|wrong| panic!("{at}: {wrong}"));
                    assert!(held.len() == 1 && matches!(again, ChargeOutcome::Approved(_)), "{at}: {again:?}");
                }
                if !failed {
                    assert!(after > 5, "{after}");
                    break;
                }
            }
        }
        server.shutdown().await.unwrap();
    }
}

/// A refund has no reference, so no machine sends it again: a failed refund was not executed.
#[tokio::test]
async fn a_refund_that_failed_has_not_happened() {
    let (store, server, client) = open().await;
    let paid = client.call(&payment(APPROVED, "order-1")).await.unwrap();
    let refund = Refund::new(&paid.record().transaction_key);
    let transactions = async || {
        let request = Request::get(format!("{}/_sandbox/transactions", server.base_url())).body(Bytes::new()).unwrap();
        let reply = client.transport().send(request).await.unwrap();
        serde_json::from_slice::<Vec<Value>>(reply.body()).unwrap().len()
    };
    let mut failures = 0;
    for after in 0.. {
        store.fail(Failure::Full, after, 1);
        let answer = client.call(&refund).await;
        let _ = store.well();
        match answer {
            Ok(_) => break,
            // After an error of that kind a client cannot know the state of the service.
            Err(error @ Error::Unknown { .. }) => assert!(error.to_string().contains("999"), "{after}: {error}"),
            Err(other) => panic!("{after}: {other}"),
        }
        failures += 1;
        assert_eq!(transactions().await, 1, "{after}");
    }
    assert!(failures > 5, "{failures}");
    assert_eq!(transactions().await, 2);
    server.shutdown().await.unwrap();
}

/// On the sandbox's own clock, so that a batch takes its two minutes.
#[tokio::test]
async fn an_update_of_cards_is_complete_wherever_the_store_fails() {
    let store = FailingStore::new();
    let sandbox = Sandbox::over(Box::new(store.clone()), Settings::default(), &[3; 32], [1; 32]).unwrap();
    let sandbox = InProcess::new(sandbox, Timestamp::parse("2026-05-04T10:00:00Z").unwrap());
    let account = account_at(InProcess::BASE_URL, "main").encoding(Encoding::Json);
    let transport = TowerTransport::new(sandbox.clone());
    let client = ClientBuilder::with_transport(account, transport).clock(clocks::shared(&sandbox)).build();
    let mut keys: Vec<CardKey> = Vec::new();
    for (at, number) in [APPROVED, "5200000000001005"].into_iter().enumerate() {
        let paid = client.call(&payment(number, &format!("card-{at}"))).await.unwrap();
        let stored = client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
        keys.push(stored.card_key_details[0].card_key.clone());
    }
    let main = sandbox.merchant("main").unwrap();
    let updater = main.account_updater_key.unwrap().expose().to_owned();
    let batches = || {
        let request = Request::get("/_sandbox/batches").body(Bytes::new()).unwrap();
        let reply = sandbox.send(request).unwrap();
        serde_json::from_slice::<Vec<Value>>(reply.body()).unwrap().len()
    };
    for after in 0.. {
        let before = batches();
        store.fail(Failure::Full, after, 1);
        let plan = UpdatePlan::new(&*updater);
        let mut updating = client.update_accounts(plan, keys.clone().into_iter()).unwrap();
        let mut found = Vec::new();
        let end = loop {
            match updating.next().await.unwrap() {
                Some(UpdateEvent::Result(batch)) => found.push((batch.how.clone(), batch.entries.len())),
                Some(UpdateEvent::Progress(_)) => {}
                Some(UpdateEvent::Ended(summary)) => break summary.end,
                None => panic!("it said how it ended"),
            }
        };
        let failed = store.well();
        // A batch that may have been submitted is not submitted again, even though here it was not.
        let held = batches() - before;
        let wanted = if held == 1 { (BatchEnd::Finished, keys.len()) } else { (BatchEnd::Doubtful, 0) };
        assert_eq!((end, held.min(1), &*found), (UpdateEnd::Complete, held, &[wanted][..]), "{after}");
        if !failed {
            assert!(after > 5, "{after}");
            break;
        }
    }
}
