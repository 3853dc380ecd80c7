//! Session data of redirects (spec 2 §4.2): decryption, and encryption as the service does it.

mod cipher;
#[cfg(any(test, target_arch = "wasm32"))]
mod compact_base64;
mod derivation;
mod error;
mod gate;
mod hex;
mod iv;
mod padding;
mod plaintext;
mod problem;
#[cfg(test)]
mod tests;
mod text;
mod wiped;

pub use cipher::{MAX_PLAINTEXT_BYTES, SessionCipher};
pub use derivation::KeyDerivation;
pub use error::{DecryptError, EncryptError, KeyError};
pub use iv::IvFormat;
pub use padding::Padding;
pub use plaintext::Plaintext;
pub use problem::{DecryptProblem, MAX_DATA_BYTES};
pub use text::TextEncoding;
pub use wiped::Wiped;
