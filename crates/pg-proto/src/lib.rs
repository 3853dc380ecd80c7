//! The protocol of a card payment service without I/O: typed request → `http::Request<Bytes>`, `http::Response<Bytes>`
//! → typed reply or error.
//!
//! This crate contains two pure functions for every method, and leaves the network between them to you. [`machine`]s
//! cover operations with more than one request, such as a payment that happens once whatever the network does. It also
//! has the card form and its redirect, and the callbacks of the account updater and of the hosted checkout. It works
//! with any runtime and HTTP library: `docs/guide/custom-runtime.md` goes from an empty folder to a payment, and
//! `tests/runtimes` has an example for each.
//!
//! It opens no connection, reads neither a clock nor random numbers, and starts no thread.
//!
//! Limits: one account is one environment, and version 5 replies are always XML. A request is checked completely before
//! it is built, and all broken rules are reported at once. [`Account::request_unchecked`] and [`RawRequest`] skip these
//! checks.
//!
//! No other crate is needed: the types of [`http`], [`bytes`], [`model`] and [`crypto`] are re-exported.
//!
//! ```
//! use pg_proto::{
//!     Account, BaseUrl, Credentials,
//!     bytes::Bytes,
//!     http,
//!     model::{AuthSessionKey, Currency, Encoding, Item, Order, Outcome},
//! };
//!
//! let account = Account::new(BaseUrl::parse("https://gateway.example")?, Credentials::new("key", "password", "sha key"))
//!     .encoding(Encoding::Json);
//! let order = Order::new(Currency::GBP).item(Item::new("Tea", 499).quantity(2)).unique_merchant_reference("order-7");
//! let auth = AuthSessionKey::new("0123456789abcdef0123456789abcdef", order);
//!
//! let request: http::Request<Bytes> = account.request(&auth)?;
//! assert_eq!(request.uri(), "https://gateway.example/v3/transaction/authSessionKey/json");
//! # let body = r#"{"transactionStatusCode":"600","transactionStatus":"Transaction approved","transactionType":"Auth","transactionKey":"0123456789abcdef0123456789abcdef"}"#;
//! # let response = http::Response::new(Bytes::from_static(body.as_bytes()));
//!
//! // Send it with any HTTP library; `response` is the reply.
//! match account.reply::<AuthSessionKey>(response)? {
//!     Outcome::Approved(paid) => println!("paid: {}", paid.transaction_key),
//!     Outcome::Declined(not) => println!("declined: {}", not.transaction_status),
//!     // Neither paid nor unpaid: keep the order open, and look it up or ask the operator. An account without a dialect has
//!     // this outcome for every decline too.
//!     Outcome::Other(open) => println!("outcome unknown: {}", open.transaction_status),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `dialect-file`: `Dialect::from_toml`, which reads a [`Dialect`](model::Dialect) from a file.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod account;
mod base_url;
mod callback;
mod card_form;
mod error;
mod form;
pub mod machine;
mod misuse;
mod preview;
mod raw;
mod redirect;
mod repeated;
mod reply;
mod request;
#[cfg(test)]
mod spoken;

pub use bytes;
pub use http;
pub use pg_crypto as crypto;
pub use pg_model as model;

pub use account::{Account, Credentials, EnterpriseCredentials};
pub use base_url::{BaseUrl, BaseUrlError, is_private};
pub use callback::{CallbackError, CallbackOutline, CheckoutHint, UpdaterHint};
pub use card_form::CardForm;
#[doc(hidden)]
pub use error::first_five;
pub use error::{Refused, ReplyError, Unreadable};
pub use misuse::Misuse;
pub use preview::{Preview, shown};
pub use raw::{RawRequest, parameters_of};
pub use redirect::{CardFormResult, Redirect, RedirectError, RedirectProblem, Unauthenticated};
