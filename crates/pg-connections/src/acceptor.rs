//! Accepts connections and gives each a place.

use std::{net::IpAddr, time::Duration};

use tokio::net::{TcpListener, TcpStream};

use crate::{
    Limits, Place, Stream,
    places::{Admission, Places},
};

/// The pause after a failed accept. The pending connection stays pending and would fail again at once.
const PAUSE: Duration = Duration::from_millis(10);

/// A listener that always has room for a new connection, unless every connection is working.
#[derive(Debug)]
pub struct Acceptor {
    listener: TcpListener,
    places: Places,
    limits: Limits,
    /// Accepted, and waiting for a place: kept here so that [`Acceptor::next`] can be cancelled.
    waiting: Option<(TcpStream, IpAddr)>,
}

/// A connection with its place.
#[derive(Debug)]
pub struct Accepted {
    /// The bytes, under the time limits.
    pub stream: Stream<TcpStream>,
    /// The address of the peer; an IPv4 address mapped into IPv6 is given as the IPv4 address.
    pub address: IpAddr,
    /// Its place among the connections. Dropping it frees the place.
    pub place: Place,
}

impl Acceptor {
    /// Accepts from this listener.
    #[must_use]
    pub fn new(listener: TcpListener, limits: Limits) -> Self {
        Self { listener, places: Places::new(limits), limits, waiting: None }
    }

    /// The next connection. Cancelling the future loses no connection.
    ///
    /// A failed accept is not the caller's concern: when the process is out of file descriptors, an idle connection is closed to
    /// free one, and accepting goes on.
    pub async fn next(&mut self) -> Accepted {
        loop {
            let (stream, address) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.listener.accept().await {
                    Ok((stream, peer)) => (stream, peer.ip().to_canonical()),
                    Err(_) => {
                        self.places.close_oldest();
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
