//! Callbacks of the account updater (spec 1 §6) and of the hosted checkout (spec 3 §6).

use bytes::Bytes;
use pg_model::{AccountUpdaterBatch, DecodeError, Record, RetrieveAccountUpdater, decode_into};

mod checkout;
mod fields;
mod outline;

pub use checkout::CheckoutHint;
pub use outline::CallbackOutline;

/// The content of an account updater callback. Callbacks are not signed and can be forged: treat one as a hint to
/// retrieve the batch (assumption A133).
///
/// ```
/// use pg_proto::{UpdaterHint, bytes::Bytes, http};
/// # let body = r#"{"batchKey":"0123456789abcdef0123456789abcdef","status":"700","message":"done","updatedCards":[]}"#;
///
/// // `body` is the body that was posted to the callback URL.
/// let request = http::Request::post("/updated").body(Bytes::from(body))?;
/// if let Ok(hint) = UpdaterHint::read(&request) {
///     // Ask the service whether the callback is true.
///     let _retrieve = hint.confirm();
/// }
/// # Ok::<(), http::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdaterHint {
    claimed: AccountUpdaterBatch,
}

/// Why a request is not a valid callback.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallbackError {
    /// A callback of the account updater is a POST.
    #[error("a callback must be a POST, not a {0}")]
    NotPost(http::Method),
    /// A callback of the hosted checkout is a POST or a GET.
    #[error("a checkout callback must be a POST or a GET, not a {0}")]
    NotGetOrPost(http::Method),
    /// The body cannot be read.
    #[error("the callback cannot be read: {0}")]
    Unreadable(#[from] DecodeError),
    /// A field that every such callback has is missing.
    #[error("the callback has no {0}")]
    Missing(&'static str),
    /// A field has a value that the service cannot send.
    #[error("the callback's {0} is invalid")]
    Invalid(&'static str),
}

impl UpdaterHint {
    /// Reads a callback in XML or JSON.
    ///
    /// # Errors
    ///
    /// [`CallbackError`] if the request is not a POST, or its body does not describe a batch.
    pub fn read(request: &http::Request<Bytes>) -> Result<Self, CallbackError> {
        if request.method() != http::Method::POST {
            return Err(CallbackError::NotPost(request.method().clone()));
        }
        let mut claimed = AccountUpdaterBatch::default();
        decode_into(request.body(), &mut claimed)?;
        match claimed.missing() {
            Some(field) => Err(CallbackError::Missing(field)),
            None => Ok(Self { claimed }),
        }
    }

    /// Returns the request that checks the callback.
    pub fn confirm(&self) -> RetrieveAccountUpdater {
        RetrieveAccountUpdater::new(&self.claimed.batch_key)
    }

    /// Returns the unconfirmed content. Do not use the content before it is confirmed.
    #[must_use]
    pub const fn claimed(&self) -> &AccountUpdaterBatch {
        &self.claimed
    }
}
