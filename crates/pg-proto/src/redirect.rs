//! The redirect that returns the customer's browser from the card form (spec 2 §4.2).

use pg_crypto::{DecryptError, DecryptProblem, KeyError, Plaintext, SessionCipher};
use pg_model::{DecodeError, RedirectData, ServiceError, decode_into};

use crate::Account;

#[cfg(test)]
mod timing;

/// The query that the service appended to an address of the merchant.
///
/// [`Account::redirect`] reads the address in one step. To use a [`SessionCipher`] with other settings, use two steps:
///
/// ```
/// use pg_proto::crypto::SessionCipher;
/// use pg_proto::{Redirect, RedirectError};
///
/// let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef").expect("32 characters");
/// let redirect = Redirect::parse("https://shop.example/review?order=7&formId=card&data=AAAA&iv=fedcba9876543210")?;
/// assert_eq!(redirect.form_id, "card");
/// // There is one error for everything that can be wrong with the data.
/// assert!(matches!(redirect.open(&cipher), Err(RedirectError::Unreadable(_))));
/// # Ok::<(), RedirectError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The name of the form, as the browser posted it.
    pub form_id: String,
    data: String,
    iv: String,
}

/// Unauthenticated data. It is encrypted but has no authentication code, so anyone who has the address can alter the
/// data. Use it to show a form again, never as proof of a card or a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthenticated<T>(T);

/// The content of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardFormResult {
    /// All fields were valid. The data is for a review page.
    Accepted(Unauthenticated<RedirectData>),
    /// Some fields are invalid: `errors` of the data lists them. Show the form again.
    Invalid(Unauthenticated<RedirectData>),
    /// The form could not be processed, for example because a required field was missing.
    Failed(Unauthenticated<ServiceError>),
}

/// Why a redirect cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectError {
    /// A parameter that every redirect has is missing.
    #[error("the address has no parameter {0}: not a card-form redirect URL")]
    Missing(&'static str),
    /// The API key does not fit the key derivation.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The key or `iv` is wrong, the data was altered, or the text is not valid XML or JSON. The error does not say
    /// which: an attacker who could distinguish the cases could decrypt the data. Developers can use
    /// [`Redirect::explain_locally`].
    #[error(transparent)]
    Unreadable(#[from] DecryptError),
}

/// What is wrong with a redirect's data, from [`Redirect::explain_locally`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectProblem {
    /// The data cannot be decrypted.
    #[error(transparent)]
    Decrypt(#[from] DecryptProblem),
    /// The data was decrypted, but is not valid XML or JSON.
    #[error("decrypted, but {0}")]
    Decode(#[from] DecodeError),
}

impl<T> Unauthenticated<T> {
    /// Returns the untrusted data.
    pub const fn get(&self) -> &T {
        &self.0
    }

    /// Returns the untrusted data.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redirect {
    /// Reads the parameters from an address, or from its query. If a name occurs twice, the last value counts, because
    /// the service appends to the merchant's address.
    ///
    /// # Errors
    ///
    /// [`RedirectError::Missing`] if `data` or `iv` is missing.
    pub fn parse(address: &str) -> Result<Self, RedirectError> {
        let bare = address.split('#').next().unwrap_or_default();
        let query = bare.split_once('?').map_or(bare, |(_, query)| query);
        let (mut form_id, mut data, mut iv) = (None, None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "formId" => form_id = Some(value.into_owned()),
                "data" => data = Some(value.into_owned()),
                "iv" => iv = Some(value.into_owned()),
                _ => {}
            }
        }
        Ok(Self {
            form_id: form_id.unwrap_or_default(),
            data: data.ok_or(RedirectError::Missing("data"))?,
            iv: iv.ok_or(RedirectError::Missing("iv"))?,
        })
    }

    /// Decrypts the data without parsing it. A program that then rejects the text reveals to an attacker that the
    /// padding was valid, if only by the time that it takes. [`open`](Self::open) does not reveal that.
    ///
    /// # Errors
    ///
    /// [`DecryptError`] if the data cannot be decrypted with this key.
    pub fn decrypt(&self, cipher: &SessionCipher) -> Result<Plaintext, DecryptError> {
        cipher.decrypt(&self.data, &self.iv)
    }

    /// Decrypts and reads the data.
    ///
    /// Invalid padding, bytes that are not UTF-8, and text that neither begins nor ends like XML or JSON are rejected
    /// after the same work; see [`SessionCipher::decrypt_and_read`].
    ///
    /// # Errors
    ///
    /// One error if the data cannot be decrypted with this key or the result cannot be read.
    pub fn open(&self, cipher: &SessionCipher) -> Result<CardFormResult, RedirectError> {
        let data = cipher.decrypt_and_read(&self.data, &self.iv, |text| {
            let mut data = RedirectData::default();
            decode_into(text, &mut data).is_ok().then_some(data)
        })?;
        Ok(if data.has_invalid_fields() {
            CardFormResult::Invalid(Unauthenticated(data))
        } else if data.has_failed() {
            CardFormResult::Failed(Unauthenticated(ServiceError::default().with(|record| {
                record.error_code = data.error_code;
                record.trace_code = data.trace_code;
                record.error_message = data.error_message;
                record.extra = data.extra;
            })))
        } else {
            CardFormResult::Accepted(Unauthenticated(data))
        })
    }
}

impl Redirect {
    /// Returns what prevents reading the data; `None` if nothing does.
    ///
    /// **This is a padding oracle** for use on a developer's own machine: see [`SessionCipher::explain_locally`]. Never
    /// call it for a request from outside.
    #[must_use]
    pub fn explain_locally(&self, cipher: &SessionCipher) -> Option<RedirectProblem> {
        if let Some(problem) = cipher.explain_locally(&self.data, &self.iv) {
            return Some(problem.into());
        }
        let text = self.decrypt(cipher).ok()?;
        decode_into(text.as_str().as_bytes(), &mut RedirectData::default()).err().map(RedirectProblem::from)
    }
}

impl Account {
    /// Reads the address to which the card form redirected, with the account's API key and dialect.
    ///
    /// # Errors
    ///
    /// [`RedirectError`] if the text is not such an address, or was not encrypted with this account's key.
    pub fn redirect(&self, address: &str) -> Result<CardFormResult, RedirectError> {
        Redirect::parse(address)?.open(&self.session_cipher()?)
    }
}
