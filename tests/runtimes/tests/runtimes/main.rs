//! The examples, run as their readers would run them: as programs, against a sandbox that listens, over http and https.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod every;
mod killed;
mod page;
mod place;
