//! An async client of a card payment service, over hyper or any transport of your own.
//!
//! What this crate is: [`Client::call`] takes a typed request over the network and brings its typed reply back. It adds
//! to [`proto`] what needs a socket: a pool of connections, TLS, one total deadline, a limit for replies; and it keeps
//! *not sent*, *maybe sent* and *outcome unknown* apart.
//!
//! What it is not: it never sends anything a second time, follows no redirect, and holds no state but its pool.
//!
//! Limits: HTTP/1.1 only. Addresses have to be https, except for this machine's own. By default a call ends after 60
//! seconds, and a reply may have 16 MiB. [`Hyper`] needs a tokio runtime with its I/O and timers on; a client over
//! another transport needs none.
//!
//! ```no_run
//! use pg_hyper::{
//!     Client, Error,
//!     proto::{
//!         Account, BaseUrl, Credentials,
//!         model::{AuthSessionKey, Currency, Initiate, Item, Order, Outcome},
//!     },
//! };
//!
//! # async fn pay() -> Result<(), Box<dyn std::error::Error>> {
//! let credentials = Credentials::new("api key", "api password", "sha key");
//! let client = Client::new(Account::new(BaseUrl::parse("https://gateway.example")?, credentials))?;
//!
//! let session = client.call(&Initiate::new("https://shop.example/card-error")).await?;
//! // … the customer's browser posts the card form of the session …
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! match client.call(&AuthSessionKey::new(session.session_key, order)).await {
//!     Ok(Outcome::Approved(paid)) => println!("paid: {}", paid.transaction_key),
//!     Ok(Outcome::Declined(not) | Outcome::Other(not)) => println!("not paid: {}", not.transaction_status),
//!     // It may have been paid: this lookup, made later, tells.
//!     Err(Error::Unknown { reconcile: Some(lookup), .. }) => println!("park the order: {lookup:?}"),
//!     Err(error) => println!("{error}"),
//! }
//! # Ok(())
//! # }
//! ```
//!
//! In a test the network can be a closure:
//!
//! ```
//! use bytes::Bytes;
//! use pg_hyper::{
//!     Client, Error, TransportError,
//!     proto::{
//!         Account, BaseUrl, Credentials,
//!         model::{Currency, AuthSessionKey, Item, Order},
//!     },
//! };
//!
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"));
//! let client = Client::with_transport(account, |_: http::Request<Bytes>| async {
//!     Err::<http::Response<Bytes>, _>(TransportError::maybe_sent("the cable was cut"))
//! });
//!
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499)).unique_merchant_reference("order-7");
//! let error = client.call(&AuthSessionKey::new("0123456789abcdef0123456789abcdef", order)).await.unwrap_err();
//! assert!(matches!(error, Error::Unknown { reconcile: Some(_), .. }));
//! assert_eq!(
//!     error.to_string(),
//!     "outcome unknown, look it up next (transaction/lookup uniqueMerchantReference=order-7): \
//!      maybe sent: the cable was cut"
//! );
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every call is a `tracing` span named `pg.call` with the fields `service`, `method`, `http.status`, `duration.us`,
//! `outcome` (`ok`, `misuse`, `refused`, `unreadable`, `not sent`, `maybe sent`, `unknown`), `error.code` and
//! `trace.code`. Nothing that a request or a reply holds beyond these codes is ever recorded.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod client;
mod connection;
mod drive;
mod error;
mod held_body;
mod hyper_transport;
mod insecure;
mod observation;
mod pool;
mod receiver;
mod reference;
mod transport;
mod transport_error;

pub use client::Client;
pub use drive::{
    Charging, CheckingOut, Clock, Drive, KeySource, Next, Retrying, Securing, StoreError, SystemClock, Trouble, Update,
    Updating,
};
pub use error::Error;
pub use hyper_transport::Hyper;
pub use insecure::InsecureAddress;
pub use pg_proto as proto;
pub use receiver::{Door, News, Purpose, Received, Receiver, ReceiverLimits};
pub use rustls;
pub use transport::{TowerTransport, Transport};
pub use transport_error::{Fault, TransportError};
