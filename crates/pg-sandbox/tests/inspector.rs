//! The inspector as a developer's browser meets it: through pages and forms alone.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic, also in the functions that it calls")]

mod access;
mod accounts;
mod buttons;
mod canaries;
mod decoder;
mod journey;
mod lists;
mod pages;
mod search;
mod shop;
