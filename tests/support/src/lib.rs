//! Shared parts of tests: signed forms, a merchant at a sandbox without a socket, free ports, programs of other languages, and the
//! events that a thread traces.

mod form;
mod merchant_desk;
mod port;
mod tools;
mod traced;

pub use form::{FORM, body_of, call, enterprise_form, request, signed_form, with};
pub use merchant_desk::{MerchantDesk, element, header};
pub use port::free_port;
pub use tools::installed;
pub use traced::traced_by;
