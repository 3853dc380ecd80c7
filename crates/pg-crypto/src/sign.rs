//! Request signatures (spec 1 §5): making, checking and explaining them.
//!
//! Names and values are signed as they are, byte for byte, before any URL-encoding (assumption 25).

mod array;
mod feed;
mod key;
mod order;
mod signature;
mod signer;

pub use array::{ArrayMember, array_value, form_arrays};
pub use key::ShaKey;
pub use signature::{Signature, SignatureFormatError, SignatureHex};
pub use signer::{OrderedSigner, PiecewiseValue, SignatureMismatch, sign, verify};

pub(crate) use order::{compare, in_order};
pub(crate) use signer::{SIGNATURE_NAME, is_signed};
