//! The trusted certificates.

use std::{env, error::Error, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, pem::PemObject},
};

/// TLS with the authorities of the file `PG_CA_FILE`, or with Mozilla's without that variable.
///
/// # Errors
/// When the file contains no certificates.
pub fn config() -> Result<ClientConfig, Box<dyn Error>> {
    let mut trusted = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(own) = authorities()? {
        trusted = RootCertStore::empty();
        for authority in own {
            trusted.add(authority)?;
        }
    }
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(config)
}

/// The authorities of the file `PG_CA_FILE`, if there is one.
///
/// # Errors
/// When the file contains no certificates.
pub fn authorities() -> Result<Option<Vec<CertificateDer<'static>>>, Box<dyn Error>> {
    let Some(file) = env::var_os("PG_CA_FILE") else { return Ok(None) };
    Ok(Some(CertificateDer::pem_file_iter(file)?.collect::<Result<_, _>>()?))
}
