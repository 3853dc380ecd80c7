//! The built `pg`, run as people and scripts run it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking, in its helpers too")]

mod account;
mod call;
mod canary;
mod completions;
mod config;
mod control;
mod decrypt;
mod demo;
mod dry_run;
mod echo;
mod exit_codes;
mod intents;
mod listen;
#[cfg(target_os = "linux")]
mod memory;
mod methods;
mod peer;
mod pg;
#[cfg(unix)]
mod printed_lookup;
#[cfg(unix)]
mod rehearse;
mod sandbox;
#[cfg(all(unix, feature = "postgres"))]
mod sandbox_key;
#[cfg(unix)]
mod sandbox_log;
mod sandbox_settings;
mod sandbox_tls;
mod sentinel;
mod shop;
mod sign;
mod store_address;
mod streams;
mod survey;
mod trigger;
mod update_cards;
