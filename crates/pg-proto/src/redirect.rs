//! The redirect that brings the customer's browser back from the card form (spec 2 §4.2).

use pg_crypto::{DecryptError, DecryptProblem, KeyError, Plaintext, SessionCipher};
use pg_model::{DecodeError, RedirectData, ServiceError, decode_into};

use crate::Account;

#[cfg(test)]
mod timing;

/// The query that the service appended to an address of the merchant.
///
/// [`Account::redirect`] goes from the address to what it says in one step. With a [`SessionCipher`] of one's own, for other
/// choices than the usual, it is two:
///
/// ```
/// use pg_proto::crypto::SessionCipher;
/// use pg_proto::{Redirect, RedirectError};
///
/// let cipher = SessionCipher::new("0123456789abcdef0123456789abcdef").expect("32 characters");
/// let redirect = Redirect::parse("https://shop.example/review?order=7&formId=card&data=AAAA&iv=fedcba9876543210")?;
/// assert_eq!(redirect.form_id, "card");
/// // One error for everything that can be wrong with the data.
/// assert!(matches!(redirect.open(&cipher), Err(RedirectError::Unreadable(_))));
/// # Ok::<(), RedirectError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The form's name, as it was posted.
    pub form_id: String,
    data: String,
    iv: String,
}

/// Unauthenticated data: it is encrypted, but carries no authentication code, and anyone who can open the address
/// can alter it. Good for showing a form again; never proof of a card or of a payment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unauthenticated<T>(T);

/// What a redirect says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CardFormResult {
    /// Everything was valid; the data is for a review page.
    Accepted(Unauthenticated<RedirectData>),
    /// Some fields are invalid: `errors` of the data names them. The form has to be shown again.
    Invalid(Unauthenticated<RedirectData>),
    /// The form could not be processed, for example because a required field was missing.
    Failed(Unauthenticated<ServiceError>),
}

/// Why a redirect can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectError {
    /// A parameter that every redirect has is missing.
    #[error("the address has no parameter {0}: not a card-form redirect URL")]
    Missing(&'static str),
    /// The API key makes no key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Wrong key or `iv`, altered data, or a text that is neither XML nor JSON as documented. Which of them is not said:
    /// an attacker who could tell them apart could decrypt the data. [`Redirect::explain_locally`] is for developers.
    #[error(transparent)]
    Unreadable(#[from] DecryptError),
}

/// What is wrong with a redirect's data, as [`Redirect::explain_locally`] says it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedirectProblem {
    /// It cannot be decrypted.
    #[error(transparent)]
    Decrypt(#[from] DecryptProblem),
    /// It was decrypted and is neither XML nor JSON as documented.
    #[error("decrypted, but {0}")]
    Decode(#[from] DecodeError),
}

impl<T> Unauthenticated<T> {
    /// The data, to be shown and not to be trusted.
    pub const fn get(&self) -> &T {
        &self.0
    }

    /// The data, to be shown and not to be trusted.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl Redirect {
    /// Takes the parameters from an address, or from its query alone. Of a name that occurs twice the last one counts,
    /// since the service appends to what the merchant's address had.
    ///
    /// # Errors
    /// When `data` or `iv` is missing.
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

    /// Decrypts the data and leaves it as the text that it is. A program that refuses that text tells an attacker,
    /// if only by the time that it took, that the padding was right; [`open`](Self::open) does not.
    ///
    /// # Errors
    /// When it can't be decrypted with this key.
    pub fn decrypt(&self, cipher: &SessionCipher) -> Result<Plaintext, DecryptError> {
        cipher.decrypt(&self.data, &self.iv)
    }

    /// Decrypts and reads the data.
    ///
    /// Wrong padding, bytes that are no text, and text that neither begins nor ends like XML or JSON are refused after the
    /// same work; see [`SessionCipher::decrypt_and_read`].
    ///
    /// # Errors
    /// When it can't be decrypted with this key, or what comes out can't be read: one error for both.
    pub fn open(&self, cipher: &SessionCipher) -> Result<CardFormResult, RedirectError> {
        let data = cipher.decrypt_and_read(&self.data, &self.iv, |text| {
            let mut data = RedirectData::default();
            decode_into(text, &mut data).is_ok().then_some(data)
        })?;
        Ok(if !data.errors.is_empty() {
            CardFormResult::Invalid(Unauthenticated(data))
        } else if !data.error_code.is_empty() {
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
    /// Says what keeps the data from being read; `None` if nothing does.
    ///
    /// **This is a padding oracle**, for a developer's own machine: see [`SessionCipher::explain_locally`]. Never call it
    /// where a request from outside can lead to it.
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
    /// Reads the address that the card form led back to, with the account's API key and the usual choices of the cipher.
    ///
    /// # Errors
    /// When it is no such address, or was not encrypted with this account's key.
    pub fn redirect(&self, address: &str) -> Result<CardFormResult, RedirectError> {
        Redirect::parse(address)?.open(&self.session_cipher()?)
    }
}
