//! An async client of a card payment service, over hyper or any transport of your own.
//!
//! [`Client::call`] sends a typed request and returns its typed reply. It adds to [`proto`] the parts that need a
//! socket: a pool of connections, TLS, a deadline and a limit for replies. Its errors distinguish *not sent*, *maybe
//! sent* and *outcome unknown*. [`Client::charge`] and similar methods drive the machines of [`proto::machine`], which
//! need more than one request. [`Receiver`] receives the callbacks and customers' returns for which the machines wait.
//! [`blocking`] has the same for programs without async.
//!
//! The client never sends a call twice and follows no redirect. Its only state is the pool and the throttle. Only
//! machines send a request again, within their promises: a charge only under the same `uniqueMerchantReference`, which
//! the service accepts once, and only after a lookup.
//!
//! Limits: it speaks HTTP/1.1 only, and uses no proxy. Addresses must be https, except on this machine, also over a
//! transport of your own. By default a request ends after 60 seconds, a reply has at most 16 MiB, and the client
//! sends 100 requests a minute, 5 at a time. Before its request, a call may [wait](ClientBuilder::longest_wait) two
//! minutes for the rate limit, and 5 seconds for each save of a [stored](ClientBuilder::store_throttle) throttle.
//! [`HyperTransport`] and the [`Receiver`] need a tokio runtime with I/O and timers. A client over another transport
//! needs no runtime; its machines need one only for the [`SystemClock`].
//!
//! The feature `tls`, on by default, provides https. Disable it (`default-features = false`) in a program that only
//! calls addresses on this machine, such as a test against a sandbox, or that has its own transport. Then fewer crates
//! are built; `docs/internals/performance.md` has both build times.
//!
//! ```no_run
//! use pg_hyper::{
//!     Client, DurableFile,
//!     proto::{
//!         Account, BaseUrl, Credentials,
//!         machine::charge::ChargeOutcome,
//!         model::{AuthSessionKey, Currency, Initiate, Item, Order},
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
//! let auth = AuthSessionKey::new(session.session_key, order);
//! // Whatever the network does and whenever the process ends, the order is charged at most once.
//! let file = DurableFile::new("order-7.json");
//! let charging = match file.saved()? {
//!     Some(saved) => client.resume_charge(&saved, Some(auth))?,
//!     None => client.charge(auth)?,
//! };
//! let charged = charging.store_in(file.clone()).await;
//! match &charged {
//!     ChargeOutcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
//!     // The order may have been paid: make this lookup later.
//!     ChargeOutcome::Unknown { reconcile, why } => println!("park the order: {why}, {reconcile:?}"),
//!     other => println!("not paid: {other:?}"),
//! }
//! // … record the outcome in the order, durably …
//! if !matches!(charged, ChargeOutcome::Unknown { .. }) {
//!     // After an unknown outcome, the state is kept, so that the next run looks the payment up.
//!     file.remove()?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Machines
//!
//! | | outcome | demands |
//! |---|---|---|
//! | [`client.charge(payment)?`](Client::charge) | [`ChargeOutcome`](proto::machine::charge::ChargeOutcome) | none |
//! | [`client.retry(request, bounds)?`](Client::retry) | [`RetryOutcome`](proto::machine::retry::RetryOutcome) | none |
//! | [`client.three_d_secure(initiation, plan)?`](Client::three_d_secure) | [`ThreeDSecureOutcome`](proto::machine::three_d_secure::ThreeDSecureOutcome) | send the customer to the challenge; decide whether to pay without liability shift |
//! | [`client.checkout(request, plan)?`](Client::checkout) | [`CheckoutOutcome`](proto::machine::checkout::CheckoutOutcome) | send the customer to the hosted page |
//! | [`client.update_accounts(plan, keys)?`](Client::update_accounts) | [`UpdateEvent::Ended`] | store its results |
//!
//! Each is a [`Drive`]; the last one wraps a drive. Nothing is sent before a drive is awaited. Await or
//! [run](Drive::run) a machine without demands. For a machine with demands, call [`next`](Drive::next) in a loop and
//! [answer](Drive::handle_input) each demand. Each future can be dropped and requested again. With
//! [`store`](Drive::store), a machine is saved before each request. Each machine has a method that resumes it. The
//! saved state says whether a request may have left, so a process can be killed at any moment.
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
//! assert!(matches!(error, Error::Unknown { .. }));
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
//! # Telemetry
//!
//! Names and units follow OpenTelemetry's semantic conventions where these have a name. Every call is a `tracing` span `pg.call` with the
//! fields `pg.service`, `pg.method`, `error.type` (`misuse`, `refused`, `unreadable`, `other_reply`, `not_sent`, `maybe_sent`, `unknown`, `stopped`,
//! `throttled`, `held_back`; none without an error), `pg.error.code` and `pg.trace.code`. Every machine is a span `pg.drive`. Every HTTP
//! request of either is a span `pg.send` with `url.path`, `http.request.method`, `server.address`, `http.response.status_code` and
//! `error.type` (a status of 400 or more, `not_sent`, `maybe_sent`); its failures are events of the target `pg.drive`.
//!
//! The duration of each HTTP request is an event of the target `pg.metrics`, level `TRACE`, in the form that the
//! metrics layer of `tracing-opentelemetry` reads: the histogram `http.client.request.duration` in seconds with the
//! attributes of the span and `server.port`.
//!
//! No other content of a request or a reply is ever recorded.
//!
//! # Features
//!
//! - `tls` (default): https. Without it only addresses on this machine can be called.
//! - `dialect-file`: `Dialect::from_toml`, which reads a [`Dialect`](proto::model::Dialect) from a file.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod alarm;
pub mod blocking;
mod client;
mod clock;
mod connection;
mod connector;
mod drive;
mod drive_error;
mod durable_file;
mod error;
mod held_body;
mod hyper_transport;
mod observation;
mod pool;
mod random;
mod receiver;
mod records;
mod scheduler;
mod shared_limit;
mod store;
mod transport;
mod transport_error;
mod turn;
mod virtual_clock;

pub use client::{Client, ClientBuilder};
pub use clock::{Clock, SystemClock};
pub use drive::{
    AccountUpdateDrive, ChargeDrive, CheckoutDrive, Drive, DriveStep, KeySource, RetryDrive, ThreeDSecureDrive,
    UpdateEvent,
};
pub use drive_error::DriveError;
pub use durable_file::DurableFile;
pub use error::Error;
pub use hyper_transport::HyperTransport;
pub use pg_connections::{BodyError, BodyPermit, ConnectionLimits, HeldBody};
pub use pg_proto as proto;
pub use receiver::{
    Endpoint, EndpointPurpose, GuardedBody, Notification, ReceiptHandle, Received, Receiver, ReceiverLimits,
    ReceiverService, serve_guarded, serve_guarded_until,
};
#[cfg(feature = "tls")]
pub use rustls;
pub use shared_limit::{LimitError, LimitFuture, RequestEnd, SharedLimit, SharedPermit};
pub use store::StoreError;
pub use transport::{TowerTransport, Transport};
pub use transport_error::{InsecureAddress, TransportError, TransportErrorKind};
pub use virtual_clock::VirtualClock;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
