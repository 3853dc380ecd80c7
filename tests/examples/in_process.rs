//! A test of a shop with the whole service in it: no socket, no timers of a runtime, and its own clock.
//!
//! ```text
//! cargo run -p pg-tests --example in_process
//! ```

use std::error::Error;

use bytes::Bytes;
use pg_hyper::{Client, TowerTransport};
use pg_model::{Auth, CardDetails, Currency, Item, Order, Outcome};
use pg_proto::{Account, BaseUrl, Credentials, machine::Reconcile};
use pg_sandbox::{InProcess, Sandbox, Timestamp};

#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // A test needs only a client over a sandbox.
    let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z")?);
    let shop = sandbox.merchant("main").ok_or("no such account")?;
    let credentials = Credentials::new(shop.api_key.expose(), shop.api_password.expose(), shop.sha_key.expose());
    let account = Account::new(BaseUrl::parse(InProcess::BASE_URL)?, credentials).with_dialect(pg_sandbox::dialect());
    let client = Client::with_transport(account, TowerTransport::new(sandbox.clone()));

    // The reply to a payment is lost, which tests how the shop handles that.
    let fault = r#"{"method": "transaction/auth", "kind": "drop-reply"}"#;
    sandbox.send(http::Request::post("/_sandbox/faults").body(Bytes::from(fault))?)?;
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
    let payment = Auth::new(CardDetails::new("4000000000001000", "12", "49"), order);
    match client.call(&payment).await {
        Err(pg_hyper::Error::Unknown { reconcile: Reconcile::Transaction(lookup), .. }) => {
            let found = client.call(&lookup).await?;
            println!("a lost reply, and {} payment", found.transactions.len());
            assert_eq!(found.transactions.len(), 1);
        }
        other => return Err(format!("not unknown: {other:?}").into()),
    }

    // No request reaches an unplugged sandbox, so it may be sent again.
    sandbox.unplug();
    let unsent = client.call(&payment).await;
    assert!(unsent.is_err_and(|error| !error.may_be_executed()));
    sandbox.plug_in();

    // A card that is declined, a minute later.
    sandbox.advance(std::time::Duration::from_secs(60));
    let order = Order::new(Currency::GBP).item(Item::new("Tea", 499));
    let outcome = client.call(&Auth::new(CardDetails::new("4000000000002008", "12", "49"), order)).await?;
    assert!(matches!(outcome, Outcome::Declined(_)));
    println!("declined: {outcome:?}");
    Ok(())
}
