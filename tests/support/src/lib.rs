//! Shared parts of tests: signed forms, a merchant at a sandbox without a socket, free ports, requests that two servers read differently,
//! programs of other languages, and the events that a thread traces.

mod form;
mod merchant_desk;
mod port;
mod smuggling;
mod tools;
mod traced;

pub use form::{FORM, body_of, call, enterprise_form, request, signed_form, with};
pub use merchant_desk::{MerchantDesk, element, header};
pub use port::free_port;
pub use smuggling::{Smuggled, smuggled};
pub use tools::installed;
pub use traced::traced_by;
