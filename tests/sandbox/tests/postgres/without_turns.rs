//! Databases that speak the protocol and have no table locks: SERIALIZABLE alone keeps the promises, and conflicts are tried again.

use std::thread;

use http::Method;
use pg_stores::Postgres;

use super::{
    planted::{LOCK, Proxy},
    process::{Process, payment, request, shown},
};

const SESSION: [(&str, &str); 1] = [("errorPageUrl", "https://shop.example/error")];

/// How a refused lock is spelt: the database knows no such command, or no such setting.
const REFUSED: [&[(&str, &str)]; 2] = [
    &[(LOCK, "LOCKS TABLE payment_sandbox.turn;")],
    &[("SET LOCAL lock_timeout", "SET LOCAL no_timeout"), ("SET lock_timeout", "SET no_timeout")],
];

#[test]
fn without_the_lock_and_its_settings_every_promise_is_kept() {
    let Some(server) = Postgres::for_tests() else { return };
    for refused in REFUSED {
        let url = server.database().unwrap();
        let proxy = Proxy::before(server.port(), refused);
        let through = url.replace(&server.port().to_string(), &proxy.port.to_string());
        let open = |number| Process::open(&through, number);
        // Each group has several requests, so that a conflict splits it.
        let paid: Vec<u16> = thread::scope(|scope| {
            let racing: Vec<_> = (1..=3).map(|number| scope.spawn(move || race(open(number)))).collect();
            racing.into_iter().flat_map(|racing| racing.join().unwrap()).collect()
        });
        assert_eq!(paid.iter().filter(|status| **status == 200).count(), 12, "{refused:?}: {paid:?}");
        assert_eq!(server.psql(&url, "SELECT count(*) FROM payment_sandbox.transactions").unwrap(), "12");
        let (mut one, mut other) = (open(4), open(5));
        let admitted = (0..110).filter(|number| {
            if number % 2 == 0 { &mut one } else { &mut other }.call("strict", "session/initiate", &SESSION).0 == 200
        });
        assert_eq!(admitted.count(), 100, "{refused:?}");
        assert_eq!(one.send(Method::POST, "/_sandbox/clock", r#"{"set":"2027-01-01T00:00:00Z"}"#).0, 200);
        assert_eq!(other.send(Method::GET, "/_sandbox/clock", "").1["now"], "2027-01-01T00:00:00Z");
    }
}

/// Pays the same twelve orders as the others do, four at a time. What conflicts too often is answered with 999, and sent again.
fn race(mut process: Process) -> Vec<u16> {
    let mut all = Vec::new();
    for first in [0, 4, 8] {
        let mut left: Vec<usize> = (first..first + 4).collect();
        while !left.is_empty() {
            let group = left.iter().map(|order| {
                let pairs = payment(&format!("order-{order}"));
                let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (*name, &**value)).collect();
                request(Method::POST, "/v3/transaction/auth/json", &process.signed("main", &pairs))
            });
            let group: Vec<_> = group.collect();
            let responses = process.sandbox.handle_group(process.now, group);
            let statuses: Vec<u16> = responses.iter().map(|response| shown(response).0).collect();
            left = left.iter().zip(&statuses).filter(|(_, status)| **status == 500).map(|(order, _)| *order).collect();
            all.extend(statuses.into_iter().filter(|status| *status != 500));
        }
    }
    all
}
