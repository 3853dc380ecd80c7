//! The wire types of a card payment service: requests, replies, validators and code tables.
//!
//! This crate has the five APIs of the service as Rust types, generated from the tables in `tables/`, which contain
//! every parameter with its format, length and source. It checks requests, converts them to ordered parameters and
//! back, and reads and writes replies in XML and JSON.
//!
//! It neither signs nor sends requests, and uses no clock, socket or random numbers.
//!
//! Limits: lengths are counted in characters; a scalar of a reply that is empty, null or absent is read as an empty text;
//! replies nest at most 32 levels deep in XML and 128 in JSON. Without the default feature `xml` the crate is
//! `no_std` + `alloc`, and reads no XML with attributes or document types, which the documents never show. The feature
//! `serde` lets records and outcomes be serialised, with card numbers masked.
//!
//! ```
//! use pg_model::{AuthSessionKey, Currency, Item, ApiRequest, Order};
//!
//! let order = Order::new(Currency::GBP)
//!     .item(Item::new("Tea", 499).quantity(2))
//!     .unique_merchant_reference("order-7");
//! let auth = AuthSessionKey::new("0123456789abcdef0123456789abcdef", order);
//! assert!(auth.check().is_empty());
//!
//! let wrong = AuthSessionKey::new("", Order::new("pounds").item(Item::new("", 1)));
//! let names: Vec<_> = wrong.check().iter().map(|violation| violation.name.clone()).collect();
//! assert_eq!(names, ["sessionKey", "currency", "itemName0"]);
//! ```
//!
//! # Features
//!
//! - `xml` (default): XML with attributes and document types, which quick-xml reads. Needs std.
//! - `serde`: `Serialize` for records and outcomes, with card numbers masked.
//! - `dialect-file`: `Dialect::from_toml`. Needs std.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

extern crate alloc;

mod amount;
mod check;
mod cross;
mod decode;
mod decode_error;
pub mod dialect;
mod emit;
pub mod field;
pub mod format;
mod generated;
pub mod json;
pub mod mask;
pub mod method;
mod outcome;
mod parameters;
mod read;
mod record;
mod record_traits;
mod redirect_data;
mod remedy;
mod request_fields;
mod secret;
#[cfg(feature = "serde")]
mod serialize;
mod text;
mod twice;
mod value;
mod violation;
mod worth;
mod write;
pub mod xml;

/// The table of assumptions as TOML, which `pg-sandbox` shows.
#[doc(hidden)]
pub const ASSUMPTIONS: &str = include_str!("../tables/assumptions.toml");

pub use amount::{Amount, AmountError, Decimal};
pub use decode::{Encoding, EncodingError, decode, decode_as, decode_into, encode};
pub use decode_error::DecodeError;
pub use dialect::Dialect;
pub use emit::order_of_names;
pub use generated::{codes::*, groups::*, methods::*, records::*, situations::SITUATIONS, types::*};
pub use method::ApiRequest;
pub use outcome::{FromReply, Outcome, StatusMeaning, StatusRecord};
pub use parameters::{Named, NamedIter, ParameterSink, Parameters};
pub use record::{Keyed, ListShape, Record, RecordList, RecordMap, RecordWriter, Reply, Slot};
pub use remedy::Remedy;
pub use secret::{CardNumber, Cv2, Secret};
pub use text::Text;
pub use value::{Extra, Value};
pub use violation::{Rule, Violation, Violations};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
