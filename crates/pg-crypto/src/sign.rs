//! Request signatures (spec 1 §5): signing, verifying and explaining.
//!
//! Names and values are signed byte for byte, before any URL-encoding (assumption A25).

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
