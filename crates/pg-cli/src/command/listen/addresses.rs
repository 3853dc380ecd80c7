//! The URLs for the service and for browsers.

use std::{collections::HashMap, io};

use pg_hyper::{Endpoint, EndpointPurpose, Receiver};
use serde_json::{Map, Value};
use sha2::{Digest, Sha512};

use crate::{failure::Failure, output};

/// The purpose of each URL: its name, and the parameter for it.
const KINDS: [(EndpointPurpose, &str, &str); 6] = [
    (EndpointPurpose::UpdaterCallback, "updaterCallback", "callbackUrl of token/requestAccountUpdater"),
    (EndpointPurpose::CheckoutCallback, "checkoutCallback", "callback_url of enterprise/gettoken"),
    (EndpointPurpose::CheckoutReturn, "checkoutReturn", "success_url of enterprise/gettoken"),
    (EndpointPurpose::CheckoutCancel, "checkoutCancel", "cancel_url of enterprise/gettoken"),
    (EndpointPurpose::CardForm, "cardForm", "nextPageUrl, currentPageUrl, errorPageUrl of the card form"),
    (EndpointPurpose::Challenge, "challenge", "returnUrl of transaction/initiate3DSecure…"),
];

/// The open addresses.
pub(super) struct Addresses {
    endpoints: Vec<(Endpoint, &'static str, &'static str)>,
    names: HashMap<String, &'static str>,
    token: String,
}

impl Addresses {
    /// Opens one address of each kind, or of each kind of callback. All are derived from one token: the same token
    /// gives the same addresses.
    ///
    /// # Errors
    /// If the token is invalid, or the system has no random bytes.
    pub(super) fn open(receiver: &Receiver, token: Option<&str>, only_callbacks: bool) -> Result<Self, Failure> {
        let unusable = |error: io::Error| Failure::misuse(format!("{error} (--token)"));
        // The token belongs to an address that is never published, so no published address reveals it.
        let unused = match token {
            Some(token) => receiver.reopen(EndpointPurpose::Challenge, token),
            None => receiver.open(EndpointPurpose::Challenge),
        };
        let unused = unused.map_err(unusable)?;
        receiver.close(&unused);
        let token = unused.token().to_owned();
        let open = |&(purpose, name, parameter): &(EndpointPurpose, &'static str, &'static str)| {
            let endpoint = receiver.reopen(purpose, &derived(&token, name)).map_err(unusable)?;
            Ok((endpoint, name, parameter))
        };
        let is_callback =
            |purpose| matches!(purpose, EndpointPurpose::UpdaterCallback | EndpointPurpose::CheckoutCallback);
        let kinds = KINDS.iter().filter(|(purpose, ..)| !only_callbacks || is_callback(*purpose));
        let endpoints = kinds.map(open).collect::<Result<Vec<_>, Failure>>()?;
        let names = endpoints.iter().map(|(endpoint, name, _)| (endpoint.token().to_owned(), *name)).collect();
        Ok(Self { endpoints, names, token })
    }

    /// Returns the name of each token's address.
    pub(super) fn names(&self) -> HashMap<String, &'static str> {
        self.names.clone()
    }

    /// Returns the name of the address with this token.
    pub(super) fn name(&self, token: &str) -> &'static str {
        self.names.get(token).copied().unwrap_or("unknown")
    }

    /// Returns the address with this name.
    pub(super) fn url(&self, name: &str) -> Option<&str> {
        self.endpoints.iter().find(|(_, known, _)| *known == name).map(|(endpoint, ..)| endpoint.url())
    }

    /// Prints the URLs for people; with `json`, prints them as the first line of output for programs.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub(super) fn tell(&self, json: bool) -> Result<(), Failure> {
        output::say("pg: listening until Ctrl-C; give these URLs to the service and its pages:");
        for (endpoint, _, parameter) in &self.endpoints {
            output::say(&format!("  {}  {parameter}", endpoint.url()));
        }
        output::say(&format!("pg: to get the same URLs next time: --token {}", self.token));
        if json {
            let urls =
                self.endpoints.iter().map(|(endpoint, name, _)| ((*name).to_owned(), Value::from(endpoint.url())));
            output::json(&serde_json::json!({ "addresses": urls.collect::<Map<_, _>>(), "token": self.token }))?;
        }
        Ok(())
    }
}

/// 128 bits of a hash.
fn derived(token: &str, name: &str) -> String {
    let hash = Sha512::new().chain_update("pg listen ").chain_update(token).chain_update(name).finalize();
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_token_makes_different_tokens_that_stay() {
        // printf 'pg listen 0123456789abcdef0123456789abcdefcardForm' | sha512sum | cut -c1-32
        let token = "0123456789abcdef0123456789abcdef";
        assert_eq!(derived(token, "cardForm"), "a664967bcc2b3de8722e33577edede0a");
        assert_ne!(derived(token, "challenge"), derived(token, "cardForm"));
    }
}
