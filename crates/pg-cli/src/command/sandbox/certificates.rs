//! Certificates from a file, as `openssl` and `mkcert` write them.

use std::path::Path;

use pg_hyper::rustls::pki_types::{CertificateDer, pem::PemObject};

use crate::{argument, failure::Failure};

/// The first byte of a certificate in DER: an ASN.1 sequence.
const SEQUENCE: u8 = 0x30;

/// Returns all certificates of a PEM file, or the certificate of a DER file, as DER.
///
/// # Errors
/// If the file cannot be read, or contains no certificate.
pub(super) fn read(path: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let failure = |problem: &str| Failure::misuse(format!("--certificate-authority {}: {problem}", path.display()));
    let bytes = argument::read_certificates(path).map_err(|error| failure(&error.to_string()))?;
    if bytes.first() == Some(&SEQUENCE) {
        return Ok(vec![bytes]);
    }
    let found: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    match found {
        Ok(found) if found.is_empty() => Err(failure("it contains no certificate")),
        Ok(found) => Ok(found.iter().map(|one| one.to_vec()).collect()),
        Err(error) => Err(failure(&format!("it is not a PEM file ({error})"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        file
    }

    #[test]
    fn pem_and_der_are_distinguished() {
        let pem = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
        assert_eq!(read(file(pem.as_bytes()).path()).unwrap(), [[0x30, 0]]);
        assert_eq!(read(file(format!("{pem}# and\n{pem}").as_bytes()).path()).unwrap().len(), 2);
        assert_eq!(read(file(&[0x30, 0]).path()).unwrap(), [[0x30, 0]]);
    }

    #[test]
    fn a_file_without_a_certificate_is_named() {
        let key = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
        for (content, problem) in [
            ("", "contains no certificate"),
            ("hello", "contains no certificate"),
            (key, "contains no certificate"),
            ("-----BEGIN CERTIFICATE-----\nMAA=\n", "not a PEM file"),
        ] {
            let file = file(content.as_bytes());
            let failure = format!("{:?}", read(file.path()).unwrap_err());
            assert!(failure.contains(problem) && failure.contains("--certificate-authority"), "{failure}");
        }
        assert!(read(Path::new("/nowhere/ca.pem")).is_err());
    }
}
