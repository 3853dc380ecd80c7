//! Turns the redirect of a card form into a typed record: `pg-crypto` decrypts it, `pg-model` reads it, whether it is
//! XML or JSON.
//!
//! The crate needs an allocator but not the standard library. With the standard library and `pg-proto`, use
//! `Account::redirect` instead.
//!
//! ```
//! use decode_record::{Returned, decode};
//!
//! let address = "https://shop.example/review?order=7&formId=card\
//!     &data=ksU9Rco%2Fwf930lSpKRDR41Ko%2F%2FHqdzui4T6qYj8CC%2BfZEJGy%2BqC6wkYToNIIq%2BhJ&iv=fedcba9876543210";
//! match decode(address, "0123456789abcdef0123456789abcdef")? {
//!     Returned::Accepted(data) => assert_eq!(data.card_number.expose(), "411111******1111"),
//!     Returned::Invalid(data) => println!("show the form again: {:?}", data.errors),
//!     Returned::Failed(error) => println!("start again: {}", error.error_code),
//! }
//! # Ok::<(), decode_record::Problem>(())
//! ```
#![no_std]

use pg_crypto::{KeyError, SessionCipher};
use pg_model::{RedirectData, decode_into};

/// The data of the redirect. It is not authenticated: anyone who has seen the URL may have altered it. Show it on a
/// review page, but never take it as proof of a card or of a payment.
#[derive(Debug)]
pub enum Returned {
    /// All fields were valid.
    Accepted(RedirectData),
    /// Some fields are invalid: `errors` names them, or `extra` has errors of another shape.
    Invalid(RedirectData),
    /// The form could not be processed: `error_code`, `trace_code`, `error_message`.
    Failed(RedirectData),
}

/// The reason why nothing was read.
#[derive(Debug, PartialEq, Eq)]
pub enum Problem {
    /// The API key does not fit its derivation: a mistake in the configuration of this program, whatever the address
    /// is.
    Key(KeyError),
    /// Every other failure. The error deliberately says no more: an attacker who could tell invalid padding from
    /// invalid text could read the data.
    Unreadable,
}

/// Decrypts and reads the data in the address.
///
/// # Errors
/// [`Problem`].
pub fn decode(address: &str, api_key: &str) -> Result<Returned, Problem> {
    let cipher = SessionCipher::new(api_key).map_err(Problem::Key)?;
    let data = record(&cipher, address).ok_or(Problem::Unreadable)?;
    // `errors` and `error_code` may be empty although the service sent errors: in a form that the documents do not show.
    Ok(if data.has_invalid_fields() {
        Returned::Invalid(data)
    } else if data.has_failed() {
        Returned::Failed(data)
    } else {
        Returned::Accepted(data)
    })
}

fn record(cipher: &SessionCipher, address: &str) -> Option<RedirectData> {
    let bare = address.split('#').next()?;
    let query = bare.split_once('?').map_or(bare, |(_, query)| query);
    // The service appends its parameters to those of the address, so the last parameter of a name counts.
    let last = |name| form_urlencoded::parse(query.as_bytes()).filter(|pair| pair.0 == name).last();
    let ((_, data), (_, iv)) = (last("data")?, last("iv")?);
    // Refuses invalid padding and invalid text with the same work, so that the time reveals as little as the answer.
    let record = cipher.decrypt_and_read(&data, &iv, |text| {
        let mut record = RedirectData::default();
        decode_into(text, &mut record).is_ok().then_some(record)
    });
    record.ok()
}
