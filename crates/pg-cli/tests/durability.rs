//! The promises of `pg sandbox` about its records, over real processes, real files and real HTTP: acknowledged data
//! survives `kill -9`, a full disk is an error but does not end the process, an unusable store is reported, and a stop
//! signal lets pending replies out first.

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
