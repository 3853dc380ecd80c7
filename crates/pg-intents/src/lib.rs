//! Payments that survive the crash of a server: any other server can finish them.
//!
//! What this crate is: a store for the machines of [`pg_hyper`], with one row per intent, and a [`Fleet`] of workers
//! over it. Any server can finish a payment that another server has begun. Two servers that charge under one reference
//! make one payment, and both get its outcome.
//!
//! What it is not: a general queue or workflow engine. It has no consensus of its own: the database decides which worker has which
//! intent.
//!
//! ```no_run
//! use std::sync::Arc;
//! use pg_hyper::{Client, proto::{Account, model::{AuthCardKey, Currency, Item, Order}}};
//! use pg_intents::{Fleet, FleetPlan, PaymentOutcome, SqliteStore};
//!
//! # async fn pay(account: Account) -> Result<(), Box<dyn std::error::Error>> {
//! let account = account.identity("shop-uk"); // its name in the store: never change it
//! let store = Arc::new(SqliteStore::open("intents.sqlite")?);
//! let fleet = Fleet::new(Client::new(account)?, store, FleetPlan::new("shop-1")).await?;
//! // In every process: picks up the payments that other processes have abandoned.
//! let worker = fleet.clone();
//! tokio::spawn(async move { worker.run().await });
//!
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! match fleet.charge(AuthCardKey::new("card key", order)).await? {
//!     PaymentOutcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
//!     PaymentOutcome::PaidOnPage { trans_key } => println!("paid on the hosted page: {trans_key}"),
//!     PaymentOutcome::Unknown { why, .. } => println!("outcome unknown: {why}"),
//!     other => println!("not paid: {other:?}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Card numbers, CV2, passwords, API keys and SHA keys are never stored. Only the process that got the card data sends
//! a payment with it; other workers look that payment up.
//!
//! # Features
//!
//! - `sqlite` (default): [`SqliteStore`], for the processes of one machine.
//! - `postgres`: `PostgresStore`, for many machines.
//! - `sealed`: `SealedStore`, which encrypts stored payments with your own key, over either store.

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
pub use fleet_error::{FleetError, FleetStartError};
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
pub use terms::{Payment, PaymentOperation};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
