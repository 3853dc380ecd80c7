//! Planted bugs: what keeps several processes apart is taken away, and the same checks that hold without that find it.
//!
//! None of it is in the program. A proxy rewrites what goes to the database, and an engine around the real one hides that others
//! use the store too.

use std::{
    sync::{Arc, Condvar, Mutex},
    thread,
};

use http::Method;
use pg_sandbox::{
    Sandbox, Settings, StoreError, StoreKey,
    store::{Change, Kind, Postgres as Engine, Query, Row, Store, Syncer},
};
use pg_stores::Postgres;

use super::{KEY, proxy};
use crate::accounts::{Job, Shared};

/// The lock that lets groups take turns.
pub(super) const LOCK: &str = "LOCK TABLE payment_sandbox.turn IN EXCLUSIVE MODE;";
/// The isolation of a group.
const SERIALIZABLE: (&str, &str) =
    ("BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL REPEATABLE READ");
/// The row that every group writes, so that two at a time conflict.
const GENERATION: (&str, &str) =
    ("UPDATE payment_sandbox.store SET generation = generation + 1, last_key = $3", "SELECT 1");
/// The same of a group of payments alone.
const QUIET_GENERATION: (&str, &str) =
    ("UPDATE payment_sandbox.store SET generation = generation + 1, quiet = quiet + 1, last_key = $3", "SELECT 1");
/// What a group writes first.
const WRITES: &[u8] = b"INSERT INTO payment_sandbox.";

/// What the journal writes, over its own connection, whenever it likes.
const JOURNALS: &[u8] = b"INSERT INTO payment_sandbox.journal ";

/// Whether the next writes of a group are passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    /// The next writes are to be held.
    Armed,
    /// They are held.
    Holding,
}

/// Stands before the server, takes words out of what is sent, and holds the writes of one group.
pub(super) struct Proxy {
    pub(super) port: u16,
    gate: Arc<(Mutex<Gate>, Condvar)>,
}

impl Proxy {
    pub(super) fn before(server: u16, replaced: &[(&'static str, &'static str)]) -> Self {
        let gate = Arc::new((Mutex::new(Gate::Open), Condvar::new()));
        let (shared, replaced) = (Arc::clone(&gate), replaced.to_vec());
        let port = proxy::before(server, move || {
            let (gate, replaced) = (Arc::clone(&shared), replaced.clone());
            let up = move |bytes: &mut [u8]| {
                replaced.iter().for_each(|(from, to)| replace(bytes, from, to));
                let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
                if has(WRITES) && !has(JOURNALS) {
                    hold(&gate);
                }
                true
            };
            (up, |_: &mut [u8]| true)
        });
        Self { port, gate }
    }

    fn set(&self, to: Gate) {
        *self.gate.0.lock().unwrap() = to;
        self.gate.1.notify_all();
    }

    fn wait_until_holding(&self) {
        let waiting = self.gate.0.lock().unwrap();
        drop(self.gate.1.wait_while(waiting, |gate| *gate != Gate::Holding).unwrap());
    }
}

/// If the gate is armed, waits until it is opened.
fn hold(gate: &(Mutex<Gate>, Condvar)) {
    let mut now = gate.0.lock().unwrap();
    if *now == Gate::Armed {
        *now = Gate::Holding;
        gate.1.notify_all();
        drop(gate.1.wait_while(now, |gate| *gate == Gate::Holding).unwrap());
    }
}

/// Replaces a text by a shorter one and blanks: lengths stay as they were announced.
pub(super) fn replace(bytes: &mut [u8], from: &str, to: &str) {
    let Some(at) = bytes.windows(from.len()).position(|window| window == from.as_bytes()) else { return };
    let padded = format!("{to:<width$}", width = from.len());
    bytes[at..at + from.len()].copy_from_slice(padded.as_bytes());
}

fn open(url: &str, number: u8) -> Shared {
    let key = StoreKey::from_bytes(KEY);
    Shared::over(Sandbox::open_postgres(url, &key, Settings::default(), [number; 32]).unwrap())
}

/// One process removes an account while the other one is about to record a payment of it. Gives the status of the payment, and
/// how many payments are left in the store.
fn pay_while_the_account_is_removed(replaced: &[(&'static str, &'static str)]) -> Option<(u16, String)> {
    let server = Postgres::for_tests()?;
    let url = server.database().unwrap();
    let proxy = Proxy::before(server.port(), replaced);
    let through = url.replace(&server.port().to_string(), &proxy.port.to_string());
    let (mut one, mut other) = (open(&through, 1), open(&through, 2));
    let job = one.account(r#"{"name":"ci-1"}"#);
    // The connection is there, and the group begins with what is stored now.
    assert_eq!(job.session(&mut other).0, 200);
    proxy.set(Gate::Armed);
    let paid = thread::scope(|scope| {
        let paying = scope.spawn(|| job.call(&mut other, "transaction/auth", &pg_support::payment("order-1")).0);
        proxy.wait_until_holding();
        assert_eq!(one.send(Method::DELETE, "/_sandbox/accounts/ci-1", "").0, 200);
        proxy.set(Gate::Open);
        paying.join().unwrap()
    });
    Some((paid, server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap()))
}

#[test]
fn snapshot_isolation_in_place_of_serializable_is_found() {
    let held = Some((401, "0".to_owned()));
    let no_lock = (LOCK, "");
    for guards in [&[no_lock][..], &[no_lock, SERIALIZABLE]] {
        let Some(found) = pay_while_the_account_is_removed(guards) else { return };
        assert_eq!(Some(found), held, "without {guards:?}");
    }
    // Neither turns, nor SERIALIZABLE, nor a row that all groups write: the payment of a removed account is recorded.
    let broken = pay_while_the_account_is_removed(&[no_lock, SERIALIZABLE, GENERATION, QUIET_GENERATION]);
    assert_eq!(broken, Some((200, "1".to_owned())), "the check cannot fail");
}

/// An engine that several processes share, and that says that they do not.
struct Unshared(Engine);

impl Store for Unshared {
    pg_stores::pass_on!(0: begin, commit, rollback, syncer, in_transaction, change, may_try_again, get, holds, put, remove, select);

    fn is_shared(&self) -> bool {
        false
    }
}

/// Two processes over a new database, as they are or with the planted bug.
fn two(planted: bool) -> Option<[Shared; 2]> {
    let url = Postgres::for_tests()?.database().unwrap();
    Some([1, 2].map(|number| {
        if !planted {
            return open(&url, number);
        }
        let engine = Engine::open(&url, &KEY, &format!("process {number}")).unwrap();
        let over = Sandbox::over(Box::new(Unshared(engine)), Settings::default(), &KEY, [number; 32]);
        Shared::over(over.unwrap())
    }))
}

#[test]
fn a_throttle_by_process_is_found() {
    for (planted, expected) in [(false, 100), (true, 130)] {
        let Some([mut one, mut other]) = two(planted) else { return };
        let strict = Job::configured("strict");
        let admitted = (0..130)
            .filter(|number| strict.session(if number % 2 == 0 { &mut one } else { &mut other }).0 == 200)
            .count();
        assert_eq!(admitted, expected, "planted: {planted}");
    }
}

#[test]
fn a_callback_delivered_by_two_processes_is_detected() {
    for (planted, expected) in [(false, 1), (true, 2)] {
        let Some([mut one, mut other]) = two(planted) else { return };
        Job::configured("main").batch(&mut one);
        one.pass(121);
        other.pass(121);
        // Each asks before the other has reported.
        assert_eq!(one.due().len() + other.due().len(), expected, "planted: {planted}");
    }
}
