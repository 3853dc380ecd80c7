//! Hostile connections to a server with a certificate.

use std::{
    io,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    task::{Context, Poll},
    time::Duration,
};

use pg_connections::{ConnectionLimits, ConnectionSlot, ConnectionSlots};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, duplex};
use tokio_rustls::TlsConnector;

use super::*;
use crate::{
    Peer,
    certificate::ServerCertificate,
    server::connection::{Counter, talk_securely},
};

/// A certificate for localhost, and the roots of a client that trusts it.
pub(super) fn certificate() -> (ServerCertificate, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (chain, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    (ServerCertificate::from_pem(chain.as_bytes(), key.as_bytes()).unwrap(), made.cert.der().clone())
}

/// The start of a handshake: a record of 16 KiB that holds a first message, of which 300 bytes are here.
pub(super) fn half_a_hello() -> Vec<u8> {
    let mut hello = vec![0x16, 3, 1, 0x3f, 0xff, 1, 0, 0x3f, 0xfb, 3, 3];
    hello.resize(300, 0);
    hello
}

fn client(trusted: CertificateDer<'static>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted).unwrap();
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(client)
}

fn name() -> ServerName<'static> {
    ServerName::try_from("localhost").unwrap()
}

async fn asked(server: &Server, trusted: CertificateDer<'static>) -> String {
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let mut stream = TlsConnector::from(client(trusted)).connect(name(), stream).await.unwrap();
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
    server.shutdown().await.unwrap();
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
        let (queue, writing) = writer::start(sandbox, due, Arc::new(Failure::new(None))).unwrap();
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
    writing.join().unwrap().unwrap();
}

/// A peer that sends the first message of a handshake, and nothing more.
struct Hello {
    message: Vec<u8>,
    /// Number of such peers that were answered.
    answered: Arc<AtomicUsize>,
    is_answered: bool,
}

impl AsyncRead for Hello {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let part = buffer.remaining().min(self.message.len());
        if part == 0 {
            return Poll::Pending;
        }
        buffer.put_slice(&self.message[..part]);
        self.message.drain(..part);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Hello {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if !std::mem::replace(&mut self.is_answered, true) {
            self.answered.fetch_add(1, Relaxed);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Number of attackers that get the signature of a server before an honest client has completed its handshake. The client connects after
/// all of them, or before them to resume its earlier session.
fn answered_before(attackers: impl Iterator<Item = IpAddr>, resumes: bool) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let (certificate, trusted) = certificate();
    let client = client(trusted);
    let (due, _outgoing) = mpsc::unbounded_channel();
    let sandbox = Sandbox::in_memory_with(Settings::default(), [7; 32]).unwrap();
    let limits = sandbox.settings().limits;
    let (_stop, stopped) = watch::channel(false);
    let answered = Arc::new(AtomicUsize::new(0));
    let (writing, before) = runtime.block_on(async {
        let (queue, writing) = writer::start(sandbox, due, Arc::new(Failure::new(None))).unwrap();
        let counter = Counter::new(queue, limits);
        let slots = ConnectionSlots::new(ConnectionLimits::default());
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        let honest = |place: ConnectionSlot| {
            let (ours, theirs) = duplex(1 << 16);
            let tls = certificate.acceptor();
            let (counter, stopped) = (counter.clone(), stopped.clone());
            tokio::spawn(async move { talk_securely(ours, &tls, Peer(address), &place, &counter, stopped).await });
            let connector = TlsConnector::from(Arc::clone(&client));
            tokio::spawn(async move { connector.connect(name(), theirs).await.unwrap() })
        };
        let attack = async || {
            for address in attackers {
                let mut message = Vec::new();
                ClientConnection::new(Arc::clone(&client), name()).unwrap().write_tls(&mut message).unwrap();
                let hello = Hello { message, answered: Arc::clone(&answered), is_answered: false };
                let place = slots.enter(address).await.unwrap();
                let (tls, counter, stopped) = (certificate.acceptor(), counter.clone(), stopped.clone());
                tokio::spawn(async move { talk_securely(hello, &tls, Peer(address), &place, &counter, stopped).await });
            }
        };
        let stream = if resumes {
            let mut first = honest(slots.enter(address).await.unwrap()).await.unwrap();
            // Sessions come with the first reply.
            first.write_all(head("GET", "/_sandbox/live", "").as_bytes()).await.unwrap();
            first.read_to_end(&mut Vec::new()).await.unwrap();
            let again = honest(slots.enter(address).await.unwrap());
            attack().await;
            again.await.unwrap()
        } else {
            attack().await;
            honest(slots.enter(address).await.unwrap()).await.unwrap()
        };
        let before = answered.load(Relaxed);
        drop(stream);
        (writing, before)
    });
    drop(runtime);
    writing.join().unwrap().unwrap();
    before
}

fn one_address() -> impl Iterator<Item = IpAddr> {
    (0..200).map(|_| Ipv4Addr::LOCALHOST.into())
}

#[test]
fn a_new_handshake_does_not_wait_for_those_that_attackers_have_begun() {
    let one = answered_before(one_address(), false);
    assert!(one <= 8, "{one} attackers at the client's own address were answered first");
    let many = answered_before((0..200).map(|number| Ipv4Addr::new(192, 0, 2, number).into()), false);
    assert!(many <= 8, "{many} attackers at other addresses were answered first");
}

#[test]
fn a_client_that_resumes_its_session_does_not_wait_for_attackers_that_connect_later() {
    let later = answered_before(one_address(), true);
    assert!(later <= 16, "{later} attackers at the client's own address were answered first");
}
