//! Request signing and session-data encryption of the card payment service.
#![no_std]
extern crate alloc;

mod sign;

pub use sign::{
    ArrayMember, OrderedSigner, PiecewiseValue, ShaKey, Signature, SignatureFormatError, SignatureHex,
    SignatureMismatch, array_value, sign, verify,
};
