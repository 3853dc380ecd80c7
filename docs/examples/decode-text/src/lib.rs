//! Turns the redirect of a card form into its text, with `pg-crypto` and no other crate of this project.
//!
//! For tiers that read XML or JSON themselves. The crate needs only an allocator: it runs on an edge worker, a server
//! or a microcontroller. Never put it, with a key, where a customer can reach it.
//!
//! ```
//! let address = "https://shop.example/review?order=7&formId=card\
//!     &data=ksU9Rco%2Fwf930lSpKRDR41Ko%2F%2FHqdzui4T6qYj8CC%2BfZEJGy%2BqC6wkYToNIIq%2BhJ&iv=fedcba9876543210";
//! let text = decode_text::decode(address, "0123456789abcdef0123456789abcdef")?;
//! assert_eq!(text.as_str(), r#"{"cardNumber":"411111******1111","cardCV2":""}"#);
//! # Ok::<(), decode_text::Problem>(())
//! ```
#![no_std]

use pg_crypto::{KeyError, Plaintext, SessionCipher};

/// The reason why there is no text.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// The API key does not fit its derivation: a mistake in the configuration of this program, whatever the address
    /// is.
    Key(KeyError),
    /// Every other failure. The error deliberately says no more: an attacker who could tell invalid padding from
    /// invalid text could read the data.
    Unreadable,
}

/// Decrypts the data in the address. The text is wiped on drop. It is not authenticated: anyone who has seen the
/// address may have altered it.
///
/// # Errors
/// [`Problem`].
pub fn decode(address: &str, api_key: &str) -> Result<Plaintext, Problem> {
    let cipher = SessionCipher::new(api_key).map_err(Problem::Key)?;
    let bare = address.split('#').next().unwrap_or_default();
    let query = bare.split_once('?').map_or(bare, |(_, query)| query);
    // The service appends its parameters to those of the address, so the last parameter of a name counts.
    let last = |name| form_urlencoded::parse(query.as_bytes()).filter(|pair| pair.0 == name).last();
    let (Some((_, data)), Some((_, iv))) = (last("data"), last("iv")) else { return Err(Problem::Unreadable) };
    cipher.decrypt(&data, &iv).map_err(|_| Problem::Unreadable)
}
