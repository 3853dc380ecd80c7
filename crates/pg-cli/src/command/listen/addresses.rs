//! The addresses that are told to the service and to browsers.

use std::{collections::HashMap, io};

use pg_hyper::{Endpoint, EndpointPurpose, Receiver};
use serde_json::{Map, Value};
use sha2::{Digest, Sha512};

use crate::{failure::Failure, output};

/// What each address is for: its name, and the parameter that it is given as.
const KINDS: [(EndpointPurpose, &str, &str); 6] = [
    (EndpointPurpose::UpdaterCallback, "updaterCallback", "callbackUrl of token/requestAccountUpdater"),
    (EndpointPurpose::CheckoutCallback, "checkoutCallback", "callback_url of enterprise/gettoken"),
    (EndpointPurpose::CheckoutReturn, "checkoutReturn", "success_url of enterprise/gettoken"),
    (EndpointPurpose::CheckoutCancel, "checkoutCancel", "cancel_url of enterprise/gettoken"),
    (EndpointPurpose::CardForm, "cardForm", "nextPageUrl, currentPageUrl, errorPageUrl of the card form"),
    (EndpointPurpose::Challenge, "challenge", "returnUrl of transaction/initiate3DSecure…"),
];

/// The addresses that are open.
pub(super) struct Addresses {
    endpoints: Vec<(Endpoint, &'static str, &'static str)>,
    names: HashMap<String, &'static str>,
    token: String,
}

impl Addresses {
    /// Opens one of each kind, all made of one token: the same one leads to the same addresses.
    ///
    /// # Errors
    /// When that is no token, or the system has no random bytes.
    pub(super) fn open(receiver: &Receiver, token: Option<&str>) -> Result<Self, Failure> {
        let unusable = |error: io::Error| Failure::misuse(format!("{error} (--token)"));
        // The token is that of an address nobody is told, so that an address tells nobody the token.
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
        let endpoints = KINDS.iter().map(open).collect::<Result<Vec<_>, Failure>>()?;
        let names = endpoints.iter().map(|(endpoint, name, _)| (endpoint.token().to_owned(), *name)).collect();
        Ok(Self { endpoints, names, token })
    }

    /// The name of the address with this token.
    pub(super) fn name(&self, token: &str) -> &'static str {
        self.names.get(token).copied().unwrap_or("unknown")
    }

    /// Tells people where to point what; with `json` the first line of output tells programs.
    ///
    /// # Errors
    /// When that can't be written.
    pub(super) fn tell(&self, json: bool) -> Result<(), Failure> {
        output::say("pg: listening, Ctrl-C ends it; give the service and its pages these addresses:");
        for (endpoint, _, parameter) in &self.endpoints {
            output::say(&format!("  {}  {parameter}", endpoint.url()));
        }
        output::say(&format!("pg: the same addresses next time: --token {}", self.token));
        if json {
            let urls =
                self.endpoints.iter().map(|(endpoint, name, _)| ((*name).to_owned(), Value::from(endpoint.url())));
            output::json(&serde_json::json!({ "addresses": urls.collect::<Map<_, _>>(), "token": self.token }))?;
        }
        Ok(())
    }
}

/// 128 bits that lead back to nothing.
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
