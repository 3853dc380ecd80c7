//! The session-data decoder of the card payment service, for a JavaScript front-end *tier*: an edge worker, a back end
//! for a front end, a server that renders pages.
//!
//! # Limits, first
//!
//! - **Never in a customer's browser.** The key that decrypts is the merchant's API key.
//! - **The decoded data is unauthenticated** (spec 2 §4.2): good for showing a form again, never proof of a payment.
//! - Every failure to read a redirect gives the same result.
//! - Data of more than [`pg_crypto::MAX_DATA_BYTES`] is refused.
//!
//! # What it is
//!
//! The compiled half of the package that `cargo xtask wasm` writes into `target/pg-wasm/`; the other half is the
//! JavaScript in `package/`, which parses the address, passes bytes in and out, and contains the public function
//! `decodeRedirect`. Rust programs use `pg_crypto` and `pg_model` directly, or `pg_proto::Redirect`.
//!
//! The module imports nothing: it has no clock, no network and no random numbers. Its allocator overwrites every block
//! that is freed, so that neither the key nor the plaintext outlives a call in its memory; the stack is overwritten by
//! the JavaScript.
//!
//! ```
//! use pg_wasm::{Choices, Decoded, decode};
//!
//! let decoded = decode(
//!     b"0123456789abcdef0123456789abcdef",
//!     &Choices::default(),
//!     "ksU9Rco/wf930lSpKRDR41Ko//Hqdzui4T6qYj8CC+fZEJGy+qC6wkYToNIIq+hJ",
//!     "fedcba9876543210",
//! )?;
//! let Decoded::Accepted(json) = decoded else { panic!("{decoded:?}") };
//! assert!(json.contains("\"cardNumber\":\"411111******1111\""));
//! # Ok::<(), pg_wasm::KeyProblem>(())
//! ```
#![cfg_attr(target_arch = "wasm32", no_std)]

extern crate alloc;

mod answer;
mod choices;
mod decode;
#[cfg(target_arch = "wasm32")]
mod exports;
#[cfg(target_arch = "wasm32")]
mod runtime;

pub use choices::Choices;
pub use decode::{Decoded, KeyProblem, decode};
