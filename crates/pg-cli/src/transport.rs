//! The transport of requests to services and sandboxes.

use std::{
    borrow::Cow,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use pg_hyper::{
    HyperTransport, Transport, TransportError, TransportErrorKind,
    proto::BaseUrl,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
};

use crate::{account::Details, argument, failure::Failure, redactor::Redactor};

/// The environment variable with a file of certificate authorities, which other programs use too.
const AUTHORITIES: &str = "SSL_CERT_FILE";
/// The environment variables that name a proxy for https to other programs.
const PROXIES: [&str; 2] = ["HTTPS_PROXY", "https_proxy"];

/// Returns a transport that trusts the authorities in the file of `SSL_CERT_FILE`. If the variable is not set, it
/// trusts the authorities that Mozilla trusts.
///
/// # Errors
/// If the file cannot be read, or contains no certificate authority.
pub(crate) fn transport(deadline: Duration) -> Result<HyperTransport, Failure> {
    let file = std::env::var_os(AUTHORITIES).filter(|file| !file.is_empty());
    let transport = match file {
        Some(file) => HyperTransport::with_tls(trusting(Path::new(&file))?),
        None => HyperTransport::new(),
    };
    Ok(transport.deadline(deadline))
}

/// The transport of an account. Its replies show neither the account's secrets nor those of the requests that were
/// sent. Clones share the secrets that they hide.
#[derive(Clone)]
pub(crate) struct RedactingTransport {
    http: HyperTransport,
    redactor: Arc<Mutex<Redactor>>,
}

impl RedactingTransport {
    /// Creates the [`transport`] of an account.
    ///
    /// # Errors
    /// As [`transport`].
    pub(crate) fn new(deadline: Duration, details: &Details) -> Result<Self, Failure> {
        Ok(Self { http: transport(deadline)?, redactor: Arc::new(Mutex::new(Redactor::of(details))) })
    }

    /// Returns a JSON text, such as decrypted data, without the secrets of the requests that were sent.
    pub(crate) fn redacted<'a>(&self, json: &'a str) -> Cow<'a, str> {
        self.redactor().json(json)
    }

    fn redactor(&self) -> MutexGuard<'_, Redactor> {
        self.redactor.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for RedactingTransport {
    async fn send(&self, request: Request<Bytes>) -> Result<Response<Bytes>, TransportError> {
        self.redactor().learn(&request);
        let reply = self.http.send(request).await?;
        Ok(self.redactor().reply(reply))
    }
}

/// Returns what to do about a server that was not reached, if a setting of the environment may help; otherwise nothing.
pub(crate) fn connection_advice(error: &TransportError) -> &'static str {
    let has_proxy = PROXIES.iter().any(|name| std::env::var_os(name).is_some_and(|proxy| !proxy.is_empty()));
    advice(error, has_proxy)
}

fn advice(error: &TransportError, has_proxy: bool) -> &'static str {
    let is_elsewhere = match error {
        TransportError::NotSent(TransportErrorKind::Connect { authority, .. }) => {
            !BaseUrl::parse(&format!("http://{authority}")).is_ok_and(|base| base.is_private())
        }
        error => matches!(error, TransportError::NotSent(TransportErrorKind::Deadline(_))),
    };
    if error.kind().is_unknown_issuer() {
        "; SSL_CERT_FILE names a PEM file with the authorities that pg trusts"
    } else if has_proxy && is_elsewhere && !error.kind().is_invalid_certificate() {
        "; pg connects directly, without the proxy that HTTPS_PROXY names"
    } else {
        ""
    }
}

fn trusting(file: &Path) -> Result<ClientConfig, Failure> {
    let failure = |problem: String| Failure::misuse(format!("{AUTHORITIES}: {}: {problem}", file.display()));
    let bytes = argument::read_certificates(file).map_err(|error| failure(error.to_string()))?;
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&bytes) {
        let certificate = certificate.map_err(|error| failure(error.to_string()))?;
        roots.add(certificate).map_err(|error| failure(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(failure("it contains no certificate in PEM form".to_owned()));
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| failure(error.to_string()))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_that_is_not_used_is_named_if_another_machine_is_not_reached() {
        let connect = |authority: &str| {
            TransportError::NotSent(TransportErrorKind::Connect {
                authority: authority.to_owned(),
                source: "connection refused".into(),
            })
        };
        for authority in ["gateway.example", "gateway.example:8443", "192.0.2.1:443"] {
            assert!(advice(&connect(authority), true).contains("HTTPS_PROXY"), "{authority}");
            assert_eq!(advice(&connect(authority), false), "");
        }
        // Without a proxy in between, a firewall drops what is sent.
        let deadline = TransportErrorKind::Deadline(Duration::from_secs(60));
        assert!(advice(&TransportError::NotSent(deadline), true).contains("HTTPS_PROXY"));
        for here in ["localhost:8480", "127.0.0.1:8480", "[::1]:8480"] {
            assert_eq!(advice(&connect(here), true), "", "{here}");
        }
        let reached = TransportErrorKind::Connection("it broke".into());
        assert_eq!(advice(&TransportError::MaybeSent(reached), true), "");
    }
}
