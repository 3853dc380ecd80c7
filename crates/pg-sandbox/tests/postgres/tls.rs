//! TLS to the database: required when it is asked for, and checked.

use std::fs;

use pg_sandbox::store::Postgres as Store;
use pg_stores::Postgres;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::{KEY, process::Process};

/// Gives the server a certificate for this address and switches TLS on; gives the authority, as PEM.
fn with_certificate(server: &Postgres, name: &str) -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    // The server itself writes them, so that they belong to the user that it runs as.
    for (file, text) in [("server.crt", certificate.pem()), ("server.key", key.serialize_pem())] {
        let lines = text.replace("\r\n", "\n");
        let copy = format!(
            "COPY (SELECT unnest(string_to_array('{}', E'\\n'))) TO PROGRAM 'umask 077; rm -f {file}; cat >{file}'",
            lines.trim_end()
        );
        server.psql("postgres", &copy).unwrap();
    }
    server.psql("postgres", "ALTER SYSTEM SET ssl = on").unwrap();
    server.stop_at_once().unwrap();
    server.start_again().unwrap();
    authority.pem()
}

#[test]
fn a_database_is_reached_through_tls_or_not_at_all() {
    let Ok(server) = Postgres::start(&["-c", "fsync=off"]) else {
        assert!(Postgres::installed().is_none(), "an installed server starts");
        return;
    };
    let url = server.database().unwrap();
    let said = |query: &str| Store::open(&format!("{url}?{query}"), &KEY, "one").err().map(|error| error.to_string());
    // A server without TLS is refused, and nothing is made in it.
    for mode in ["require", "verify-full"] {
        let error = said(&format!("sslmode={mode}")).unwrap();
        assert!(error.contains("server does not support TLS"), "{error}");
    }
    let made = "SELECT count(*) FROM pg_namespace WHERE nspname = 'payment_sandbox'";
    assert_eq!(server.psql(&url, made).unwrap(), "0");

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    fs::write(&file, with_certificate(&server, "127.0.0.1")).unwrap();
    let trusted = format!("sslrootcert={}", file.display());
    // An authority that only this server has is not among those of Mozilla.
    for mode in ["require", "verify-full"] {
        let error = said(&format!("sslmode={mode}")).unwrap();
        assert!(error.contains("invalid peer certificate: UnknownIssuer"), "{error}");
    }
    let encrypted = format!("{url}?sslmode=verify-full&{trusted}");
    assert_eq!(Process::open(&encrypted, 1).pay("order-1").0, 200);
    let mut process = Process::open(&encrypted, 2);
    assert_eq!(process.pay("order-2").0, 200);
    let seen =
        "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'pg sandbox'";
    assert_eq!(server.psql(&url, seen).unwrap(), "t");
    drop(process);

    // The certificate of another server.
    fs::write(&file, with_certificate(&server, "db.example")).unwrap();
    let error = said(&format!("sslmode=require&{trusted}")).unwrap();
    assert!(error.contains("not valid for name"), "{error}");
}
