//! Accepts connections: plain, over TLS with a certificate, or not at all.

use std::{io, net::SocketAddr, sync::Arc};

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
};
use tokio_rustls::{TlsAcceptor, rustls::ServerConfig};

use super::{Wire, serve};
use crate::finding::Lane;

/// How clients connect to the service.
#[derive(Clone)]
pub(crate) enum Door {
    /// HTTP.
    Plain,
    /// HTTP; this number of connections is closed immediately.
    Closing(u32),
    /// Nothing listens.
    Refused,
    /// TLS.
    Tls(Arc<ServerConfig>),
    /// An `https` URL whose server uses plain HTTP.
    PlainForTls,
}

impl Door {
    pub(super) const fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_) | Self::PlainForTls)
    }
}

/// Whether the service can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Up,
    /// It is to refuse connections.
    Falling,
    Down,
    /// It is to accept connections again.
    Rising,
}

/// Takes the service down, and up again.
pub(super) struct Reach {
    state: watch::Sender<State>,
    /// Whether its address belongs to a shop, and is held: connections are closed then, and not refused.
    is_held: bool,
}

impl Reach {
    pub(super) fn new(is_held: bool) -> Self {
        Self { state: watch::Sender::new(State::Up), is_held }
    }

    pub(super) fn is_down(&self) -> bool {
        *self.state.borrow() == State::Down
    }

    /// Takes the service down, and returns when it accepts no connection.
    pub(super) async fn fall(&self) {
        self.state.send_replace(if self.is_held { State::Down } else { State::Falling });
        self.until(|state| state == State::Down).await;
    }

    /// Ends an outage.
    pub(super) fn rise(&self) {
        if self.is_down() {
            self.state.send_replace(if self.is_held { State::Up } else { State::Rising });
        }
    }

    /// Returns when an outage that is to end has ended.
    pub(super) async fn risen(&self) {
        self.until(|state| state != State::Rising).await;
    }

    async fn until(&self, is_reached: impl Fn(State) -> bool) {
        // The sender lives as long as `self`.
        drop(self.state.subscribe().wait_for(|state| is_reached(*state)).await);
    }

    /// Refuses connections until the outage ends. The port is kept: no other drill gets it as a free one.
    async fn refuse(&self, listener: TcpListener) -> io::Result<TcpListener> {
        let address = listener.local_addr();
        drop(listener);
        let kept = address.and_then(bound);
        self.state.send_replace(State::Down);
        self.until(|state| state == State::Rising).await;
        let again = kept.and_then(|socket| socket.listen(BACKLOG));
        self.state.send_replace(State::Up);
        again
    }
}

/// The number of connections that may wait.
const BACKLOG: u32 = 1024;

fn bound(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    Ok(socket)
}

/// Accepts connections until the task is ended.
pub(super) async fn listen(wire: Arc<Wire>, mut listener: TcpListener, door: Door) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = wire.reach.until(|state| state == State::Falling) => {
                match wire.reach.refuse(listener).await {
                    Ok(again) => listener = again,
                    Err(error) => return wire.note(Lane::Wire, Lane::Wire, format!("the service stays down: {error}")),
                }
                continue;
            }
        };
        let Ok((stream, _)) = accepted else { continue };
        while connections.try_join_next().is_some() {}
        let number = {
            let mut state = wire.state();
            state.connections += 1;
            state.connections
        };
        let (wire, door) = (Arc::clone(&wire), door.clone());
        connections.spawn(async move { take(wire, stream, door, number).await });
    }
}

async fn take(wire: Arc<Wire>, mut stream: TcpStream, door: Door, number: u32) {
    match door {
        _ if wire.reach.is_down() => wire.note(Lane::Integration, Lane::Wire, "the service is down: connection closed"),
        Door::Closing(first) if number <= first => {
            wire.note(Lane::Integration, Lane::Wire, "connection accepted, and closed at once");
        }
        Door::Plain | Door::Closing(_) | Door::Refused => answer(wire, stream).await,
        Door::Tls(config) => {
            let is_tls = begins_tls(&wire, &stream).await;
            match TlsAcceptor::from(config).accept(stream).await {
                Ok(stream) => answer(wire, stream).await,
                Err(_) if is_tls => {
                    wire.note(Lane::Integration, Lane::Wire, "the integration refused the certificate");
                }
                Err(_) => wire.note(Lane::Integration, Lane::Wire, "the integration began no TLS handshake"),
            }
        }
        Door::PlainForTls => {
            if begins_tls(&wire, &stream).await {
                wire.note(Lane::Wire, Lane::Integration, "the TLS handshake is answered in plain HTTP");
                // The caller's claim is judged, not the state of the connection.
                drop(
                    stream
                        .write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                        .await,
                );
            } else {
                wire.note(Lane::Integration, Lane::Wire, "the integration speaks plain HTTP");
                answer(wire, stream).await;
            }
        }
    }
}

/// Whether a connection begins with a TLS handshake, which is noted.
async fn begins_tls(wire: &Wire, stream: &TcpStream) -> bool {
    let mut first = [0];
    let is_tls = matches!(stream.peek(&mut first).await, Ok(1)) && first[0] == 22;
    wire.state().began_tls |= is_tls;
    is_tls
}

async fn answer<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(wire: Arc<Wire>, stream: S) {
    let service = service_fn(move |request| serve::answer(Arc::clone(&wire), request));
    // A closed connection ends with an error, as intended.
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
}
