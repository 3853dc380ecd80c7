//! Hostile connections to a server with a certificate.

use std::{sync::Arc, time::Duration};

use pg_connections::{ConnectionLimits, ConnectionSlots};
use rustls::{
    ClientConfig, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::io::duplex;
use tokio_rustls::TlsConnector;

use super::*;
use crate::{
    Peer,
    certificate::ServerCertificate,
    server::connection::{Counter, talk_securely},
};

/// A certificate for localhost, and what a client trusts it by.
pub(super) fn certificate() -> (ServerCertificate, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    (ServerCertificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap(), made.cert.der().clone())
}

/// The begin of a handshake: a record of 16 KiB that holds a first message, of which 300 bytes are here.
pub(super) fn half_a_hello() -> Vec<u8> {
    let mut hello = vec![0x16, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb, 3, 3];
    hello.resize(300, 0);
    hello
}

async fn asked(server: &Server, trusted: CertificateDer<'static>) -> String {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = TlsConnector::from(Arc::new(client)).connect(name, stream).await.unwrap();
    stream.write_all(head("GET", "/_sandbox/clock", "").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[tokio::test]
async fn incomplete_handshakes_make_room_the_oldest_first() {
    let (certificate, trusted) = certificate();
    let connections = ConnectionLimits::default().connections(4);
    let settings = Settings { connections, certificate: Some(certificate), ..Settings::default() };
    let server = Server::start(Config { settings, ..Config::default() }).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..8 {
        let mut stream = TcpStream::connect(server.address()).await.unwrap();
        stream.write_all(&half_a_hello()).await.unwrap();
        silent.push(stream);
    }
    let answer = asked(&server, trusted).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    for stream in &mut silent[..5] {
        assert!(is_closed(stream).await);
    }
    drop(silent);
    server.shutdown().await;
}

#[test]
fn a_handshake_has_a_time_limit() {
    // Virtual time: it passes only while nothing else can happen.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (certificate, _) = certificate();
    let (due, _outgoing) = mpsc::unbounded_channel();
    let sandbox = Sandbox::in_memory_with(Settings::default(), [7; 32]).unwrap();
    let limits = sandbox.settings().limits;
    let (_stop, stopped) = watch::channel(false);
    let writing = runtime.block_on(async {
        let (queue, writing) = writer::start(sandbox, due).unwrap();
        let counter = Counter::new(queue, limits);
        let slots = ConnectionSlots::new(ConnectionLimits::default());
        let place = slots.enter(Ipv4Addr::LOCALHOST.into()).await.unwrap();
        let (ours, mut peer) = duplex(4096);
        peer.write_all(&half_a_hello()).await.unwrap();
        let peer_address = Peer(Ipv4Addr::LOCALHOST.into());
        let acceptor = certificate.acceptor();
        let served = talk_securely(ours, &acceptor, peer_address, &place, &counter, stopped);
        let ended = tokio::time::timeout(Duration::from_secs(60), served).await;
        assert!(ended.is_ok(), "it waits for the rest of the handshake for a minute");
        drop(peer);
        writing
    });
    drop(runtime);
    writing.join().unwrap();
}
