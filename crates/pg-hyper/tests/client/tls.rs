//! TLS: an untrusted certificate ends the call before a request is sent.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    sync::Arc,
};

use crate::client::server::{Answer, account, serve};
use pg_hyper::{
    Client, Error, HyperTransport, TransportError, TransportErrorKind,
    proto::model::{Initiate, Remedy},
    rustls::{
        ClientConfig, RootCertStore, ServerConfig, ServerConnection, StreamOwned, SupportedProtocolVersion,
        crypto::ring::default_provider,
        pki_types::{CertificateDer, PrivatePkcs8KeyDer},
        version::{TLS12, TLS13},
    },
};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

const SESSION: &str = "<serviceResponse><sessionKey>0123456789abcdef0123456789abcdef</sessionKey></serviceResponse>";

/// Returns a configuration with a self-signed certificate for `localhost`.
fn self_signed(version: &'static SupportedProtocolVersion) -> (ServerConfig, CertificateDer<'static>) {
    let certified = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let certificate = certified.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[version])
        .expect("a version that ring has")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .expect("a certificate and its key");
    (config, certificate)
}

/// Returns a client that trusts a certificate.
fn trusting(base: &str, certificate: CertificateDer<'static>) -> Client {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let tls = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions that ring has")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::with_transport(account(base), HyperTransport::with_tls(tls))
}

/// Starts a server with a self-signed certificate for `localhost`.
async fn start(version: &'static SupportedProtocolVersion) -> (String, CertificateDer<'static>) {
    let (config, certificate) = self_signed(version);
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let base = format!("https://localhost:{}", listener.local_addr().expect("an address").port());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(stream) = acceptor.accept(stream).await {
                tokio::spawn(serve(stream, || Answer::reply("200 OK", SESSION)));
            }
        }
    });
    (base, certificate)
}

#[tokio::test]
async fn an_untrusted_certificate_is_rejected_before_anything_is_sent() {
    let (base, _) = start(&TLS13).await;
    let client = Client::new(account(&base)).expect("https");
    let error = client.call(&Initiate::new("https://shop.example/error")).await.unwrap_err();
    assert!(
        matches!(error, Error::Transport(TransportError::NotSent(TransportErrorKind::Connect { .. }))),
        "{error:?}"
    );
    assert!(error.to_string().contains("its certificate is not from a trusted authority"), "{error}");
    assert_eq!(error.remedy(), Remedy::Retry);
}

#[tokio::test]
async fn both_versions_of_tls_work_with_roots_of_ones_own() {
    for version in [&TLS12, &TLS13] {
        let (base, certificate) = start(version).await;
        let client = trusting(&base, certificate);
        client.call(&Initiate::new("https://shop.example/error")).await.expect("a session");
    }
}

/// Reads a request whose connection stays open.
fn read_request(stream: &mut BufReader<StreamOwned<ServerConnection, TcpStream>>) {
    let (mut line, mut length) = (String::new(), 0);
    while stream.read_line(&mut line).expect("a head") > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().expect("a length");
        }
        line.clear();
    }
    std::io::Read::read_exact(stream, &mut vec![0; length]).expect("a body");
}

/// Returns the records of a reply with this session key.
fn records(connection: &mut ServerConnection, key: &str) -> Vec<u8> {
    let body = format!("<serviceResponse><sessionKey>{key}</sessionKey></serviceResponse>");
    let reply = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    connection.writer().write_all(reply.as_bytes()).expect("a buffer");
    let mut records = Vec::new();
    while connection.wants_write() {
        connection.write_tls(&mut records).expect("a buffer");
    }
    records
}

#[tokio::test]
async fn a_connection_that_has_received_a_part_of_a_record_is_not_used_again() {
    let (config, certificate) = self_signed(&TLS13);
    let config = Arc::new(config);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("https://localhost:{}", listener.local_addr().unwrap().port());
    let keys = ["a", "b", "c"].map(|letter| letter.repeat(32));
    let [first, second, third] = keys.clone();
    let server = std::thread::spawn(move || {
        for received in [1, 5, 6, 50] {
            let accept = || {
                let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut stream = BufReader::new(StreamOwned::new(connection, listener.accept().unwrap().0));
                read_request(&mut stream);
                stream
            };
            let mut stream = accept();
            let StreamOwned { conn, sock } = stream.get_mut();
            let (reply, late) = (records(conn, &first), records(conn, &second));
            let (early, rest) = late.split_at(received);
            sock.write_all(&[&reply, early].concat()).unwrap();
            // Another connection takes the next request.
            let mut next = accept();
            // The client may have closed the first one.
            drop(sock.write_all(rest));
            let StreamOwned { conn, sock } = next.get_mut();
            sock.write_all(&records(conn, &third)).unwrap();
        }
    });
    for _ in 0..4 {
        let client = trusting(&base, certificate.clone());
        for key in [&keys[0], &keys[2]] {
            let session = client.call(&Initiate::new("https://shop.example/error")).await.unwrap();
            assert_eq!(session.session_key.as_str(), key);
        }
    }
    server.join().unwrap();
}
