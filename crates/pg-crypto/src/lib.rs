//! Request signing and session-data encryption of the card payment service.
#![no_std]
extern crate alloc;

mod session;
mod sign;

pub use session::{
    DecryptError, EncryptError, IvFormat, KeyDerivation, KeyError, MAX_DATA_BYTES, MAX_PLAINTEXT_BYTES, Padding,
    Plaintext, SessionCipher, TextEncoding,
};
pub use sign::{
    ArrayMember, OrderedSigner, PiecewiseValue, ShaKey, Signature, SignatureFormatError, SignatureHex,
    SignatureMismatch, array_value, sign, verify,
};
