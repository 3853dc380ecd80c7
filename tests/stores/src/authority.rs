//! Certificates of a PostgreSQL server.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use crate::Postgres;

/// A certificate authority that only a test knows.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// Makes an authority with its own key.
    ///
    /// # Panics
    /// If no key can be made.
    #[must_use]
    pub fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        Self(CertifiedIssuer::self_signed(params, key).expect("a certificate"))
    }

    /// Its certificate, for `sslrootcert`.
    #[must_use]
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Gives the server a certificate for this name, and restarts it with TLS.
    ///
    /// # Panics
    /// If the server does not take it.
    pub fn certify(&self, server: &Postgres, name: &str) {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([name.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.0).expect("a certificate");
        // The server itself writes them, so that they belong to the user that it runs as.
        for (file, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
            let lines = text.replace("\r\n", "\n");
            let copy = format!(
                "COPY (SELECT unnest(string_to_array('{}', E'\\n'))) TO PROGRAM 'umask 077; rm -f {file}; cat >{file}'",
                lines.trim_end()
            );
            server.psql("postgres", &copy).expect("the server writes files");
        }
        server.psql("postgres", "ALTER SYSTEM SET ssl = on").expect("a setting");
        server.stop_at_once().and_then(|()| server.start_again()).expect("the server restarts");
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}
