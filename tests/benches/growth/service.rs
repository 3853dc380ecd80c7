//! The sandbox without a socket: payments with many items, records and callbacks.

use std::cell::Cell;

use pg_measure::{Growth, microseconds, quick};
use pg_model::{ApiRequest, RequestAccountUpdater, TokeniseTransactionKey};
use pg_proto::Account;
use pg_sandbox::{Sandbox, Settings, Timestamp};
use pg_tests::shop::account_at;

use crate::{requests::payment, sizes};

const COST: &str = "µs of processor time a payment";

pub(crate) fn measure() {
    items();
    records();
    callbacks();
}

fn items() {
    let items = Growth::of("items of a payment, at the sandbox", "items", COST, 1);
    for size in sizes(1, 640) {
        let world = &mut World::new(Sandbox::in_memory());
        items.measure(size, || world.pay(size));
    }
}

fn records() {
    let folder = tempfile::tempdir().expect("a folder");
    let sandbox = Sandbox::open(&folder.path().join("store.sqlite"), Settings::default(), [7; 32]).expect("a store");
    let world = &mut World::new(sandbox);
    let records = Growth::of("payments in the store", "payments", COST, 0);
    for size in sizes(1_000, if quick() { 4_000 } else { 256_000 }) {
        while world.paid() < size {
            world.pay_many((size - world.paid()).min(64));
        }
        // The disk takes its time whatever the store holds, and in groups it matters little.
        records.point(size, microseconds(|| world.pay_many(64)) / 64.0);
    }
}

fn callbacks() {
    let world = &mut World::new(Sandbox::in_memory());
    let callbacks = Growth::of("callbacks that wait", "callbacks", COST, 0);
    let paid = world.pay(1);
    let token = world.call(&TokeniseTransactionKey::new(paid.transaction_key));
    let card_key = token.card_key_details.first().expect("a token").card_key.clone();
    let settings = Settings::default();
    let updater =
        settings.merchants.by_name("main").and_then(|main| main.account_updater_key.as_ref()).expect("an updater");
    let mut waiting = 0;
    for size in sizes(10, if quick() { 100 } else { 10_000 }) {
        while waiting < size {
            let request = RequestAccountUpdater::new(updater.expose(), [card_key.as_str()]);
            let batch = world.call(&request.callback_url("http://127.0.0.1:9/hook"));
            assert!(!batch.batch_key.is_empty(), "{batch:?}");
            waiting += 1;
        }
        // Their batches finish, and are never retrieved.
        world.now = world.now.plus(std::time::Duration::from_secs(600));
        world.pay(1);
        callbacks.measure(size, || {
            world.sandbox.due(world.now);
            world.pay(1)
        });
    }
}

/// A sandbox with one merchant.
struct World {
    sandbox: Sandbox,
    account: Account,
    now: Timestamp,
    references: Cell<usize>,
}

impl World {
    fn new(sandbox: Sandbox) -> Self {
        let now = Timestamp::parse("2026-05-04T10:00:00Z").expect("a date");
        let account = account_at("http://127.0.0.1:8480", "main").encoding(pg_model::Encoding::Json);
        Self { sandbox, account, now, references: Cell::new(0) }
    }

    /// The number of payments.
    fn paid(&self) -> usize {
        self.references.get()
    }

    /// A payment with a unique reference; references are not in order.
    fn request(&self, items: usize) -> http::Request<bytes::Bytes> {
        let number = self.references.get() as u64;
        self.references.set(self.references.get() + 1);
        let reference = format!("order-{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        with_host(self.account.request(&payment(items, &reference)).expect("a request"))
    }

    fn pay(&mut self, items: usize) -> pg_model::Transaction {
        let request = self.request(items);
        let response = self.sandbox.handle(self.now, request);
        match self.account.reply::<pg_model::Auth>(response) {
            Ok(pg_model::Outcome::Approved(paid)) => paid,
            other => panic!("{other:?}"),
        }
    }

    /// Makes concurrent payments.
    fn pay_many(&mut self, count: usize) {
        let requests = (0..count).map(|_| self.request(1)).collect();
        let responses = self.sandbox.handle_group(self.now, requests);
        assert!(responses.iter().all(|response| response.status().is_success()), "{responses:?}");
    }

    fn call<M: ApiRequest>(&mut self, method: &M) -> M::Output {
        let request = with_host(self.account.request(method).expect("a request"));
        let response = self.sandbox.handle(self.now, request);
        self.account.reply::<M>(response).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn with_host<B>(mut request: http::Request<B>) -> http::Request<B> {
    request.headers_mut().insert(http::header::HOST, http::HeaderValue::from_static("127.0.0.1:8480"));
    request
}
