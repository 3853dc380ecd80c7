//! Endpoints, each with its purpose and a token that cannot be guessed.

use std::{
    collections::HashMap,
    fmt::{self, Write},
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// 128 bits.
const TOKEN_BYTES: usize = 16;

/// The purpose of an address: the request parameter that contains the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EndpointPurpose {
    /// `callbackUrl` of an account update.
    UpdaterCallback,
    /// `callback_url` of a checkout.
    CheckoutCallback,
    /// `success_url` of a checkout, to which the browser brings a `trans_key`.
    CheckoutReturn,
    /// `cancel_url` of a checkout.
    CheckoutCancel,
    /// `nextPageUrl`, `currentPageUrl` or `errorPageUrl` of a card form.
    CardForm,
    /// `returnUrl` of a 3-D Secure payment.
    Challenge,
}

/// An address of a [`Receiver`](super::Receiver). Its `Debug` does not show the token.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    token: String,
    url: String,
    purpose: EndpointPurpose,
}

impl Endpoint {
    /// Returns the address, which you pass to the service.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the token, which [`Received::token`](super::Received::token) repeats; 32 hexadecimal digits.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns its purpose.
    #[must_use]
    pub const fn purpose(&self) -> EndpointPurpose {
        self.purpose
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("purpose", &self.purpose).finish_non_exhaustive()
    }
}

/// The open addresses.
#[derive(Default)]
pub(super) struct Endpoints(Mutex<HashMap<String, EndpointPurpose>>);

impl Endpoints {
    pub(super) fn open(&self, token: String, purpose: EndpointPurpose, base: &str) -> Endpoint {
        self.lock().insert(token.clone(), purpose);
        Endpoint { url: format!("{base}/{token}"), token, purpose }
    }

    pub(super) fn close(&self, token: &str) {
        self.lock().remove(token);
    }

    /// Returns the token at the end of a path, and its purpose. A proxy may keep or remove the part before it.
    pub(super) fn at(&self, path: &str) -> Option<(String, EndpointPurpose)> {
        let token = path.rsplit('/').next()?;
        self.lock().get_key_value(token).map(|(token, purpose)| (token.clone(), *purpose))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, EndpointPurpose>> {
        // Code under the lock cannot leave it inconsistent.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Creates a new token.
#[expect(clippy::disallowed_methods, reason = "the receiver is where addresses become unguessable")]
pub(super) fn token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

pub(super) fn is_token(text: &str) -> bool {
    text.len() == 2 * TOKEN_BYTES && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_open_one_door_each() {
        let endpoints = Endpoints::default();
        let [one, other] = [token().unwrap(), token().unwrap()];
        assert!(is_token(&one) && is_token(&other) && one != other);
        let endpoint = endpoints.open(one.clone(), EndpointPurpose::Challenge, "https://shop.example/pg");
        assert_eq!(endpoint.url(), format!("https://shop.example/pg/{one}"));
        assert_eq!(format!("{endpoint:?}"), "Endpoint { purpose: Challenge, .. }");
        for path in [format!("/{one}"), format!("/pg/{one}")] {
            assert_eq!(endpoints.at(&path), Some((one.clone(), EndpointPurpose::Challenge)));
        }
        for path in [format!("/{other}"), format!("/{one}/"), format!("/{}", &one[..31]), "/".into(), String::new()] {
            assert_eq!(endpoints.at(&path), None, "{path}");
        }
        endpoints.close(endpoint.token());
        assert_eq!(endpoints.at(&format!("/{one}")), None);
    }

    #[test]
    fn only_tokens_are_tokens() {
        for text in [
            "",
            "0123456789abcdef0123456789abcde",
            "0123456789ABCDEF0123456789abcdef",
            "../3456789abcdef0123456789abcdef",
        ] {
            assert!(!is_token(text), "{text}");
        }
    }
}
