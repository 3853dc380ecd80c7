//! Surveys a card payment service: finds out, with harmless requests, what the service does where its documents leave
//! something open. The answers form a [dialect](pg_proto::model::Dialect).
//!
//! Input: an account of a staging environment, options, a seed; then replies and the time. Output: a [`Plan`] before
//! anything is sent, requests one at a time, and at the end a [`Report`] with the dialect. Like the machines of
//! [`pg_proto::machine`], a [`Survey`] opens no connection and reads no clock.
//!
//! # Promises
//!
//! - **Nothing is charged** unless [`Options::payments`] is set. Without it, requests only read, name things that do
//!   not exist, or are invalid. Sessions are the exception: an empty session does nothing and expires after half an
//!   hour (spec 2 §3.1).
//! - **No lockout.** All requests go one at a time through the account's [throttle](pg_proto::machine::throttle). The
//!   survey stops at once when the service refuses the valid credentials. Requests whose credentials a service may fail
//!   to read come last, and end with the first request that is refused for its credentials. One request with a wrong
//!   password is sent only with [`Options::wrong_password`].
//! - **A new error code counts only after a control request has succeeded.** If the control request fails as well, the
//!   code is about the account or the service, for example a rate limit, and not about the surveyed request.
//! - **The dialect says only what was seen.** No request can prove what an error code says about other copies of a
//!   request, or whether a lookup finds every payment at once. These points remain open, and the report names the
//!   question for the operator.
//!
//! # Example
//!
//! ```
//! use pg_proto::{Account, BaseUrl, Credentials};
//! use pg_survey::{Options, Survey};
//!
//! let account = Account::new(BaseUrl::parse("https://staging.example")?, Credentials::new("key", "password", "sha key"));
//! let survey = Survey::new(&account, Options::default(), 7);
//! let plan = survey.plan();
//! assert_eq!(plan.probes[0].request, "POST session/initiate");
//! assert!(plan.probes.iter().all(|probe| !probe.cost.is_money()));
//! # Ok::<(), pg_proto::BaseUrlError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod answer;
mod build;
mod cards;
mod confirmation;
mod dialect;
mod notes;
mod options;
mod plan;
mod point;
mod probe;
mod probes;
mod reading;
mod report;
mod session_data;
mod survey;

pub use answer::Evidence;
pub use cards::{Card, CardError, Cards, Role};
pub use options::Options;
pub use plan::{Plan, Planned};
pub use point::{Point, Seen, points};
pub use probe::Cost;
pub use report::{Conclusion, Confidence, Ending, Finding, Report, UnusableCard};
pub use survey::{Progress, Survey};
