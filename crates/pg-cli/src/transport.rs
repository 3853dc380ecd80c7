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
    HyperTransport, Transport, TransportError,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
};

use crate::{account::Details, argument, failure::Failure, redactor::Redactor};

/// The environment variable with a file of certificate authorities, which other programs use too.
const AUTHORITIES: &str = "SSL_CERT_FILE";

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

/// Returns what to do about a refused certificate; empty for any other error.
pub(crate) fn certificate_advice(error: &TransportError) -> &'static str {
    if error.kind().is_invalid_certificate() {
        "; SSL_CERT_FILE names a PEM file with the authorities that pg trusts"
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
