//! No runtime and no HTTP library: blocking sockets of the standard library, HTTP/1.1 by hand, rustls for https.
//!
//! ```sh
//! cargo run -p pg-runtimes --bin std_tcp
//! ```
//!
//! Needs beside `pg-proto`: `bytes`, `http`, and `rustls` for https.

use std::{
    error::Error,
    io::{self, Read, Write},
    net::{SocketAddr, TcpStream, ToSocketAddrs},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Request, Response, StatusCode, Uri, header::CONTENT_LENGTH};
use pg_proto::machine::Failure;
use pg_runtimes::{
    driving::{drive, maybe_sent, not_sent},
    shop, tls,
};
use rustls::{ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName};

/// How long a request may take: connecting, the handshake, writing, and the whole reply.
const PATIENCE: Duration = Duration::from_secs(10);
/// More than any reply to a payment has.
const MOST_BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let tls = Arc::new(tls::config()?);
    let charged = drive(shop::charge()?, |request| send(&tls, &request));
    shop::report(&charged);
    Ok(())
}

/// Sends a request over a new connection and reads the whole reply.
///
/// Before the connection and the TLS handshake are complete, nothing of the request was sent. After the first written
/// byte, it is unknown how much of it arrives.
fn send(tls: &Arc<ClientConfig>, request: &Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let mut stream = connect(tls, request.uri()).map_err(not_sent)?;
    exchange(&mut *stream, request).map_err(maybe_sent)
}

trait Stream: Read + Write {}
impl<S: Read + Write> Stream for S {}

fn connect(tls: &Arc<ClientConfig>, uri: &Uri) -> Result<Box<dyn Stream>, Box<dyn Error>> {
    let host = uri.host().ok_or("the address has no host")?.trim_matches(['[', ']']);
    let https = uri.scheme_str() == Some("https");
    let addresses = (host, uri.port_u16().unwrap_or(if https { 443 } else { 80 })).to_socket_addrs()?;
    let mut socket = Timed::connect(&addresses.collect::<Vec<_>>())?;
    if !https {
        return Ok(Box::new(socket));
    }
    let mut session = ClientConnection::new(Arc::clone(tls), ServerName::try_from(host.to_owned())?)?;
    // Completes the handshake here: during the first write, a refused certificate would look like a broken connection.
    session.complete_io(&mut socket)?;
    Ok(Box::new(StreamOwned::new(session, socket)))
}

/// A connection with one deadline. The timeout of a socket limits one read or write, so it is the remaining time.
struct Timed {
    socket: TcpStream,
    end: Instant,
}

#[expect(clippy::disallowed_methods, reason = "the transport has the deadline, so that machines need none")]
impl Timed {
    /// Connects to the first address that answers: a host may have one that this machine cannot reach.
    fn connect(addresses: &[SocketAddr]) -> io::Result<Self> {
        let end = Instant::now() + PATIENCE;
        let mut failed = io::ErrorKind::AddrNotAvailable.into();
        for address in addresses {
            match TcpStream::connect_timeout(address, PATIENCE / u32::try_from(addresses.len()).unwrap_or(u32::MAX)) {
                Ok(socket) => return Ok(Self { socket, end }),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn remaining(&self) -> io::Result<Option<Duration>> {
        let remaining = self.end.saturating_duration_since(Instant::now());
        if remaining.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(remaining)) }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.remaining()?)?;
        self.socket.read(buffer)
    }
}

impl Write for Timed {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.remaining()?)?;
        self.socket.write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}

/// Writes the request, and reads until the reply is complete: the other side may keep the connection, or cut it without
/// the end of TLS.
fn exchange(stream: &mut dyn Stream, request: &Request<Bytes>) -> io::Result<Response<Bytes>> {
    stream.write_all(&written(request))?;
    stream.flush()?;
    let (mut reply, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        let count = stream.read(&mut piece)?;
        reply.extend(&piece[..count]);
        if let Some(complete) = read(&reply) {
            return Ok(complete);
        }
        if count == 0 || reply.len() > MOST_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "what came is no whole reply"));
        }
    }
}

/// A request as it is sent on the wire.
fn written(request: &Request<Bytes>) -> Vec<u8> {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let host = request.uri().authority().map_or("", |authority| authority.as_str());
    let mut wire =
        format!("{} {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n", request.method()).into_bytes();
    for (name, value) in request.headers() {
        wire.extend([name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"].concat());
    }
    wire.extend(format!("content-length: {}\r\n\r\n", request.body().len()).into_bytes());
    wire.extend(request.body());
    wire
}

/// Parses a complete reply. A chunked reply is not supported.
fn read(wire: &[u8]) -> Option<Response<Bytes>> {
    let end = wire.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (str::from_utf8(&wire[..end]).ok()?, &wire[end + 4..]);
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?;
    let mut response = Response::builder().status(StatusCode::from_bytes(status.as_bytes()).ok()?);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        response = response.header(name, value.trim());
    }
    let response = response.body(Bytes::copy_from_slice(body)).ok()?;
    let announced: usize = response.headers().get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()?;
    (announced == body.len()).then_some(response)
}
