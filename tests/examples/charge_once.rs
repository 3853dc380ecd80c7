//! A charge whose reply is lost and whose process "crashes": the customer is still charged once. It uses a sandbox that
//! runs in the same process.
//!
//! ```text
//! cargo run -p pg-tests --example charge_once
//! ```

use std::{
    error::Error,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use pg_hyper::{ClientBuilder, TowerTransport, VirtualClock};
use pg_model::{Auth, CardDetails, Currency, Item, Order};
use pg_proto::{Account, BaseUrl, Credentials, machine::charge::ChargeOutcome};
use pg_sandbox::{InProcess, Sandbox, Timestamp};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // While the machine waits, the sandbox's clock advances, so the example takes no real time.
    let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z")?);
    let shop = sandbox.merchant("main").ok_or("no such account")?;
    let credentials = Credentials::new(shop.api_key.expose(), shop.api_password.expose(), shop.sha_key.expose());
    let account = Account::new(BaseUrl::parse(InProcess::BASE_URL)?, credentials).with_dialect(pg_sandbox::dialect());
    let clock = VirtualClock::shared(sandbox.clone(), InProcess::unix_time, InProcess::advance);
    let client = ClientBuilder::with_transport(account, TowerTransport::new(sandbox.clone())).clock(clock).build();

    let payment = || {
        let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
        Auth::new(CardDetails::new("4000000000001000", "12", "49"), order)
    };
    let fault = r#"{"method": "transaction/auth", "kind": "drop-reply"}"#;
    sandbox.send(http::Request::post("/_sandbox/faults").body(Bytes::from(fault))?)?;

    // Stored before each request: here in memory, in a shop beside the order.
    let stored = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&stored);
    let charging = client.charge(payment())?.store(move |saved| {
        *keep.lock().expect("no holder of the lock panics") = Some(saved);
        async { Ok::<_, std::io::Error>(()) }
    });
    let ChargeOutcome::Approved(paid) = charging.await else { return Err("not paid".into()) };
    println!("the reply was lost, and it is paid: {}", paid.transaction_key);

    // A restarted process with the saved state finds the same payment and does not make another.
    let saved = stored.lock().expect("no holder of the lock panics").take().ok_or("nothing was stored")?;
    let ChargeOutcome::Approved(again) = client.resume_charge(&saved, Some(payment()))?.await else {
        return Err("not found".into());
    };
    assert_eq!(again.transaction_key, paid.transaction_key);
    println!("resumed, it is the same: {}", again.transaction_key);
    Ok(())
}
