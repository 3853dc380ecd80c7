//! Requests and replies that grow: keys, items, cards.

use pg_measure::Growth;
use pg_model::{
    AccountUpdaterBatch, Auth, CardDetails, Currency, Encoding, Item, Order, RequestAccountUpdater, UpdatedCard,
    decode, encode,
};
use pg_tests::shop::account_at;

use crate::sizes;

const COST: &str = "µs of processor time";
/// As many as one request may name (spec 1 §8).
const KEYS: usize = 5_000;
/// About the most that the sandbox's parameter limit allows.
const ITEMS: usize = 640;

pub(crate) fn measure() {
    let account = account_at("https://gateway.example", "main");
    let keys = Growth::of("card keys of a request", "card keys", COST, 1);
    for size in sizes(10, KEYS) {
        let request = RequestAccountUpdater::new("updater", (0..size).map(card_key));
        keys.measure(size, || account.request(&request).expect("a request"));
    }
    let items = Growth::of("items of a payment, checked and signed", "items", COST, 1);
    for size in sizes(1, ITEMS) {
        let request = payment(size, "order-7");
        items.measure(size, || account.request(&request).expect("a request"));
    }
    for (name, encoding) in
        [("cards of a batch, read from JSON", Encoding::Json), ("cards of a batch, read from XML", Encoding::Xml)]
    {
        let batch = Growth::of(name, "cards", COST, 1);
        for size in sizes(10, KEYS) {
            let cards = (0..size).map(|number| {
                UpdatedCard::default().with(|record| {
                    record.old_card_key = card_key(number).as_str().into();
                    record.card_key = card_key(number + KEYS).as_str().into();
                    record.response = "700".into();
                })
            });
            let reply = AccountUpdaterBatch::default().with(|record| {
                record.batch_key = "7f3a90c2d5e84b61a0c9e7d2f4b86135".into();
                record.created_on = "2026-03-14T09:26:53+00:00".into();
                record.card_key_details = cards.collect();
            });
            let text = encode(&reply, encoding);
            batch.measure(size, || decode::<AccountUpdaterBatch>(text.as_bytes()).expect("a batch"));
        }
    }
}

fn card_key(number: usize) -> String {
    format!("{:08x}-7a2d-4c88-9e10-{number:012x}", number * 2_654_435_761 % 0xffff_ffff)
}

/// A payment with the given number of items.
pub(crate) fn payment(items: usize, reference: &str) -> Auth {
    let order = (0..items).fold(Order::new(Currency::GBP), |order, _| order.item(Item::new("Darjeeling tea", 499)));
    Auth::new(CardDetails::new("4111111111111111", "12", "49"), order.unique_merchant_reference(reference))
}
