//! The sandbox beside small models of what the documents promise: random calls of two merchants, each answer held against
//! the model's, and everything that is recorded against it after each step. A sequence that shows a difference is shrunk.
//!
//! The models are written from the documents and the register of assumptions, not from the sandbox. Where one call breaks
//! several rules, any of their codes will do, because the documents do not say which comes first.
//!
//! `PROPTEST_CASES=20000 cargo test -p pg-sandbox --test all_of_sandbox models::` tries more, `PROPTEST_RNG_SEED` others.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod batches;
mod checkout;
mod ledger;
mod run;
mod service;
mod sessions;
mod tokens;
