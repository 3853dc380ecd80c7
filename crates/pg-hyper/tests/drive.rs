//! Drivers by tokio's time, and the receiver against callers that mean no good.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod guarded;
mod receiver;
mod restarted;
mod retry;
mod slow_callbacks;
mod spans;
mod stored;
mod throttle;
mod updates;
