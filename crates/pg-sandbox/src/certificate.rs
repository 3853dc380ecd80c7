//! The certificate of a server that speaks TLS.

use std::{fmt, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

/// A certificate chain with its private key. A server that has one speaks TLS 1.2 and 1.3, and no plain HTTP.
#[derive(Clone)]
pub struct ServerCertificate(Arc<ServerConfig>);

impl ServerCertificate {
    /// Reads a chain, the server's own certificate first, and the key of that certificate, both as PEM.
    ///
    /// # Errors
    /// [`CertificateError`] says which of the two is wrong.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let certificates = certificates.map_err(|error| CertificateError::Chain(error.to_string()))?;
        if certificates.is_empty() {
            return Err(CertificateError::Chain("it contains no certificate in PEM form".to_owned()));
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| CertificateError::Key)?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(certificates, key));
        let mut config = config.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => CertificateError::Mismatch,
            other => CertificateError::Chain(other.to_string()),
        })?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0))
    }
}

impl fmt::Debug for ServerCertificate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ServerCertificate")
    }
}

/// What is wrong with a server's certificate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The certificates cannot be read or used.
    #[error("the certificate is invalid: {0}")]
    Chain(String),
    /// The private key cannot be read.
    #[error("the private key is invalid: it contains no key in PEM form")]
    Key,
    /// The private key belongs to another certificate.
    #[error("the private key does not match the first certificate")]
    Mismatch,
}
