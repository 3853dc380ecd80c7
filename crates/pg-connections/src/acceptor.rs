//! Accepts connections and gives each a place.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::{
    ConnectionLimits, ConnectionSlot, Stream,
    places::{Admission, ConnectionSlots},
};

/// The pause after a failed accept. The pending connection stays pending and would fail again at once.
const PAUSE: Duration = Duration::from_millis(10);

/// Connections that the system keeps until they are accepted. With fewer, a burst of connections makes the system drop the next one, whose
/// client tries again after a second only.
const BACKLOG: u32 = 4096;
/// The most connections that are accepted before those that are there get to say something.
const BURST: usize = 128;

/// Binds an address with a long queue, for servers that are to be reached in a crowd.
///
/// # Errors
/// If the address cannot be bound.
pub fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // As the standard library does: an address whose last connections are still closing can be bound again. Elsewhere that means
    // something else.
    if cfg!(unix) {
        socket.set_reuseaddr(true)?;
    }
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A listener that always has room for a new connection, unless every connection is working.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    places: ConnectionSlots,
    limits: ConnectionLimits,
    /// Accepted, and waiting for a place: kept here so that [`Acceptor::next`] can be cancelled.
    waiting: Option<(TcpStream, IpAddr)>,
    /// Accepted in a row.
    row: usize,
}

/// A connection with its place.
#[derive(Debug)]
#[non_exhaustive]
pub struct Accepted {
    /// The bytes, under the time limits.
    pub stream: Stream<TcpStream>,
    /// The address of the peer; an IPv4 address mapped into IPv6 is given as the IPv4 address.
    pub address: IpAddr,
    /// Its place among the connections. Dropping it frees the place.
    pub place: ConnectionSlot,
}

impl Acceptor {
    /// Accepts from this listener.
    #[must_use]
    pub fn new(listener: TcpListener, limits: ConnectionLimits) -> Self {
        Self { listener, places: ConnectionSlots::new(limits), limits, waiting: None, row: 0 }
    }

    /// The next connection. Cancelling the future loses no connection.
    ///
    /// A failed accept is not the caller's concern: when the process is out of file descriptors, idle connections are closed to
    /// free some, fewer are accepted at the same time from then on, and accepting goes on.
    pub async fn next(&mut self) -> Accepted {
        loop {
            self.row += 1;
            if self.row > BURST.min(self.limits.connections / 4) {
                // A new connection must not lose its place before it was looked at.
                self.row = 0;
                tokio::task::yield_now().await;
            }
            let (stream, address) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.listener.accept().await {
                    Ok((stream, peer)) => (stream, peer.ip().to_canonical()),
                    Err(_) => {
                        self.places.shrink();
                        pause().await;
                        continue;
                    }
                },
            };
            match self.places.admit(address) {
                Admission::Admitted(place) => {
                    // Responses are small and complete: waiting for more to send only costs time. A socket that refuses the
                    // option still works.
                    let _ = stream.set_nodelay(true);
                    return Accepted { stream: Stream::new(stream, self.limits), address, place };
                }
                Admission::Full => {
                    self.waiting = Some((stream, address));
                    self.places.freed().await;
                }
                // Dropping the stream closes it.
                Admission::Refused => {}
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the server waits for the system to have a file descriptor again")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
}
