//! The certificate of a server that speaks TLS.

use std::{fmt, sync::Arc};

use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{
        CertificateDer, PrivateKeyDer,
        pem::{self, PemObject as _},
    },
};
use tokio_rustls::TlsAcceptor;

/// A certificate chain with its private key. A server with a certificate speaks TLS 1.2 and 1.3, and no plain HTTP.
#[derive(Clone)]
pub struct ServerCertificate(Arc<ServerConfig>);

impl ServerCertificate {
    /// Reads a chain, the server's own certificate first, and the key of that certificate, both as PEM.
    ///
    /// # Errors
    /// [`CertificateError`] says which of the two is invalid.
    pub fn from_pem(chain: &[u8], key: &[u8]) -> Result<Self, CertificateError> {
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
        let certificates = certificates.map_err(|error| CertificateError::Chain(broken_pem(&error)))?;
        if certificates.is_empty() {
            return Err(CertificateError::Chain("it contains no certificate in PEM form".to_owned()));
        }
        let key = match PrivateKeyDer::from_pem_slice(key) {
            Ok(key) => key,
            Err(_) if is_encrypted(key) => return Err(CertificateError::EncryptedKey),
            Err(_) => return Err(CertificateError::Key),
        };
        ring::sign::any_supported_type(&key).map_err(|_| CertificateError::UnsupportedKey)?;
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

fn broken_pem(error: &pem::Error) -> String {
    match error {
        // The error's own text shows the missing line as numbers.
        pem::Error::MissingSectionEnd { .. } => "the file is cut short: the line -----END … is missing".to_owned(),
        other => other.to_string(),
    }
}

/// Whether a key in PEM form needs a password, in the form of PKCS #8 or of older versions of OpenSSL.
fn is_encrypted(pem: &[u8]) -> bool {
    let text = String::from_utf8_lossy(pem);
    text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED")
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
    /// The private key needs a password.
    #[error(
        "the private key is encrypted; write a key without a password, for example with `openssl pkey -in KEY -out NEW`"
    )]
    EncryptedKey,
    /// The private key has a kind or a size that is not supported.
    #[error("the private key is not supported: use RSA with 2048 to 8192 bits, or ECDSA with P-256 or P-384")]
    UnsupportedKey,
    /// The private key belongs to another certificate.
    #[error("the private key does not match the first certificate")]
    Mismatch,
}
