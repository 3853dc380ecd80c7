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
mod world;

#[test]
fn the_example_does_what_it_says() {
    charge_once::main().unwrap();
}
