//! The time of a group over a store that several processes share, in which it waits for its turn.

use std::{
    cell::Cell,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use super::*;
use crate::store::{Kind, Query, Row};

/// SQLite in memory as if others shared it. Each transaction waits a second for its turn.
struct Waiting {
    inner: Sqlite,
    clock: Arc<AtomicU64>,
}

impl Store for Waiting {
    pg_stores::pass_on!(inner: commit, rollback, in_transaction, get, holds, put, remove, select);

    fn begin(&mut self) -> Result<(), StoreError> {
        self.clock.fetch_add(1, Relaxed);
        self.inner.begin()
    }
    fn is_shared(&self) -> bool {
        true
    }
}

// spec: 3 §3.1: A token is active from token_start.
#[test]
fn a_request_is_not_answered_at_a_time_before_its_turn_or_its_arrival() {
    let clock = Arc::<AtomicU64>::default();
    let store = Waiting { inner: Sqlite::in_memory().unwrap(), clock: Arc::clone(&clock) };
    let mut sandbox =
        Sandbox::assemble(Box::new(store), Settings::default(), &[1; 32], Box::new(SeededRandom::new([2; 32])))
            .unwrap();
    let seconds = || clock.load(Relaxed);
    let read = || now().plus(Duration::from_secs(seconds()));
    let ask = || Inbound::new(&Settings::default(), request(Method::GET, "/_sandbox/clock", ""));
    let beginning = read();
    let has_arrived = Cell::new(false);
    let responses = sandbox.answer_group(&read, &mut vec![ask()], &mut |more| {
        if !has_arrived.replace(true) {
            clock.fetch_add(10, Relaxed);
            more.push(ask());
        }
    });
    let times = responses.iter().map(|response| {
        let shown: Value = serde_json::from_slice(response.body()).unwrap();
        shown["now"].as_str().unwrap().to_owned()
    });
    let later = |seconds| beginning.plus(Duration::from_secs(seconds)).to_string();
    assert_eq!(times.collect::<Vec<_>>(), [later(1), later(11)]);
}
