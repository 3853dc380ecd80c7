//! Rehearsal of a payment integration: tests any program that charges through the service against faults that lose
//! money, and judges the program by the ledger of the [sandbox](pg_sandbox).
//!
//! Limits: the integration runs on this machine; HTTP jobs are called without TLS; an adapter's output is read up to 1 MiB.
//! It is not a load test and not a penetration test of a live shop.
//!
//! A [`Plan`] says how to run the integration. Each [`Drill`] starts its own sandbox, injects faults on the wire to it,
//! runs a job of the integration, and compares its claim with the ledger and with the requests that arrived. A
//! [`Report`] has a verdict and a timeline for each drill.
//!
//! ```
//! use pg_rehearse::Plan;
//!
//! let plan = Plan::parse("[jobs.charge]\ncommand = [\"python3\", \"pay.py\"]\n", std::path::Path::new("."))?;
//! assert_eq!(plan.timeout.as_secs(), 20);
//! let mistake = Plan::parse("[jobs.chrage]\ncommand = [\"true\"]\n", std::path::Path::new(".")).unwrap_err();
//! assert_eq!(mistake.to_string(), "line 1, column 7: job chrage is unknown; did you mean charge?");
//! assert!(pg_rehearse::drills().count() >= 60);
//! # Ok::<(), pg_rehearse::PlanError>(())
//! ```

#![deny(missing_docs)]

mod adapter;
mod books;
mod catalogue;
mod certificates;
mod clock;
mod cv2;
mod dice;
mod disguise;
mod drill;
mod finding;
mod house;
mod init;
mod judge;
mod marks;
mod nearest;
mod plan;
mod report;
mod run;
mod shop;
mod stage;
mod story;
mod wire;

pub use catalogue::drills;
pub use drill::{Drill, Family, Severity};
pub use finding::{Event, Finding, Lane, Verdict};
pub use init::{InitError, Language, Written, init, page};
pub use plan::{Job, Plan, PlanError};
pub use report::{Outcome, Report, Summary};
pub use run::{Cancelled, Options, RunError, run};
