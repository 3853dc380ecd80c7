//! Shared parts of tests: signed forms, sample values, a merchant at a sandbox without a socket, free ports, dice, requests that two servers read differently,
//! programs of other languages, tests that are left out, and the events that a thread traces.

mod dice;
mod form;
mod left_out;
mod merchant_desk;
mod port;
mod sample;
mod smuggling;
mod tools;
mod traced;

pub use dice::Dice;
pub use form::{FORM, body_of, call, enterprise_form, payment, request, signed_form, with};
pub use left_out::left_out;
pub use merchant_desk::{MerchantDesk, element, header};
pub use port::free_port;
pub use sample::sample;
pub use smuggling::{Smuggled, smuggled};
pub use tools::installed;
pub use traced::traced_by;
