//! The drivers of `pg-hyper` against the sandbox: under any fault they make at most one payment, and the client's claim matches
//! the ledger.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cancelled;
mod card_form;
#[path = "../examples/charge_once.rs"]
mod charge_once;
mod checkout;
mod cut;
mod faults;
mod held_back;
mod killed;
mod restarted;
mod store_errors;
mod three_d_secure;
mod updates;

use bytes::Bytes;
use http::Request;
use pg_hyper::{Client, ClientBuilder, TowerTransport, Transport};
use pg_model::{Auth, CardDetails, Encoding, Transaction};
use pg_proto::{Account, BaseUrl, Credentials, EnterpriseCredentials, machine::charge::ChargeOutcome};
use pg_sandbox::{InProcess, Sandbox, Timestamp};
use pg_tests::{clocks, ledger, shop::order};
use serde_json::Value;

pub(crate) type Wire = TowerTransport<InProcess>;

/// Cards of an approved and of a declined payment.
pub(crate) const APPROVED: &str = "4000000000001000";
pub(crate) const DECLINED: &str = "4000000000002008";

pub(crate) struct World {
    pub(crate) sandbox: InProcess,
    pub(crate) client: Client<Wire>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of("main")
    }

    /// Uses the account of the given merchant.
    pub(crate) fn of(merchant: &str) -> Self {
        let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z").unwrap());
        let account = account(&sandbox, merchant);
        let transport = TowerTransport::new(sandbox.clone());
        let client = ClientBuilder::with_transport(account, transport).clock(clocks::shared(&sandbox)).build();
        Self { sandbox, client }
    }

    /// The same account over another transport to the same sandbox.
    pub(crate) fn over<T: Transport>(&self, transport: T) -> Client<T> {
        self.builder(transport).build()
    }

    /// The same as a builder, for a client with other limits.
    pub(crate) fn builder<T: Transport>(&self, transport: T) -> ClientBuilder<T> {
        ClientBuilder::with_transport(self.client.account().clone(), transport).clock(clocks::shared(&self.sandbox))
    }

    pub(crate) fn control(&self, path: &str, body: impl Into<String>) {
        let request = Request::post(format!("/_sandbox/{path}")).body(Bytes::from(body.into())).unwrap();
        let reply = self.sandbox.send(request).unwrap();
        assert!(reply.status().is_success(), "{:?}", reply.body());
    }

    /// What the control interface lists.
    pub(crate) fn list(&self, path: &str) -> Value {
        let request = Request::get(format!("/_sandbox/{path}")).body(Bytes::new()).unwrap();
        serde_json::from_slice(self.sandbox.send(request).unwrap().body()).unwrap()
    }

    pub(crate) async fn ledger(&self, reference: &str) -> Vec<Transaction> {
        self.sandbox.plug_in();
        let clear = Request::delete("/_sandbox/faults").body(Bytes::new()).unwrap();
        assert!(self.sandbox.send(clear).unwrap().status().is_success());
        ledger::under(&self.client, reference).await
    }

    /// Fails unless the claim matches the ledger.
    pub(crate) async fn check(&self, reference: &str, charged: &ChargeOutcome, what: &str) {
        let ledger = self.ledger(reference).await;
        ledger::contradiction(charged, &ledger).unwrap_or_else(|wrong| panic!("{what}: {wrong}"));
    }
}

pub(crate) fn payment(card: &str, reference: &str) -> Auth {
    Auth::new(CardDetails::new(card, "12", "49").cv2("123"), order(reference, 499))
}

fn account(sandbox: &InProcess, merchant: &str) -> Account {
    let merchant = sandbox.merchant(merchant).unwrap();
    let base = |address| BaseUrl::parse(address).unwrap();
    let credentials =
        Credentials::new(merchant.api_key.expose(), merchant.api_password.expose(), merchant.sha_key.expose());
    let account = Account::new(base(InProcess::BASE_URL), credentials)
        .encoding(Encoding::Json)
        .with_dialect(pg_sandbox::dialect());
    match merchant.enterprise {
        None => account,
        Some(own) => account.enterprise(
            base(InProcess::ENTERPRISE_BASE_URL),
            EnterpriseCredentials::new(own.api_key.expose(), own.api_password.expose()),
        ),
    }
}

#[test]
fn the_example_does_what_it_says() {
    charge_once::main().unwrap();
}
