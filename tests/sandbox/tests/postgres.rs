//! The store in PostgreSQL: the conformance suite, wrong databases, and several sandboxes over one database.
//!
//! `PG_TEST_STORE=postgres cargo test -p pg-sandbox-tests` runs all other tests over it as well.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod callbacks;
mod down;
mod figures;
mod in_doubt;
mod interrupted;
mod journal;
mod leaks;
mod planted;
mod pooled;
mod process;
mod proof;
mod proxy;
mod refused;
mod rotation;
mod tls;
mod together;
mod upgrade;
mod without_turns;

use pg_sandbox::{conformance, store::Postgres as Store};
use pg_stores::Postgres;

const KEY: [u8; 32] = [3; 32];

#[test]
fn postgres_conforms() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    conformance::check(&mut Store::open(&url, &KEY, "one").unwrap()).unwrap();
    let mut opened = 0;
    conformance::check_durable(&mut || {
        opened += 1;
        Ok(Box::new(Store::open(&url, &KEY, &format!("process {opened}"))?))
    })
    .unwrap();
}
