//! Readers accept or refuse any input: damaged stored states of machines, redirects and callbacks
//! from unknown senders, requests to the sandbox that are truncated or altered at any byte. No reader panics or takes long.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod incoming;
mod requests;
mod states;
