//! A store with a million payments beside one with a thousand.

use std::path::Path;

use bytes::Bytes;
use http::Response;
use pg_measure::{Bounds, median, note, quick, ratio};
use pg_sandbox::{
    Settings, Timestamp,
    key::{Keys, SeededRandom},
    records::{Payment, UniqueReference},
    store::{Query, Sqlite, Store as _, Transaction},
    vault,
};

use crate::{
    durable::CONNECTIONS,
    load::Load,
    payment::{Payments, reference},
    process::Sandbox,
};

const FEW: u64 = 1_000;
const MANY: u64 = 1_000_000;
/// Instead of a million when only a sign of life is wanted.
const QUICK_MANY: u64 = 10_000;
/// Payments that are written at once.
const BATCH: u64 = 10_000;

pub(crate) fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let many = if quick() { QUICK_MANY } else { MANY };
    let (small, big) = (folder.path().join("small.sqlite"), folder.path().join("big.sqlite"));
    fill(&small, FEW);
    fill(&big, many);
    let (small, big) = (Sandbox::start(&small), Sandbox::start(&big));
    let mut loads = [Load::connect(small.address, CONNECTIONS), Load::connect(big.address, CONNECTIONS)];
    let mut payments = Payments::new(2);

    let (rounds, each) = if quick() { (2, 50) } else { (15, 300) };
    let (mut ratios, mut rates) = (Vec::new(), [Vec::new(), Vec::new()]);
    for round in 0..=rounds {
        let mut rate = [0.0; 2];
        // The two take turns in being first.
        for which in [round % 2, 1 - round % 2] {
            rate[which] = loads[which].round(payments.requests(CONNECTIONS, each)).rate;
        }
        // The first round warms up.
        if round > 0 {
            ratios.push(rate[1] / rate[0]);
            rates.iter_mut().zip(rate).for_each(|(rates, rate)| rates.push(rate));
        }
    }
    ratio("sandbox: a million payments beside a thousand", median(ratios), Bounds::at_least(0.90, 0.97));
    let [few, lots] = rates.map(median);
    note(&format!(
        "{few:.0} durable payments a second with 1,000 payments in the store, {lots:.0} with {many}, whose references \
         are in no order; that store starts in {:.0} ms.",
        big.started_in()
    ));
}

/// Writes this many payments, all like one that the sandbox made itself.
fn fill(path: &Path, count: u64) {
    let now = Timestamp::parse("2026-05-04T10:00:00Z").expect("a date");
    let mut sandbox = pg_sandbox::Sandbox::open(path, Settings::default(), [7; 32]).expect("a new store");
    let made: Response<Bytes> = sandbox.handle(now, Payments::new(3).next());
    assert!(made.status().is_success(), "{made:?}");
    drop(sandbox);

    let key = vault::load_key(&vault::key_path(path)).ok().flatten().expect("the key of the store").key;
    let mut store = Sqlite::open(path, &key).expect("a store");
    let found = Transaction::new(&mut store).find::<Payment>(&Query::newest(1)).expect("the payment");
    let [mut payment] = <[Payment; 1]>::try_from(found).expect("one payment");
    let mut keys = Keys::new(Box::new(SeededRandom::new([8; 32])));
    let mut left = 0..count;
    while !left.is_empty() {
        store.begin().expect("a transaction");
        let mut records = Transaction::new(&mut store);
        for number in left.by_ref().take(usize::try_from(BATCH).unwrap_or(usize::MAX)) {
            payment.key = keys.record(now);
            let text = reference(number);
            let used = UniqueReference::new(&payment.merchant, &text, Some(payment.key.clone()));
            payment.unique_reference = Some(text);
            records.put(&used).expect("a reference");
            records.put(&payment).expect("a payment");
        }
        records.keep().expect("room");
        store.commit().expect("room");
    }
}
