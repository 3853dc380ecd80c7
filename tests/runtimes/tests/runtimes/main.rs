//! Runs the examples as programs, against a listening sandbox, over http and https.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod every;
mod killed;
mod killed_checkout;
mod page;
mod place;
