//! What tests of the sandbox share: signed forms, and a merchant at a sandbox without a socket.

mod form;
mod merchant_desk;

pub use form::{FORM, body_of, call, enterprise_form, request, signed_form, with};
pub use merchant_desk::{MerchantDesk, element, header};
