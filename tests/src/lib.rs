//! Shared parts of the journeys: a running sandbox, a client of one of its accounts, and a customer's browser.

pub mod browser;
pub mod clocks;
pub mod cutting_proxy;
pub mod failing_store;
pub mod ledger;
pub mod package;
pub mod shop;
pub mod webdriver;

/// The Rust of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The Rust of the page about a first payment, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/first-payment.md")]
struct FirstPaymentPage;

/// The Rust of the page about a store of intents of one's own, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/own-store.md")]
struct OwnStorePage;

/// The Rust of the sandbox's page, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../docs/guide/sandbox.md")]
struct SandboxPage;
