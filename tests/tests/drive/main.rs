//! The drivers of `pg-hyper` against the sandbox: whatever goes wrong, at most one payment, and what the client says is
//! what the service holds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cancelled;
mod cut;
mod faults;
mod held_back;
mod world;
