//! The machines against the sandbox, on virtual time: merchants' servers crash, customers hesitate, the service crashes, and the
//! network between them loses, delays, duplicates and damages messages. A seed determines everything.
//!
//! What this is: [`play`] creates one world and runs it to its end, with checks after every step; [`many`] does so for many seeds;
//! [`planted`] lists bugs that are planted to test whether the checks find them.
//!
//! What it is not: a test of real sockets, disks and clocks.
//!
//! ```
//! use pg_simulation::{Scenario, play};
//!
//! let played = play(Scenario::new(7));
//! assert!(played.violation.is_none(), "{}", played.log);
//! assert_eq!(played.log, play(Scenario::new(7)).log);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod agenda;
mod bank;
mod checks;
mod client;
mod conduct;
mod dice;
pub mod fleets;
mod job;
mod ledger;
mod log;
mod many;
mod network;
mod opening;
pub mod planted;
mod playing;
mod run;
mod scenario;
mod secrets;
mod service;
mod spoken;
mod store;
mod task;
mod weather;
mod world;

pub use conduct::MakeStore;
pub use many::{Many, many, many_over};
pub use scenario::Scenario;
pub use world::{Played, Tally, Violation};

/// A dialect that differs from the sandbox's own at random, as those of the worlds do.
#[must_use]
pub fn random_dialect(seed: u64) -> pg_model::Dialect {
    spoken::random_dialect(seed)
}

/// Runs a world to its end, or to the first violated check.
#[must_use]
pub fn play(scenario: Scenario) -> Played {
    playing::play(scenario, &conduct::Right)
}
