//! Tests of pages in a real browser: the merchant's card form, the challenge, the hosted checkout, the inspector.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod card_form;
mod challenge;
mod checkout;
mod decoder;
mod front_end;
mod gallery;
mod inspector;
mod leaving;
mod looks;
mod rehearsal;
mod scripts;
mod site;
