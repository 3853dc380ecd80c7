//! `pg sandbox --tls-certificate`, and commands that trust it.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
};

use tempfile::TempDir;

use crate::command::{
    pg::pg,
    sandbox::{CARD, Running},
};

/// A folder with a certificate for 127.0.0.1, its key, and another key.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = || rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let (certified, other) = (made(), made());
        std::fs::write(folder.path().join("server.pem"), certified.cert.pem()).unwrap();
        std::fs::write(folder.path().join("server.key"), certified.signing_key.serialize_pem()).unwrap();
        std::fs::write(folder.path().join("other.key"), other.signing_key.serialize_pem()).unwrap();
        std::fs::write(folder.path().join("other.pem"), other.cert.pem()).unwrap();
        std::fs::write(folder.path().join("empty"), "nothing").unwrap();
        let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
        std::fs::write(folder.path().join("encrypted.key"), encrypted).unwrap();
        let unknown = "-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n";
        std::fs::write(folder.path().join("unknown.key"), unknown).unwrap();
        std::fs::write(folder.path().join("cut.pem"), &certified.cert.pem()[..200]).unwrap();
        Self(folder)
    }

    /// A certificate for 127.0.0.1 of these years, and its key.
    fn of_years(&self, first: i32, last: i32) -> [String; 2] {
        let mut of = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        (of.not_before, of.not_after) = (rcgen::date_time_ymd(first, 1, 1), rcgen::date_time_ymd(last, 1, 1));
        let key = rcgen::KeyPair::generate().unwrap();
        std::fs::write(self.path("years.pem"), of.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(self.path("years.key"), key.serialize_pem()).unwrap();
        [self.path("years.pem"), self.path("years.key")]
    }

    /// A certificate of an authority for 127.0.0.1, and its key.
    fn authority(&self) -> [String; 2] {
        let mut of = rcgen::CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
        of.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        let key = rcgen::KeyPair::generate().unwrap();
        std::fs::write(self.path("ca.pem"), of.self_signed(&key).unwrap().pem()).unwrap();
        std::fs::write(self.path("ca.key"), key.serialize_pem()).unwrap();
        [self.path("ca.pem"), self.path("ca.key")]
    }

    fn path(&self, name: &str) -> String {
        let path: PathBuf = self.0.path().join(name);
        path.to_str().unwrap().to_owned()
    }
}

#[test]
fn the_sandbox_speaks_only_tls_with_the_given_certificate() {
    let files = Files::new();
    let sandbox =
        Running::start(&["--tls-certificate", &files.path("server.pem"), "--tls-key", &files.path("server.key")]);
    let base = sandbox.facts["baseUrl"].as_str().unwrap().to_owned();
    assert!(base.starts_with("https://127.0.0.1:"), "{base}");
    assert_eq!(sandbox.facts["enterpriseBaseUrl"], format!("{base}/enterprise"));
    let trusting = |command: &str| {
        let command = sandbox.with_account(pg(command.split_whitespace()), "main");
        command.env("SSL_CERT_FILE", &files.path("server.pem"))
    };
    trusting(&format!("call transaction/auth cardNumber=4000000000001000 {CARD}")).run().ends(0);
    // Its own pages are behind the same certificate.
    trusting("call checkout/gettoken item_name[0]=Tea item_price[0]=1").run().ends(0).prints(&format!("{base}/pay/"));
    trusting(&format!("sandbox clock --sandbox {base}")).run().ends(0);
    trusting(&format!("trigger payment --sandbox {base}")).run().ends(0);
    // A client that does not trust it sends no request.
    let call = format!("call transaction/auth cardNumber=4000000000001000 {CARD}");
    sandbox.run(&call).ends(3).says("its certificate is not from a trusted authority").says("SSL_CERT_FILE names");
    pg(["sandbox", "clock", "--sandbox", &base])
        .run()
        .ends(3)
        .says("its certificate is not from a trusted authority")
        .says("SSL_CERT_FILE names");
    let other = sandbox.with_account(pg(call.split_whitespace()), "main");
    other.env("SSL_CERT_FILE", &files.path("other.pem")).run().ends(3);
    std::fs::write(files.path("cards.txt"), "0123456789abcdef0123456789abcdef\n").unwrap();
    let update = sandbox.with_account(pg(["update-cards", &files.path("cards.txt")]), "main");
    update.env("SSL_CERT_FILE", &files.path("empty")).run().ends(2).says("it contains no certificate in PEM form");
    // As `openssl req -x509` makes it by default.
    let authority = files.authority();
    let with_authority = Running::start(&["--tls-certificate", &authority[0], "--tls-key", &authority[1]]);
    let clock = ["sandbox", "clock", "--sandbox", with_authority.facts["baseUrl"].as_str().unwrap()];
    pg(clock).env("SSL_CERT_FILE", &authority[0]).run().ends(3).says("a server needs a certificate with CA:FALSE");
    // Plain HTTP is not answered.
    let mut plain = TcpStream::connect(base.strip_prefix("https://").unwrap()).unwrap();
    plain.write_all(b"GET /_sandbox/health/live HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut reply = Vec::new();
    drop(plain.read_to_end(&mut reply));
    assert!(!reply.starts_with(b"HTTP/"), "{reply:?}");
    trusting("sandbox list transactions --json").arg("--sandbox").arg(&base).run().ends(0).prints("Auth");
}

#[test]
fn the_times_of_a_certificate_are_dates() {
    let files = Files::new();
    for (first, last, says) in [
        (2001, 2002, "its certificate expired on Tue, 01 Jan 2002 00:00:00 GMT; by the clock of this machine it is "),
        (
            2900,
            2901,
            "its certificate is valid from Fri, 01 Jan 2900 00:00:00 GMT; by the clock of this machine it is ",
        ),
    ] {
        let [certificate, key] = files.of_years(first, last);
        let sandbox = Running::start(&["--tls-certificate", &certificate, "--tls-key", &key]);
        let clock = ["sandbox", "clock", "--sandbox", sandbox.facts["baseUrl"].as_str().unwrap()];
        // Another authority would not make it valid.
        pg(clock).env("SSL_CERT_FILE", &certificate).run().ends(3).says(says).hides(&["SSL_CERT_FILE"]);
    }
}

#[test]
fn plain_http_to_a_sandbox_with_tls_is_told_about_https() {
    let files = Files::new();
    let sandbox =
        Running::start(&["--tls-certificate", &files.path("server.pem"), "--tls-key", &files.path("server.key")]);
    let plain = sandbox.facts["baseUrl"].as_str().unwrap().replace("https://", "http://");
    pg(["sandbox", "clock", "--sandbox", &plain]).run().ends(3).says("whether it needs https");
}

#[test]
fn a_certificate_or_a_key_that_cannot_be_used_is_named() {
    let files = Files::new();
    for (certificate, key, says) in [
        ("gone.pem", "server.key", "--tls-certificate"),
        ("server.pem", "gone.key", "--tls-key"),
        ("empty", "server.key", "it contains no certificate in PEM form"),
        ("server.pem", "empty", "it contains no key in PEM form"),
        ("server.pem", "encrypted.key", "the private key is encrypted"),
        ("server.pem", "unknown.key", "--tls-key"),
        ("server.pem", "unknown.key", "the private key is not supported: use RSA with 2048"),
        ("cut.pem", "server.key", "the file is cut short: the line -----END"),
        ("server.pem", "other.key", "does not match the first certificate"),
    ] {
        let (certificate, key) = (files.path(certificate), files.path(key));
        let flags = ["--listen", "127.0.0.1:0", "--tls-certificate", &certificate, "--tls-key", &key];
        let ended = pg(["sandbox"].iter().chain(&flags)).run().ends(2).says(says);
        assert_eq!(ended.err.lines().count(), 1, "{}", ended.err);
    }
    for flag in ["--tls-certificate", "--tls-key"] {
        pg(["sandbox", flag, &files.path("server.pem")]).run().ends(2).says("required arguments");
    }
    for (file, says) in [("gone.pem", "SSL_CERT_FILE"), ("empty", "it contains no certificate in PEM form")] {
        pg(["sandbox", "clock"]).env("SSL_CERT_FILE", &files.path(file)).run().ends(2).says(says);
    }
}
