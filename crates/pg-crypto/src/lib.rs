//! Creates, checks and explains the request signatures of the card payment service, and decrypts its session data.
//!
//! # Limits, first
//!
//! - **Session data is unauthenticated.** The service encrypts it with AES-256-CBC and adds no authentication code
//!   (spec 2 §4.2), so an attacker who can alter a redirect can alter its content. Show it to the customer who typed
//!   it, and never take it as proof of a payment. Every decryption failure gives the same error after the same work,
//!   but a caller who answers failures and successes differently still tells an attacker which was which.
//!   [`SessionCipher::decrypt_and_read`] hides as much as possible.
//! - **An API key never belongs in a customer's browser or app.** The key opens the account and decrypts session data.
//!   This crate builds for WebAssembly because merchants run front-end *tiers* there: edge workers, back ends for front
//!   ends. Do not ship it to browsers with a key.
//! - **A signature proves that the sender knows the `shaKey`**, and covers only the parameters, not the path or the
//!   time. The construction is the service's own (spec 1 §5). Callbacks and replies carry none.
//! - The documents leave open how ties of names are ordered, how arrays are spelt, and how the key, the `iv`, the
//!   padding and the text form of session data look. Each function documents what it assumes; for session data the
//!   choices can be changed ([`SessionCipher`]).
//! - Session data of more than [`MAX_DATA_BYTES`] is refused. Parameters are bounded only by memory.
//! - Keys and plaintexts are wiped from memory when they are dropped, and so is what hashing and ciphers leave on the
//!   stack: an image of the process then holds none of them, which a test checks on Linux. A caller must wipe the
//!   copies that it makes. Comparison and padding checks take constant time; AES does where the processor has
//!   instructions for it, and elsewhere runs a bit-sliced implementation.
//!
//! # What it is
//!
//! `no_std` with `alloc`, for any target that has those: no clock, no randomness, no input or output.
//! - [`sign`], [`verify`], [`OrderedSigner`]: signatures, with no allocation;
//! - [`explain`], [`diagnose`]: how a signature is computed, and which mistake produces a different one;
//! - [`SessionCipher`]: the `data` and `iv` parameters of a redirect.
//!
//! It is not a client: the protocol crate has requests, replies and redirects as types.
//!
//! # Signing
//!
//! ```
//! use pg_crypto::{ShaKey, diagnose, explain, sign, verify};
//!
//! let key = ShaKey::new("the-sha-key");
//! let parameters = [
//!     ("cardNumber", "4111111111111111"),
//!     ("apiKey", "0123456789abcdef0123456789abcdef"),
//!     ("merchantReference", ""), // no value: not signed
//! ];
//! let signature = sign(&parameters, &key);
//! let digits = signature.hex(); // 128 of them, on the stack
//! assert!(verify(&parameters, &key, digits.as_str()).is_ok());
//!
//! let explanation = explain(&parameters, &key);
//! assert_eq!(explanation.pre_image(), "apiKey=****‹shaKey›cardNumber=411111******1111‹shaKey›");
//!
//! let theirs = sign(&parameters, &ShaKey::new("the-sha-key\n"));
//! assert_eq!(
//!     diagnose(&parameters, &key, theirs.hex().as_str()).to_string(),
//!     "the key has white space around it on one side only; check its source",
//! );
//! ```
//!
//! # Session data
//!
//! ```
//! use pg_crypto::{KeyDerivation, SessionCipher};
//!
//! let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef")?;
//! let plain = cipher.decrypt(
//!     "ksU9Rco/wf930lSpKRDR41Ko//Hqdzui4T6qYj8CC+fZEJGy+qC6wkYToNIIq+hJ",
//!     "fedcba9876543210",
//! )?;
//! assert_eq!(plain.as_str(), r#"{"cardNumber":"411111******1111","cardCV2":""}"#);
//! assert_eq!(format!("{plain:?}"), "Plaintext(46 bytes, unauthenticated)");
//!
//! // Where a key is derived in another way:
//! let other = SessionCipher::with_derivation("a key of any length", KeyDerivation::Sha256)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Dependencies
//!
//! The RustCrypto crates `sha2`, `aes` and `cbc`, with `base64`, `subtle` and `zeroize`. Errors are written out
//! by hand: a derive macro would add half as many crates again, and take longer to build than this one.
#![no_std]

extern crate alloc;

mod explain;
mod session;
mod sign;
mod stack;
#[cfg(test)]
mod texts;

pub use explain::{Diagnosis, DropReason, DroppedParameter, Explanation, Mistake, SignedParameter, diagnose, explain};
pub use session::{
    DecryptError, DecryptProblem, EncryptError, IvFormat, KeyDerivation, KeyError, MAX_DATA_BYTES, MAX_PLAINTEXT_BYTES,
    Padding, Plaintext, SessionCipher, TextEncoding, Wiped,
};
pub use sign::{
    ArrayMember, OrderedSigner, PiecewiseValue, ShaKey, Signature, SignatureFormatError, SignatureHex,
    SignatureMismatch, array_value, form_arrays, sign, verify,
};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
