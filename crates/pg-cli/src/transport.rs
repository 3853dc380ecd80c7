//! The transport of requests to services and sandboxes.

use std::{path::Path, sync::Arc, time::Duration};

use pg_hyper::{
    HyperTransport, TransportError,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, pem::PemObject as _},
    },
};

use crate::failure::Failure;

/// The environment variable with a file of certificate authorities, as other programs know it.
const AUTHORITIES: &str = "SSL_CERT_FILE";

/// Returns a transport that trusts the authorities in the file of `SSL_CERT_FILE`, or without it those that Mozilla
/// trusts.
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

/// Returns what to do about a certificate that is refused; empty for any other error.
pub(crate) fn certificate_advice(error: &TransportError) -> &'static str {
    if error.kind().is_invalid_certificate() {
        "; SSL_CERT_FILE names a PEM file with the authorities that pg trusts"
    } else {
        ""
    }
}

fn trusting(file: &Path) -> Result<ClientConfig, Failure> {
    let failure = |problem: String| Failure::misuse(format!("{AUTHORITIES}: {}: {problem}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| failure(error.to_string()))?;
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
