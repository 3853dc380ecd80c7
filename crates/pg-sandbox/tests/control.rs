//! The control interface as a developer meets it: through requests and answers alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod faults;
mod health;
mod lists;
mod loopback;
mod requests;
mod shop;
