//! Accounts that are made and removed while the sandbox runs: each is alone with its clock, its faults and its records.

#![expect(clippy::unwrap_used, reason = "a test may panic, also in the functions that it calls")]

mod isolation;
pub(crate) mod job;
mod lifetime;
mod misuse;
mod servers;
