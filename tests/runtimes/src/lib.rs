//! Shared parts of the examples: the shop that pays, the certificates that it trusts, and the driver of a machine.
//!
//! The examples themselves are the programs in `src/bin`, one for each runtime or HTTP library.

pub mod driving;
pub mod keeping;
pub mod shop;
pub mod tls;

/// Compiles the Rust code blocks of the page.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/custom-runtime.md")]
struct Page;
