//! Whatever reaches a reader, it is read or refused: stored states of machines that were damaged, redirects and callbacks
//! from strangers, requests to the sandbox that are cut or altered at any byte. No reader panics or takes long.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod incoming;
mod requests;
mod states;
