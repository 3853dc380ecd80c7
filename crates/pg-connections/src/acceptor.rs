//! Accepts connections and gives each a slot.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use socket2::SockRef;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::{
    ConnectionLimits, ConnectionSlot, Stream,
    places::{Admission, ConnectionSlots},
};

/// The pause after a failed accept. The pending connection stays pending and would fail again at once.
const PAUSE: Duration = Duration::from_millis(10);

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
        Self { listener, places: ConnectionSlots::new(limits), limits, waiting: None, row: 0 }
    }

    /// Returns the next connection. Cancelling the future loses no connection.
    ///
    /// A failed accept is handled internally. If the process has no file descriptors left, it closes idle connections
    /// and lowers the maximum number of connections, then continues to accept.
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
}

#[expect(clippy::disallowed_methods, reason = "the server waits for the system to have a file descriptor again")]
async fn pause() {
    tokio::time::sleep(PAUSE).await;
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
}
