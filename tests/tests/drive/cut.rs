//! A connection that breaks after every number of bytes of a payment's request, and of its reply.

use std::time::Duration;

use pg_hyper::{ClientBuilder, HyperTransport};
use pg_model::{AuthCardKey, CardKey, Encoding, TokeniseTransactionKey};
use pg_proto::machine::{charge::ChargeOutcome, throttle::ThrottleLimits};
use pg_tests::{
    clocks,
    cutting_proxy::{Cut, CuttingProxy},
    ledger,
    shop::{Shop, account_at, order},
};

use crate::drive::{APPROVED, payment};

/// Each connection is used once, so that it starts with the request to cut.
fn without_pool() -> HyperTransport {
    HyperTransport::new().pool(0, Duration::from_secs(1))
}

async fn card_key(shop: &Shop) -> CardKey {
    let paid = shop.client.call(&payment(APPROVED, "order-first")).await.unwrap();
    let stored = shop.client.call(&TokeniseTransactionKey::new(&paid.record().transaction_key)).await.unwrap();
    stored.card_key_details[0].card_key.clone()
}

#[tokio::test]
async fn at_every_byte_of_request_and_reply_there_is_one_payment() {
    let shop = Shop::open(Encoding::Json).await;
    let key = card_key(&shop).await;
    let server = shop.server.base_url().trim_start_matches("http://").parse().unwrap();
    let proxy = CuttingProxy::before(server).await;
    let account = account_at(&format!("http://{}", proxy.address()), "main").encoding(Encoding::Json);
    let limits = ThrottleLimits::default().per_minute(1_000_000);
    let client = ClientBuilder::with_transport(account, without_pool()).clock(clocks::leaping()).limits(limits).build();
    // Pays once, and returns whether an error occurred.
    let pay = async |at: usize| {
        let reference = format!("order-{at:06}");
        let mut charging = client.charge(AuthCardKey::new(&key, order(&reference, 499))).unwrap();
        let charged = charging.run().await;
        let ledger = ledger::under(&shop.client, &reference).await;
        ledger::contradiction(&charged, &ledger).unwrap_or_else(|wrong| panic!("{at}: {wrong}"));
        assert!(matches!(charged, ChargeOutcome::Approved(_)), "{at}: {charged:?}");
        charging.error().is_some()
    };

    assert!(!pay(0).await);
    let (request, reply) = proxy.passed().await;
    assert!(request > 500 && reply > 200, "{request} {reply}");
    // Also when everything has passed.
    let cuts = (0..=request).map(Cut::Request).chain((0..=reply).map(Cut::Reply));
    for (at, cut) in cuts.enumerate() {
        proxy.cut_next(cut);
        assert_eq!(pay(at + 1).await, cut != Cut::Reply(reply), "{cut:?}");
    }
}
