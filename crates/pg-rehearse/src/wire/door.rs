//! Accepts connections: plain, over TLS with a certificate, or not at all.

use std::sync::Arc;

use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
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

/// Accepts connections until the listener is dropped.
pub(super) async fn listen(wire: Arc<Wire>, listener: TcpListener, door: Door) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
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
