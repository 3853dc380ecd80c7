//! Encryption on the way to the database: TLS if it is asked for, and checked; none over a socket.

use std::fs;

use pg_sandbox::store::Postgres as Store;
use pg_stores::{Authority, Postgres};

use super::{KEY, process::Process};

#[test]
fn a_database_is_reached_through_tls_or_not_at_all() {
    let Some(server) = Postgres::for_one_test(&["-c", "fsync=off"]) else { return };
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
    let authority = Authority::new();
    authority.certify(&server, "127.0.0.1");
    fs::write(&file, authority.pem()).unwrap();
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
    authority.certify(&server, "db.example");
    let error = said(&format!("sslmode=require&{trusted}")).unwrap();
    assert!(error.contains("not valid for name"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_database_is_reached_over_its_socket_and_by_an_address_without_a_name() {
    let Some(server) = Postgres::for_tests() else { return };
    let url = server.database().unwrap();
    let name = url.rsplit('/').next().unwrap();
    let folder = server.psql(&url, "SHOW unix_socket_directories").unwrap();
    let port = server.port();
    let socket = format!("postgres://pg@{}:{port}/{name}", folder.replace('/', "%2F"));
    assert_eq!(Process::open(&socket, 1).pay("order-1").0, 200);
    let seen = "SELECT client_addr IS NULL FROM pg_stat_activity WHERE application_name = 'pg sandbox' AND datname = current_database()";
    let mut process = Process::open(&socket, 2);
    assert!(server.psql(&url, seen).unwrap().starts_with('t'));
    assert_eq!(process.pay("order-2").0, 200);
    let address = format!("postgres:///{name}?user=pg&hostaddr=127.0.0.1&port={port}");
    assert_eq!(Process::open(&address, 3).pay("order-3").0, 200);
}
