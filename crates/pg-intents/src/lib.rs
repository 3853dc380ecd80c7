//! Charges that survive the server they began on.
//!
//! What this crate is: a store for the machines of [`pg_hyper`], one row an intent, and a [`Fleet`] of workers over it. A payment
//! that one server began is ended by any other; two servers that charge under one reference make one payment, and both
//! learn its outcome.
//!
//! What it is not: a general queue or workflow engine, and no consensus of its own. The database decides who works on what.
//!
//! ```no_run
//! use std::sync::Arc;
//! use pg_hyper::{Client, proto::{Account, model::{AuthCardKey, Currency, Item, Order}}};
//! use pg_intents::{Fleet, FleetPlan, PaymentOutcome, SqliteStore};
//!
//! # async fn pay(account: Account) -> Result<(), Box<dyn std::error::Error>> {
//! let store = Arc::new(SqliteStore::open("intents.sqlite")?);
//! let fleet = Fleet::new(Client::new(account)?, store, FleetPlan::new("shop-1")).await?;
//! // In every process: picks up what others have left behind.
//! let worker = fleet.clone();
//! tokio::spawn(async move { worker.run().await });
//!
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! match fleet.charge(AuthCardKey::new("card key", order)).await? {
//!     PaymentOutcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
//!     PaymentOutcome::Unknown { why, .. } => println!("not known yet: {why}"),
//!     other => println!("not paid: {other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Never stored: card numbers, CV2, passwords, API keys, SHA keys. A payment that holds card data is sent by the process that holds
//! it, and by no other; other workers look it up.
//!
//! # Features
//!
//! - `sqlite` (default): [`SqliteStore`], for the processes of one machine.
//! - `postgres`: `PostgresStore`, for many machines.
//! - `sealed`: `SealedStore`, which seals over either what is stored of a payment with a key of yours.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod conformance;
mod fleet;
mod fleet_error;
mod intent;
mod machines;
mod outcome;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "sealed")]
mod sealed;
#[cfg(feature = "sqlite")]
mod sqlite;
mod step;
mod store;
mod telemetry;
mod terms;

pub use fleet::{Fleet, FleetLimits, FleetPlan, LimitWait};
pub use fleet_error::FleetError;
pub use intent::{IntentEnd, IntentKey, IntentKind, IntentLease, IntentRest, IntentRow, IntentStatus, NewIntent};
pub use outcome::PaymentOutcome;
#[cfg(feature = "postgres")]
pub use postgres::{POSTGRES_MIGRATIONS, PostgresStore};
#[cfg(feature = "sealed")]
pub use sealed::{Resealed, SealKey, SealKeyError, SealedStore, Sealing};
#[cfg(feature = "sqlite")]
pub use sqlite::{SQLITE_MIGRATIONS, SqliteStore};
pub use step::{FleetEvent, FleetQuestion, FleetStep};
pub use store::{Begun, Claimed, Directive, EVENTS, IntentFilter, IntentStore, RewritableStore, ShareWish, StoreError};
pub use terms::Payment;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
