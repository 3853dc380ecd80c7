//! What `pg sandbox` promises about its records, over real processes, real files and real HTTP: what was acknowledged
//! survives `kill -9`, a full disk is an error and not an end, a store that cannot be used is said to be so, and being
//! told to stop lets the answers out first.

#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod audit;
mod caller;
mod dice;
#[cfg(target_os = "linux")]
mod full_disk;
mod kill_9;
mod killed_charging;
mod killing_proxy;
mod load;
mod process;
mod refused_stores;
mod stopping;
mod writer;
