//! Accepts connections and gives each a slot.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    time::Instant,
};

use crate::{
    ConnectionLimits, ConnectionSlot, Stream,
    places::{Admission, ConnectionSlots},
};

/// The pause after a failed accept. The pending connection stays pending and would fail again at once.
const PAUSE: Duration = Duration::from_millis(10);
/// Time without a failed accept after which a shortage of the system has ended.
const RECOVERY: Duration = Duration::from_secs(1);
/// The system's codes for a shortage of memory, of files of the system or of the process, or of buffers. The standard
/// library has no names for most of them.
const SHORTAGE: &[i32] = if cfg!(windows) {
    &[10024, 10055]
} else if cfg!(any(target_os = "linux", target_os = "android")) {
    &[12, 23, 24, 105]
} else {
    &[12, 23, 24, 55]
};

/// Length of the system's queue of connections. If the queue is full, a burst of connections makes the system drop the
/// next one, and its client tries again only after a second.
const BACKLOG: u32 = 4096;
/// Maximum number of connections accepted in a row, before existing connections can proceed.
const BURST: usize = 128;

/// Binds an address with a long accept queue, for servers with many clients.
///
/// # Errors
///
/// If the address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As in the standard library: allows binding an address whose last connections are still closing. On other systems
    // the option means something else.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A listener that always has a slot for a new connection, unless every connection is working.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    places: ConnectionSlots,
    limits: ConnectionLimits,
    /// Accepted, and waiting for a slot: stored here so that [`Acceptor::next`] can be cancelled.
    waiting: Option<(TcpStream, IpAddr)>,
    /// Number of connections accepted in a row.
    row: usize,
    /// When an accept last failed because of a shortage, which has not ended.
    shortage: Option<Instant>,
}

/// A connection with its slot.
#[derive(Debug)]
#[non_exhaustive]
pub struct Accepted {
    /// The stream, under the time limits.
    pub stream: Stream<TcpStream>,
    /// The address of the peer. An IPv4 address mapped into IPv6 becomes the IPv4 address.
    pub address: IpAddr,
    /// The slot of the connection. Dropping the value frees the slot.
    pub place: ConnectionSlot,
}

impl Acceptor {
    /// Creates an acceptor for this listener, and gives it a long queue.
    #[must_use]
    pub fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        // The listeners of tokio and of the standard library have room for 128 connections. If the system refuses a
        // longer queue, the short one remains.
        let _ = SockRef::from(&listener).listen(BACKLOG.cast_signed());
        Self { listener, places: ConnectionSlots::new(limits), limits, waiting: None, row: 0, shortage: None }
    }

    /// Returns the next connection. Cancelling the future loses no connection.
    ///
    /// A failed accept is handled internally. If the process has no file descriptors left, it closes idle connections
    /// and lowers the maximum number of connections, but not below 16, then continues to accept. A second after the last
    /// such failure, the maximum is the configured one again.
    pub async fn next(&mut self) -> Accepted {
        loop {
            self.row += 1;
            if self.row > BURST.min(self.limits.connections / 4) {
                // A new connection must not lose its slot before it is served.
                self.row = 0;
                tokio::task::yield_now().await;
            }
            let (stream, address) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.listener.accept().await {
                    Ok((stream, peer)) => {
                        self.end_shortage();
                        (stream, peer.ip().to_canonical())
                    }
                    Err(error) => {
                        self.failed(&error).await;
                        continue;
                    }
                },
            };
            match self.places.admit(address) {
                Admission::Admitted(place) => {
                    // Responses are small and complete, so waiting for more data only costs time. A socket that rejects
                    // the option still works.
                    let _ = stream.set_nodelay(true);
                    return Accepted { stream: Stream::new(stream, self.limits), address, place };
                }
                Admission::Full => {
                    self.waiting = Some((stream, address));
                    self.places.freed().await;
                }
                // Dropping the stream closes the connection.
                Admission::Refused => {}
            }
        }
    }

    /// Handles a failed accept.
    async fn failed(&mut self, error: &io::Error) {
        // A peer that closes its connection before it is accepted must not affect the others.
        if matches!(error.kind(), io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset) {
            return;
        }
        if error.raw_os_error().is_some_and(|code| SHORTAGE.contains(&code)) {
            self.places.shrink();
            self.shortage = Some(now());
        }
        pause().await;
    }

    /// Ends a shortage if no accept has failed for a while.
    fn end_shortage(&mut self) {
        if self.shortage.is_some_and(|last| now().duration_since(last) >= RECOVERY) {
            self.shortage = None;
            self.places.recover();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server waits for the system to have a file descriptor again")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}

#[expect(clippy::disallowed_methods, reason = "the server tells whether a shortage of the system has ended")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream as Client;

    use super::*;

    /// More than the 128 connections that wait at a listener of tokio or of the standard library.
    const MANY: usize = 300;

    #[test]
    fn a_burst_of_connections_fits_into_the_queue_of_any_listener() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let _accepts_nothing_yet = Acceptor::new(listener, ConnectionLimits::default());
            // Without room in the queue, the system would give up a connection after minutes.
            let clients: Vec<_> = (0..MANY).map_while(|_| Client::connect(address).ok()).collect();
            assert_eq!(clients.len(), MANY);
        });
    }

    /// Returns how many of `number` new connections are closed in favour of the others.
    async fn closed_of(acceptor: &mut Acceptor, number: usize) -> usize {
        let address = acceptor.listener.local_addr().unwrap();
        let mut accepted = Vec::new();
        for _ in 0..number {
            let client = Client::connect(address).unwrap();
            accepted.push((acceptor.next().await, client));
        }
        let mut closed = 0;
        for (accepted, _) in &accepted {
            let mut wait = std::pin::pin!(accepted.place.closed());
            closed += usize::from(
                std::future::poll_fn(|context| std::task::Poll::Ready(wait.as_mut().poll(context).is_ready())).await,
            );
        }
        closed
    }

    #[tokio::test(start_paused = true)]
    async fn a_shortage_lowers_the_limit_until_a_second_after_it() {
        let limits = ConnectionLimits::default().connections(100);
        let mut acceptor = Acceptor::new(TcpListener::bind("127.0.0.1:0").await.unwrap(), limits);
        for code in SHORTAGE {
            acceptor.failed(&io::Error::from_raw_os_error(*code)).await;
            assert_eq!(closed_of(&mut acceptor, 20).await, 4, "{code}");
            tokio::time::advance(RECOVERY).await;
            assert_eq!(closed_of(&mut acceptor, 20).await, 0);
        }
        for kind in [io::ErrorKind::ConnectionAborted, io::ErrorKind::PermissionDenied] {
            acceptor.failed(&kind.into()).await;
            assert_eq!(closed_of(&mut acceptor, 20).await, 0, "{kind}");
        }
    }
}
