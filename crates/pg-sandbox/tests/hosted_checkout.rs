//! The hosted checkout and utility service as merchants and their customers meet it: through requests
//! and answers alone, in memory, on a clock that the test turns.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod address;
mod at_rest;
mod callbacks;
mod credentials;
mod ended;
mod fields;
mod gettoken;
mod hostile;
mod isolation;
mod journey;
mod lookup;
mod operations;
mod pages;
mod repeat;
mod shop;
mod sms;
mod twice;
