//! Certificates for the TLS drills: a valid one, and those that an integration must reject.

use std::{io::Write as _, sync::Arc};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType, date_time_ymd};
use tempfile::NamedTempFile;
use tokio_rustls::rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivatePkcs8KeyDer},
};

use crate::house::{SetupError, text};

/// What is wrong with a certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certificate {
    Valid,
    SelfSigned,
    Expired,
    WrongHost,
    NotYetValid,
    UnknownAuthority,
}

/// The certificate authority that integrations trust during one run.
pub(crate) struct Authority {
    trusted: CertifiedIssuer<'static, KeyPair>,
    stranger: CertifiedIssuer<'static, KeyPair>,
    /// The trusted one as PEM: `SSL_CERT_FILE`.
    pub(crate) file: NamedTempFile,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, SetupError> {
        let (trusted, stranger) = (issuer("pg rehearse")?, issuer("pg rehearse, not trusted")?);
        let mut file = tempfile::Builder::new().prefix("pg-rehearse-").suffix(".pem").tempfile().map_err(text)?;
        file.write_all(trusted.as_ref().pem().as_bytes()).map_err(text)?;
        file.flush().map_err(text)?;
        Ok(Self { trusted, stranger, file })
    }

    /// Returns the server configuration for that certificate.
    pub(crate) fn server(&self, certificate: Certificate) -> Result<Arc<ServerConfig>, SetupError> {
        let key = KeyPair::generate().map_err(text)?;
        let mut params = if certificate == Certificate::WrongHost {
            CertificateParams::new(["payments.example".to_owned()]).map_err(text)?
        } else {
            let mut params = CertificateParams::new(["localhost".to_owned()]).map_err(text)?;
            params.subject_alt_names.push(SanType::IpAddress(std::net::Ipv4Addr::LOCALHOST.into()));
            params
        };
        params.distinguished_name.push(DnType::CommonName, "pg rehearse service");
        params.use_authority_key_identifier_extension = true;
        (params.not_before, params.not_after) = match certificate {
            Certificate::Expired => (date_time_ymd(2019, 1, 1), date_time_ymd(2020, 1, 1)),
            Certificate::NotYetValid => (date_time_ymd(2090, 1, 1), date_time_ymd(2095, 1, 1)),
            _ => (date_time_ymd(2020, 1, 1), date_time_ymd(2095, 1, 1)),
        };
        let signed = match certificate {
            Certificate::SelfSigned => params.self_signed(&key),
            Certificate::UnknownAuthority => params.signed_by(&key, &self.stranger),
            _ => params.signed_by(&key, &self.trusted),
        };
        let chain = vec![CertificateDer::from(signed.map_err(text)?.der().to_vec())];
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(text)?
            .with_no_client_auth()
            .with_single_cert(chain, key.into())
            .map_err(text)?;
        Ok(Arc::new(config))
    }
}

fn issuer(name: &str) -> Result<CertifiedIssuer<'static, KeyPair>, SetupError> {
    let mut params = CertificateParams::new(Vec::new()).map_err(text)?;
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![rcgen::KeyUsagePurpose::KeyCertSign, rcgen::KeyUsagePurpose::CrlSign];
    (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2095, 1, 1));
    CertifiedIssuer::self_signed(params, KeyPair::generate().map_err(text)?).map_err(text)
}
