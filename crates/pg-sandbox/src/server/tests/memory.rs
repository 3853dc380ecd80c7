//! The memory that hostile connections make the server hold, counted byte by byte: its tasks and buffers, not those of the system.

use std::{
    io,
    net::IpAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use pg_connections::{ConnectionLimits, ConnectionSlots};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_rustls::TlsAcceptor;

use super::*;
use crate::{
    Peer,
    server::connection::{Counter, talk, talk_securely},
};

/// A peer that sends a text, then one letter repeatedly, up to a total length. It reads nothing and allocates nothing.
struct Hostile {
    head: Arc<[u8]>,
    sent: usize,
    length: usize,
}

impl AsyncRead for Hostile {
    fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // A socket of the system holds more than any buffer of the server.
        let part = buffer.remaining().min(self.length - self.sent);
        if part == 0 {
            return Poll::Pending;
        }
        let of_head = self.head.get(self.sent..).unwrap_or_default();
        let of_head = &of_head[..of_head.len().min(part)];
        buffer.put_slice(of_head);
        buffer.initialize_unfilled_to(part - of_head.len()).fill(b'a');
        buffer.advance(part - of_head.len());
        self.sent += part;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Hostile {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        Poll::Pending
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// Returns what a server on one thread allocates while `peers` connect, each of which sends `head` and then letters up
/// to `length`: the peak and the total in bytes.
fn allocated(peers: usize, head: &[u8], length: usize, tls: Option<&TlsAcceptor>) -> [usize; 2] {
    let head: Arc<[u8]> = head.into();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let (due, _outgoing) = mpsc::unbounded_channel();
    let sandbox = Sandbox::in_memory_with(Settings::default(), [7; 32]).unwrap();
    let limits = sandbox.settings().limits;
    let (_stop, stopped) = watch::channel(false);
    let slots = ConnectionSlots::new(ConnectionLimits::default());
    let (queue, writing) =
        runtime.block_on(async { writer::start(sandbox, due, Arc::new(Failure::new(None))) }).unwrap();
    let counted = allocation_counter::measure(|| {
        runtime.block_on(async {
            let counter = Counter::new(queue, limits);
            for number in 0..peers {
                let place = slots.enter(IpAddr::V4(Ipv4Addr::LOCALHOST)).await.expect("this machine has no limit");
                let (counter, stopped) = (counter.clone(), stopped.clone());
                let (hostile, peer) =
                    (Hostile { head: Arc::clone(&head), sent: 0, length }, Peer(Ipv4Addr::LOCALHOST.into()));
                let tls = tls.cloned();
                tokio::spawn(async move {
                    match tls {
                        None => talk(hostile, peer, &place, &counter, stopped).await,
                        Some(tls) => talk_securely(hostile, &tls, peer, &place, &counter, stopped).await,
                    }
                });
                if number % 64 == 0 {
                    tokio::task::yield_now().await;
                }
            }
            for _ in 0..10_000 {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
    });
    writing.join().unwrap().unwrap();
    [counted.bytes_max, counted.bytes_total].map(|bytes| usize::try_from(bytes).unwrap())
}

const PEERS: usize = 2_000;

/// What each connection may cost beside its body: buffers of hyper for reading and writing, and its task.
const OF_ONE: usize = 40 << 10;
/// The part of a body that is read at a time.
const PART: usize = 64 << 10;
/// The longest record of TLS, which is read whole.
const RECORD: usize = 16 << 10;

#[test]
fn incomplete_bodies_hold_little_more_than_the_limit_of_all_bodies() {
    let limits = ConnectionLimits::default();
    let head = "POST /v3/transaction/auth/json HTTP/1.1\r\nHost: 127.0.0.1\r\n";
    let most = limits.body_bytes as usize + limits.connections * (limits.free_body_bytes as usize + OF_ONE);
    let declared = format!("{head}Content-Length: {}\r\n\r\n", 1 << 20);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n", 1 << 20);
    for head in [declared, chunked] {
        let [held, all] = allocated(PEERS, head.as_bytes(), head.len() + (1 << 20) - 1, None);
        assert!(held <= most, "{held} bytes held, over {most}: {head}");
        assert!(held > limits.body_bytes as usize, "{held} bytes held: the bodies were not read");
        // An allocator keeps for a while what was freed. Buffers that grow free their memory again and again.
        assert!(all <= PEERS * (PART + OF_ONE), "{} bytes allocated for each connection: {head}", all / PEERS);
    }
}

#[test]
fn silent_connections_and_incomplete_heads_hold_little() {
    let most = ConnectionLimits::default().connections * OF_ONE;
    for head in ["", "P", "POST /v3/transaction/auth/json HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Drip: "] {
        let [held, _] = allocated(PEERS, head.as_bytes(), head.len(), None);
        assert!(held <= most, "{held} bytes held, over {most}: {head}");
    }
}

#[test]
fn incomplete_handshakes_hold_little() {
    let most = ConnectionLimits::default().connections * (OF_ONE + RECORD);
    let (certificate, _) = tls::certificate();
    // The rest of the record is letters.
    let hello = tls::half_a_hello();
    for length in [hello.len(), 16 << 10] {
        let [held, _] = allocated(PEERS, &hello, length, Some(&certificate.acceptor()));
        assert!(held <= most, "{held} bytes held, over {most}");
    }
}
