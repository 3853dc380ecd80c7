//! The whole card payment service, stateful, on your machine.
//!
//! Limits: bodies of at most 1 MiB and 2,000 parameters, 1,024 connections (when all are in use, the connection that
//! was silent for longest is closed), one process per store file. Not for production, and not for real cards: its
//! credentials are public.
//!
//! The core is sans-IO: it takes requests and the time, and returns responses. A test can run a sandbox in its own
//! process, with its own clock and without a socket, as [`InProcess`]:
//!
//! ```
//! use std::time::Duration;
//!
//! use bytes::Bytes;
//! use http::{Request, StatusCode};
//! use pg_sandbox::{InProcess, Sandbox, Timestamp};
//!
//! let sandbox = InProcess::new(Sandbox::in_memory(), Timestamp::parse("2026-05-04T10:00:00Z")?);
//! let main = sandbox.merchant("main").expect("a built-in account");
//! assert_eq!(main.currencies, ["GBP", "EUR", "USD", "JPY", "BHD"]);
//!
//! let empty = Request::post("http://localhost/v3/session/initiate/json").body(Bytes::new())?;
//! assert_eq!(sandbox.send(empty)?.status(), StatusCode::BAD_REQUEST);
//!
//! sandbox.advance(Duration::from_secs(120));
//! let clock = sandbox.send(Request::get("http://localhost/_sandbox/clock").body(Bytes::new())?)?;
//! assert!(String::from_utf8_lossy(clock.body()).contains("2026-05-04T10:02:00Z"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`InProcess`] is a tower service, which `pg_hyper::TowerTransport` converts to a client's transport. [`Sandbox`]
//! itself takes the time with each call.
//!
//! [`Server`] is a thin HTTP server around it; acknowledged requests are durable:
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use pg_sandbox::{Config, Server};
//!
//! let server = Server::start(Config::default()).await?;
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//! server.shutdown().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Inside, one thread owns the core and its store. It takes the queued requests, answers each, writes the changes of
//! the successful ones, and commits once. A second thread sends the replies when the commit is on disk. Forms,
//! signatures and parameters are checked earlier, on the thread that reads the request.
//!
//! # Features
//!
//! - `postgres`: stores that several sandboxes share in one PostgreSQL database (`StoreChoice::Postgres`).

#![deny(missing_docs)]

// Hidden items are for the tests and benchmarks of this workspace, and are not stable.

mod accounts;
// The tests of the store compile an engine that is outside this crate.
#[cfg(test)]
extern crate self as pg_sandbox;

mod addresses;
mod assumption;
mod basis;
mod card_numbers;
pub mod cards;
mod certificate;
mod clock;
pub mod config_file;
mod config_file_error;
pub mod conformance;
mod dialect;
mod expiry;
mod extensions;
mod faults;
#[doc(hidden)]
pub mod form;
mod generated;
mod host_name;
mod html;
mod in_process;
mod inbound;
mod invented;
mod journal;
#[doc(hidden)]
pub mod key;
mod log;
pub mod merchants;
mod metrics;
mod name_hash;
mod open_error;
mod outgoing;
mod private_file;
mod recent_times;
#[doc(hidden)]
pub mod records;
mod route;
mod sandbox;
mod schedule;
pub mod secret;
mod secret_parameter;
pub mod sequence_diagram;
mod server;
mod service;
mod settings;
pub mod store;
mod timestamp;
#[doc(hidden)]
pub mod vault;
mod warning;

use generated::assumed;

pub use assumption::{ASSUMPTIONS, Assumption};
pub use certificate::{CertificateError, ServerCertificate};
pub use dialect::{READY, dialect};
pub use extensions::{Peer, ResponseDelivery};
pub use form::FormLimits;
pub use generated::codes;
pub use in_process::{InProcess, NoReply};
pub use log::Log;
pub use open_error::OpenError;
pub use outgoing::{Forbidden, Outgoing};
pub use pg_connections::ConnectionLimits;
pub use records::KINDS;
pub use sandbox::Sandbox;
#[cfg(feature = "postgres")]
pub use sandbox::{SharedStore, StoreKey};
pub use server::{Config, Server, StartError, StoreChoice};
pub use settings::{ControlAccess, DecoderPackage, OutgoingAccess, Settings};
pub use store::StoreError;
pub use timestamp::{NotATimestamp, Timestamp};
pub use vault::KeyFileError;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
