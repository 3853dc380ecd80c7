//! What the examples share: the shop that pays, the certificates that it trusts, and how a machine is driven.
//!
//! The examples themselves are the programs in `src/bin`, one for each runtime or HTTP library.

pub mod driving;
pub mod shop;
pub mod tls;

/// The Rust of the page, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/custom-runtime.md")]
struct Page;
