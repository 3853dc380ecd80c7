//! Every fault that the sandbox knows, without a socket and over one.

use std::time::Duration;

use pg_hyper::{ClientBuilder, HyperTransport};
use pg_model::Encoding;
use pg_proto::machine::charge::ChargeOutcome;
use pg_tests::{clocks, ledger, shop::Shop};

use crate::drive::{APPROVED, DECLINED, World, payment};

/// Each fault of the payment, and of the lookup that follows.
const FAULTS: &[&str] = &[
    r#""kind": "drop-request""#,
    r#""kind": "drop-request", "times": 2"#,
    r#""kind": "drop-reply""#,
    r#""kind": "garble""#,
    r#""kind": "duplicate""#,
    r#""kind": "status", "status": 500"#,
    r#""kind": "status", "status": 429"#,
    r#""kind": "delay", "milliseconds": 61000"#,
];

#[tokio::test]
async fn without_a_socket_every_fault_leaves_one_payment() {
    for (at, fault) in FAULTS.iter().enumerate() {
        for (card, approved) in [(APPROVED, true), (DECLINED, false)] {
            for lookup_too in [false, true] {
                let world = World::new();
                world.control("faults", format!(r#"{{"method": "transaction/auth", {fault}}}"#));
                if lookup_too {
                    world.control("faults", format!(r#"{{"method": "transaction/lookup", {fault}}}"#));
                }
                let reference = format!("order-{at}");
                let charged = world.client.charge(payment(card, &reference)).unwrap().await;
                world.check(&reference, &charged, fault).await;
                assert!(
                    matches!(
                        (&charged, approved),
                        (ChargeOutcome::Approved(_), true) | (ChargeOutcome::Declined(_), false)
                    ),
                    "{fault} {charged:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn over_a_socket_every_fault_leaves_one_payment() {
    let shop = Shop::open(Encoding::Json).await;
    // Real time for sockets, and a virtual clock for the machine.
    let client = ClientBuilder::with_transport(
        shop.client.account().clone(),
        HyperTransport::new().deadline(Duration::from_millis(250)),
    )
    .clock(clocks::leaping())
    .build();
    for (at, fault) in FAULTS.iter().enumerate() {
        shop.control("faults", &format!(r#"{{"method": "transaction/auth", {fault}}}"#)).await;
        let reference = format!("order-{at}");
        let charged = client.charge(payment(APPROVED, &reference)).unwrap().await;
        let ledger = ledger::under(&shop.client, &reference).await;
        ledger::contradiction(&charged, &ledger).unwrap_or_else(|wrong| panic!("{fault}: {wrong}"));
        assert!(matches!(charged, ChargeOutcome::Approved(_)), "{fault} {charged:?}");
    }
}
